/**
 * The authorities of a living cluster: etcd reads them when it starts, and certificates at each handshake. So a new authority is first
 * brought to every member, one after the other, and signs only then (docs/operations/tls.md, "Another authority"). Pure.
 */
import { secretKeys, securityOf } from '../../api/derived/tls.ts';
import { TRUSTING_ROLES, type TrustingRole, trustsOneOf } from '../../objects/trusted.ts';
import { hasEnded } from '../model/member-names.ts';
import type { Observation, PodFacts } from '../model/observation.ts';
import type { CertificateFacts, CertificateToIssue } from '../model/tls-facts.ts';

/** Certificates that members verify with the authorities of which role. Whom else they verify is not known here. */
const VERIFIED = [
  ['peer', 'peer'],
  ['operator', 'server'],
] as const;

const WAKE =
  'or set spec.hibernated to true, wait until TLSReady reports no other fault, and set it to false: all members then start with the current Secrets';

/** Certificates in use that members are known not to trust, each as a sentence. */
export function untrustedByMembers(observation: Observation): string[] {
  const { tls, cluster } = observation;
  return VERIFIED.flatMap(([role, verifier]) => {
    const shown = certificateOf(observation, role);
    const { signers = [], secret } = shown ?? {};
    const strangers = signers.length === 0 ? [] : thoseWithout(observation, verifier, signers);
    if (strangers.length === 0) return [];
    const undo =
      securityOf(cluster.object)?.mode === 'static'
        ? `restore the previous certificate and key, and keep the previous and the new authorities in ${bundleOf(observation, verifier)} until all members have been restarted`
        : 'issue it from the previous authority again';
    return [
      `the certificate in Secret ${secret} is signed by an authority that ${strangers.join(', ')} did not load at startup, so new connections to them fail: ${undo}; ${tls?.requests === undefined ? WAKE : `${WAKE} (cert-manager writes only one authority into ca.crt)`}`,
    ];
  });
}

/** Which authorities a member's pod is to read again, each in words; none of a pod of which it is not known what it has read. */
export function authorityChanges(observation: Observation, pod: PodFacts): string[] {
  return TRUSTING_ROLES.flatMap(role => {
    const now = certificateOf(observation, role)?.authorities;
    const then = pod.authorities?.[role];
    if (now === undefined || then === undefined) return [];
    const where = bundleOf(observation, role);
    const added = now.some(each => !then.includes(each)) ? [`authority added to ${where}`] : [];
    return then.some(each => !now.includes(each)) ? [...added, `authority removed from ${where}`] : added;
  });
}

/** What is reported while authorities are brought to the members. */
export function authoritiesToBring(observation: Observation): string[] {
  const behind = running(observation).filter(pod => authorityChanges(observation, pod).length > 0);
  const [first] = behind;
  if (first === undefined) return [];
  const names = behind.map(({ name }) => name).join(', ');
  const [change] = authorityChanges(observation, first);
  return [
    `${change}: ${names} load it when they are restarted, one at a time; until then, sign nothing with a new authority and do not remove the previous one`,
  ];
}

/** Whether something may be signed with this authority: no member is known that would not trust it. */
export function mayBeIssued(observation: Observation, { authority }: CertificateToIssue): boolean {
  if (authority === undefined || authority.fingerprints.length === 0) return true;
  return thoseWithout(observation, authority.role, authority.fingerprints).length === 0;
}

/** Authorities of TLS.auto that somebody put in the place of those that members trust. */
export function exchangedAuthorities(observation: Observation): string[] {
  const held = (observation.tls?.toIssue ?? []).flatMap(entry =>
    entry.authority === undefined || mayBeIssued(observation, entry) ? [] : [entry.authority.secret],
  );
  const secrets = new Set(held);
  return [...secrets].map(
    secret =>
      `Secret ${secret} contains a different authority from the one that the members trust, so nothing is signed with it: restore the previous one from a backup, ${WAKE}`,
  );
}

/** Whether a pod of the cluster runs, which has read its authorities. */
export function membersRun(observation: Observation): boolean {
  return running(observation).length > 0;
}

function running({ pods }: Observation): PodFacts[] {
  return pods.filter(pod => pod.owned && !hasEnded(pod));
}

/** Names of running members that are known to trust none of these. */
function thoseWithout(
  observation: Observation,
  role: TrustingRole,
  authorities: readonly string[],
): readonly string[] {
  const unknowing = running(observation).filter(pod => {
    const trusted = pod.authorities?.[role];
    return trusted !== undefined && !trustsOneOf(trusted, authorities);
  });
  return unknowing.map(({ name }) => name);
}

function certificateOf({ tls }: Observation, role: CertificateFacts['role']): CertificateFacts | undefined {
  return tls?.certificates.find(entry => entry.role === role);
}

function bundleOf(observation: Observation, role: TrustingRole): string {
  const entry = certificateOf(observation, role);
  return entry === undefined
    ? /* v8 ignore next -- what verifies has a Secret */ 'ca.crt'
    : `${secretKeys(role, entry.keys).ca} of Secret ${entry.secret}`;
}
