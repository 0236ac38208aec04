/** What the certificates of a cluster allow to be done. Pure. */
import { type ConditionFinding, finding, type ReasonOf } from '../api/conditions.ts';
import { securityOf, securitySwitch } from '../api/tls.ts';
import type { EtcdClusterStatus } from '../api/types.ts';
import { blocked, operate } from './answers.ts';
import { type Check, type Obstacle, specificationIsUsable } from './checks.ts';
import type { Decision, Step } from './decision.ts';
import type { CertificateFacts, Observation } from './observation.ts';

type Reason = ReasonOf<'TLSReady'>;

/** A fault of one certificate, as the condition TLSReady tells it. */
interface Complaint {
  readonly reason: Reason;
  readonly message: string;
}

/** No cluster, no further member and no changed pod is made with which the others, or clients, could not talk. */
export const certificatesAreGood: Check = ({ tls, cluster }) => {
  const [complaint] = (tls?.certificates ?? []).flatMap(entry => complaintsAbout(entry, cluster.namespace));
  return complaint;
};

/** The members of a living cluster know each other by URLs; none is made that would not understand the others. */
export const securityIsUnchanged: Check = ({ cluster }) => {
  const message = securitySwitch(cluster.object);
  return message === undefined ? undefined : { reason: 'ModeSwitched', message };
};

/** Certificates of TLS.auto that are missing, faulty or due are made before anything else is. */
export function planCertificates(observation: Observation): Decision | undefined {
  const { tls, cluster } = observation;
  if (tls === undefined || securitySwitch(cluster.object) !== undefined) return undefined;
  const secrets = tls.toIssue.map(({ secret }) => secret);
  if (secrets.length === 0 || specificationIsUsable(observation) !== undefined) return undefined;
  const step: Step = { kind: 'issueCertificates', secrets };
  const [complaint] = takenNames(observation);
  if (complaint !== undefined) return blocked(complaint, [step]);
  return operate(cluster.status.clusterID === undefined ? 'createCluster' : 'repairCluster', [step]);
}

/** Nothing is done to a living cluster whose specification asks for another way of TLS than it has. */
export function planSecurity(observation: Observation): Decision | undefined {
  const obstacle: Obstacle | undefined = securityIsUnchanged(observation);
  return obstacle && blocked(obstacle);
}

/** The condition TLSReady; none for a cluster in plain text. All complaints are told, the reason is the first one's. */
export function tlsCondition(observation: Observation): ConditionFinding[] {
  const { tls, cluster } = observation;
  const switched = securitySwitch(cluster.object);
  if (switched !== undefined) return [finding('TLSReady', 'ModeSwitched', switched)];
  if (tls === undefined) return [];
  const lost = [...takenNames(observation), ...lostAuthorities(observation)];
  const coming = tls.toIssue.map(({ secret }) => secret);
  const faulty = tls.certificates.flatMap(entry =>
    complaintsAbout(entry, cluster.namespace).map(complaint => ({ ...complaint, secret: entry.secret })),
  );
  if (lost.length === 0 && faulty.length > 0 && faulty.every(({ secret }) => coming.includes(secret))) {
    const each = tls.toIssue.map(({ secret, why }) => `${secret} (${why})`);
    return [finding('TLSReady', 'Issuing', `certificates are about to be issued: ${each.join(', ')}`)];
  }
  const complaints: readonly Complaint[] = [...lost, ...faulty];
  const [first] = complaints;
  if (first !== undefined) {
    return [finding('TLSReady', first.reason, complaints.map(({ message }) => message).join('; '))];
  }
  const near = tls.certificates.filter(entry => entry.expiresSoon);
  if (near.length > 0) {
    const each = near.map(entry => `the certificate in Secret ${entry.secret} expires on ${entry.notAfter}`);
    return [finding('TLSReady', 'ExpiresSoon', each.join('; '))];
  }
  return [finding('TLSReady', 'Ready', expiries(tls.certificates))];
}

/** `status.tls`: the way that was decided once, with the certificates as they are now. */
export function tlsStatus({ cluster, tls }: Observation): EtcdClusterStatus['tls'] {
  const { status } = cluster;
  const decided = status.incarnation === undefined ? securityOf(cluster.object) : status.tls;
  if (decided === undefined) return undefined;
  const { mode, peer, client } = decided;
  // While nothing is known of them the last known ones stay: their keys are what the pods mount.
  if (tls === undefined) return status.tls;
  const certificates = tls.certificates.map(({ role, secret, keys, notAfter }) => ({
    role,
    secret,
    keys,
    ...(notAfter === undefined ? {} : { notAfter }),
  }));
  return { mode, peer, client, certificates };
}

function takenNames({ tls, cluster }: Observation): Complaint[] {
  return (tls?.taken ?? []).map(secret => ({
    reason: 'NameTaken',
    message: `Secret ${secret} in namespace ${cluster.namespace} belongs to something else, and the operator needs its name: remove it or give the cluster another name`,
  }));
}

function lostAuthorities({ tls }: Observation): Complaint[] {
  return (tls?.authoritiesLost ?? []).map(secret => ({
    reason: 'AuthorityLost',
    message: `Secret ${secret}, the authority of this cluster's certificates, is gone or cannot be used: nothing can be renewed with it; put it back from a backup`,
  }));
}

function complaintsAbout(entry: CertificateFacts, namespace: string): Complaint[] {
  const { role, secret, exists, missing, faults } = entry;
  const where = `Secret ${secret}`;
  if (!exists) {
    const message = `${where} in namespace ${namespace}, which holds the ${ROLES[role]}, does not exist: create it`;
    return [{ reason: 'SecretMissing', message }];
  }
  if (missing.length > 0) {
    const message = `${where} lacks ${missing.join(', ')}: add ${missing.length === 1 ? 'this key' : 'these keys'} for the ${ROLES[role]}`;
    return [{ reason: 'KeyMissing', message }];
  }
  return faults.map(({ key, kind, detail }) => ({
    reason: kind,
    message: `${key} of ${where} (${ROLES[role]}): ${detail}`,
  }));
}

const ROLES = {
  peer: 'certificate of the members among themselves',
  server: 'certificate that clients see',
  operator: 'certificate of the operator as a client',
} as const;

function expiries(certificates: readonly CertificateFacts[]): string {
  const each = certificates.map(({ role, secret, notAfter }) => `${role} (${secret}) until ${notAfter}`);
  return `certificates are good: ${each.join(', ')}`;
}
