/** What one pass knows of a cluster's certificates, and the access to its members that they give. */
import { securityOf } from '../../api/derived/tls.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { TlsFacts } from '../../planner/model/tls-facts.ts';
import { requestFacts } from './cert-manager.ts';
import { certificateFacts } from './certificate-facts.ts';
import { type Issuing, issuingFacts } from './certificates-to-issue.ts';
import { type ClientAccess, clientAccess, readTlsSecrets } from './certificate-secrets.ts';

/** Certificates that others make are others' to renew. */
const NOTHING_TO_ISSUE = { toIssue: [], taken: [], authoritiesLost: [] } as const;

/** A certificate says from when to when it is valid: two clocks that differ by more would not agree on that. */
const CLOCKS_DIFFER_MS = 3_600_000;

export interface Moment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** By how many milliseconds the clock of this machine is ahead of that. */
  readonly clockAheadMs: number;
}

/** Undefined for a cluster in plain text. */
export async function observeTls(
  kube: KubeClient,
  cluster: EtcdCluster,
  { now, clockAheadMs }: Moment,
): Promise<{ readonly facts: TlsFacts; readonly access: ClientAccess } | undefined> {
  const security = securityOf(cluster);
  if (security === undefined) return undefined;
  const secrets = await readTlsSecrets(kube, cluster);
  const certificates = certificateFacts(cluster, secrets, now);
  const issuing =
    security.mode === 'auto'
      ? byTwoClocks(await issuingFacts(kube, cluster, { known: certificates, now }), clockAheadMs)
      : NOTHING_TO_ISSUE;
  const asked = security.mode === 'certManager' ? await requestFacts(kube, cluster) : undefined;
  const facts = { certificates, ...issuing, ...asked };
  return { facts, access: clientAccess(secrets) };
}

/** Nothing is issued, and no authority counts as ended, by a time that is in doubt. */
function byTwoClocks(issuing: Issuing, clockAheadMs: number): Issuing & Pick<TlsFacts, 'clockAheadMs'> {
  const { toIssue, taken, authoritiesLost, authoritiesEnding = [] } = issuing;
  const isDue = toIssue.length + authoritiesLost.length + authoritiesEnding.length > 0;
  if (!isDue || Math.abs(clockAheadMs) <= CLOCKS_DIFFER_MS) return issuing;
  return { toIssue: [], taken, authoritiesLost: [], clockAheadMs };
}
