/** What the certificates of a cluster allow to be done. Pure. */
import { type ConditionFinding, finding } from '../../../api/conditions/catalogue.ts';
import { securityOf, securitySwitch } from '../../../api/derived/tls.ts';
import type { EtcdClusterStatus } from '../../../api/schemas/types.ts';
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { authoritiesToBring, mayBeIssued, membersRun } from '../../checks/authorities.ts';
import {
  type Complaint,
  complaintsAbout,
  authorityComplaints,
  lostAuthorities,
  securityIsUnchanged,
} from '../../checks/certificates.ts';
import { specificationIsUsable } from '../../checks/obstacles.ts';
import { isWaking } from '../../model/hibernation.ts';
import { certificateCoversNextMember } from '../../checks/certificate-coverage.ts';
import type { CertificateFacts, TlsFacts } from '../../model/tls-facts.ts';
import type { Situation } from '../../model/situation.ts';

/** Certificates that are missing, faulty or due are made, or asked for, before anything else is. */
export function planCertificates(situation: Situation): Decision | undefined {
  const { tls, cluster } = situation;
  if (tls === undefined || securitySwitch(cluster.object) !== undefined) return undefined;
  const isFormed = cluster.status.clusterID !== undefined;
  const [doubt] = clocksDiffer(tls);
  if (doubt !== undefined && !isFormed) return blocked(doubt);
  const step = nextRequest(situation);
  if (step === undefined || specificationIsUsable(situation) !== undefined) return undefined;
  const [complaint] = takenNames(situation);
  if (complaint !== undefined) return isFormed ? undefined : blocked(complaint, [step]);
  if (!isFormed) return operate('createCluster', [step]);
  // Members that are woken need it: nothing passes it over when it fails.
  return operate(isForWaking(situation) ? 'wakeCluster' : 'repairCluster', [step]);
}

/** Whether a new authority is to be made for members that are about to be woken. */
function isForWaking({ cluster, tls }: Situation): boolean {
  const isAnew = tls?.toIssue.some(({ authority }) => authority === undefined) === true;
  return isAnew && isWaking({ ...cluster.object, status: cluster.status });
}

/** A living cluster whose certificates cannot be renewed is looked after all the same: what is wrong is said when nothing is to be done. */
export function planHeldCertificates(situation: Situation): Decision | undefined {
  const [doubt] = clocksDiffer(situation.tls);
  if (doubt !== undefined) return blocked(doubt);
  const step = nextRequest(situation);
  const [taken] = step === undefined ? [] : takenNames(situation);
  if (step !== undefined && taken !== undefined) return blocked(taken, [step]);
  const [held] = [...authorityComplaints(situation), ...otherIssuer(situation)];
  return held && blocked(held);
}

function nextRequest(situation: Situation): Step | undefined {
  const { toIssue = [], requests } = situation.tls ?? {};
  const issued = toIssue.filter(entry => mayBeIssued(situation, entry));
  if (issued.length > 0) return { kind: 'issueCertificates', secrets: issued.map(({ secret }) => secret) };
  if (requests?.served !== true || requests.toRequest.length === 0) return undefined;
  if (otherIssuer(situation).length > 0) return undefined;
  return {
    kind: 'requestCertificates',
    certificates: requests.toRequest.map(({ certificate }) => certificate),
  };
}

/** Nothing is done to a living cluster whose specification asks for another way of TLS than it has. */
export function planSecurity(situation: Situation): Decision | undefined {
  const obstacle: Obstacle | undefined = securityIsUnchanged(situation);
  return obstacle && blocked(obstacle);
}

/** The condition TLSReady; none for a cluster in plain text. All complaints are reported, the reason is the first one's. */
export function tlsCondition(situation: Situation): ConditionFinding[] {
  const { tls, cluster } = situation;
  const switched = securitySwitch(cluster.object);
  if (switched !== undefined) return [finding('TLSReady', 'ModeSwitched', switched)];
  if (tls === undefined) return [];
  const lost = [
    ...clocksDiffer(tls),
    ...takenNames(situation),
    ...lostAuthorities(situation),
    ...lostCertManager(tls),
  ];
  const untrusted = authorityComplaints(situation);
  const issued = tls.toIssue.filter(entry => mayBeIssued(situation, entry));
  const coming = issued.map(({ secret }) => secret);
  const faulty = tls.certificates.flatMap(entry =>
    complaintsAbout(entry, { namespace: cluster.namespace, tls }).map(complaint => ({
      ...complaint,
      secret: entry.secret,
    })),
  );
  if (
    lost.length + untrusted.length === 0 &&
    faulty.length > 0 &&
    faulty.every(({ secret }) => coming.includes(secret))
  ) {
    const each = issued.map(({ secret, why }) => `${secret} (${why})`);
    return [finding('TLSReady', 'Issuing', `certificates are being issued: ${each.join(', ')}`)];
  }
  const complaints: readonly Complaint[] = [...lost, ...faulty, ...untrusted];
  const [first] = complaints;
  if (first !== undefined) {
    const messages = new Set(complaints.map(({ message }) => message));
    return [finding('TLSReady', first.reason, [...messages].join('; '))];
  }
  const [other] = otherIssuer(situation);
  if (other !== undefined) return [finding('TLSReady', other.reason, other.message)];
  const [bringing] = authoritiesToBring(situation);
  if (bringing !== undefined) return [finding('TLSReady', 'AuthorityRollingOut', bringing)];
  const near = endings(tls);
  if (near.length > 0) return [finding('TLSReady', 'ExpiresSoon', near.join('; '))];
  const next = cluster.status.clusterID === undefined ? undefined : certificateCoversNextMember(situation);
  const otherFault = next && `no member can be replaced: ${next.message}`;
  if (otherFault !== undefined) return [finding('TLSReady', 'NextNamesMissing', otherFault)];
  const shared = sharedIssuer(situation);
  if (shared !== undefined)
    return [finding('TLSReady', 'SharedIssuer', `${shared}; ${expiries(tls.certificates)}`)];
  return [finding('TLSReady', 'Ready', expiries(tls.certificates))];
}

