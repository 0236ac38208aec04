/** Whether the certificates are such that members, and clients, understand each other. */
import type { ReasonOf } from '../../api/conditions/catalogue.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import { securitySwitch } from '../../api/derived/tls.ts';
import type { CertificateFacts, TlsFacts } from '../model/tls-facts.ts';
import type { Situation } from '../model/situation.ts';
import { exchangedAuthorities, untrustedByMembers } from './authorities.ts';
import type { Check } from './obstacles.ts';

/** A fault of one certificate, as the condition TLSReady says it. */
export interface Complaint {
  readonly reason: ObstacleReason & ReasonOf<'TLSReady'>;
  readonly message: string;
}

/** No cluster, no further member and no changed pod is made with which the others, or clients, could not talk. */
export const certificatesAreGood: Check = situation => {
  const { tls, cluster } = situation;
  const { namespace } = cluster;
  const complaints =
    tls === undefined ? [] : tls.certificates.flatMap(entry => complaintsAbout(entry, { namespace, tls }));
  const [first] = [...complaints, ...authorityComplaints(situation)];
  return first;
};

/** The members of a living cluster know each other by URLs; none is made that would not understand the others. */
export const securityIsUnchanged: Check = ({ cluster }) => {
  const message = securitySwitch(cluster.object);
  return message === undefined ? undefined : { reason: 'ModeSwitched', message };
};

/** Authorities of TLS.auto that are gone, with both ways on. */
export function lostAuthorities({ tls }: Pick<Situation, 'tls'>): Complaint[] {
  const lost = tls?.authoritiesLost ?? [];
  if (lost.length === 0) return [];
  const which =
    lost.length === 1
      ? `Secret ${lost[0]}, the authority of this cluster's certificates, is gone or cannot be used, so no certificate can be renewed: restore the Secret`
      : `Secrets ${lost.join(' and ')}, the authorities of this cluster's certificates, are gone or cannot be used, so no certificate can be renewed: restore the Secrets`;
  const message = `${which} from a copy, or, with an outage while all members restart, set spec.hibernated to true and, once no pod is left, to false: the operator then issues new authorities and certificates, the data stays on the volumes, and clients need the new ca.crt`;
  return [{ reason: 'AuthorityLost', message }];
}

/** What members do not trust, or would not. */
export function authorityComplaints(situation: Situation): Complaint[] {
  const messages = [...untrustedByMembers(situation), ...exchangedAuthorities(situation)];
  return messages.map(message => ({ reason: 'AuthorityExchanged', message }));
}

/** What speaks against one certificate. */
export function complaintsAbout(
  entry: CertificateFacts,
  { namespace, tls }: { readonly namespace: string; readonly tls: TlsFacts },
): Complaint[] {
  const { requests, authoritiesLost } = tls;
  const { role, secret, exists, missing, faults } = entry;
  const where = `Secret ${secret}`;
  if (requests !== undefined && (!exists || missing.length > 0)) {
    const answer = requests.served ? requests.pending[secret] : 'it is not installed';
    // Issuers that do not know their authority (ACME, Venafi) leave ca.crt out.
    if (exists && requests.served && answer === undefined) {
      const message = `cert-manager has issued ${where}, the ${ROLES[role]}, without ${missing.join(', ')}: set spec.TLS.certManager to an issuer that returns its CA certificate, such as a CA or Vault issuer`;
      return [{ reason: 'KeyMissing', message }];
    }
    const message = `cert-manager has not issued ${where}, the ${ROLES[role]}: ${answer ?? 'it gives no reason'}`;
    return [{ reason: requests.served ? 'Issuing' : 'CertManagerMissing', message }];
  }
  // Nobody is to create what the operator issues.
  if (!exists && authoritiesLost.length > 0) return lostAuthorities({ tls });
  if (!exists) {
    const message = `${where} in namespace ${namespace}, which must contain the ${ROLES[role]}, does not exist: create it`;
    return [{ reason: 'SecretMissing', message }];
  }
  if (missing.length > 0) {
    const message = `${where}, the ${ROLES[role]}, has no ${missing.join(', ')}: add ${missing.length === 1 ? 'this key' : 'these keys'}`;
    return [{ reason: 'KeyMissing', message }];
  }
  return faults.map(({ key, kind, detail }) => ({
    reason: kind,
    message: `${key} of ${where} (${ROLES[role]}): ${detail}`,
  }));
}

const ROLES = {
  peer: 'peer certificate of the members',
  server: 'server certificate of the members',
  operator: 'client certificate of the operator',
} as const;