/** etcd trusts whatever its authority signs, and takes the common name for the name of a user (etcd's guide to RBAC). */
function sharedIssuer({ cluster }: Situation): string | undefined {
  const issuer = cluster.object.spec.TLS?.certManager?.issuerRef;
  if (issuer?.kind !== 'ClusterIssuer') return undefined;
  return `ClusterIssuer ${issuer.name} also signs for other namespaces: any certificate that it issues gives access to this etcd, and with authentication a certificate with the common name root is the superuser; use an Issuer that serves only this cluster`;
}

function endings({ certificates, authoritiesEnding = [] }: TlsFacts): string[] {
  const near = certificates.filter(entry => entry.expiresSoon);
  return [
    ...near.map(({ secret, notAfter }) => `the certificate in Secret ${secret} expires on ${notAfter}`),
    ...authoritiesEnding.map(
      ({ secret, notAfter }) =>
        `the authority in Secret ${secret} expires on ${notAfter}, and running members cannot change to a new one: before that date, create a new cluster and restore a backup into it`,
    ),
  ];
}

/** `status.tls`: the way that was decided once, with the certificates as they are now. */
export function tlsStatus({ cluster, tls }: Situation): EtcdClusterStatus['tls'] {
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

function takenNames({ tls, cluster }: Situation): Complaint[] {
  return (tls?.taken ?? []).map(secret => ({
    reason: 'NameTaken',
    message: `${secret} in namespace ${cluster.namespace} is not owned by this EtcdCluster, and the operator needs its name: delete it or give the cluster another name`,
  }));
}

/** Which of the two clocks is right cannot be known from here. */
function clocksDiffer(tls: TlsFacts | undefined): Complaint[] {
  const { clockAheadMs } = tls ?? {};
  if (clockAheadMs === undefined) return [];
  const minutes = Math.round(Math.abs(clockAheadMs) / 60_000);
  const way = clockAheadMs > 0 ? 'ahead of' : 'behind';
  const message = `certificates are due, but the clock of the operator's node is ${minutes} minutes ${way} the clock of the API server: nothing is issued or renewed until they agree; correct the wrong clock`;
  return [{ reason: 'ClocksDiffer', message }];
}

/** Another issuer is another authority, unless somebody says otherwise, and cert-manager exchanges it at once. */
function otherIssuer(situation: Situation): Complaint[] {
  const requests = situation.tls?.requests;
  const changed = requests?.served === true ? requests.toRequest.filter(each => each.otherIssuer) : [];
  if (changed.length === 0 || !membersRun(situation)) return [];
  const names = changed.map(({ certificate }) => certificate).join(', ');
  const message = `spec.TLS.certManager.issuerRef has changed, and the new issuer is not used while members run, because they would not trust its authority: set spec.hibernated to true, and to false when TLSReady is True; or, if both issuers have the same authority, change spec.issuerRef of the Certificates ${names} yourself; or name the previous issuer again`;
  return [{ reason: 'IssuerChanged', message }];
}

function lostCertManager({ requests }: TlsFacts): Complaint[] {
  if (requests?.served !== false) return [];
  const message =
    'spec.TLS.certManager needs cert-manager, but this Kubernetes cluster does not serve cert-manager.io/v1: install cert-manager; until then no certificate is issued or renewed';
  return [{ reason: 'CertManagerMissing', message }];
}

function expiries(certificates: readonly CertificateFacts[]): string {
  const each = certificates.map(({ role, secret, notAfter }) => `${role} (${secret}) until ${notAfter}`);
  return `certificates are valid: ${each.join(', ')}`;
}
