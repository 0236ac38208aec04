/** What one pass knows of a cluster's certificates, and the access to its members that they give. */
import { securityOf } from '../api/tls.ts';
import type { EtcdCluster } from '../api/types.ts';
import type { KubeClient } from '../kube/port.ts';
import type { TlsFacts } from '../planner/observation.ts';
import { requestFacts } from './cert-manager.ts';
import { certificateFacts } from './tls-facts.ts';
import { issuingFacts } from './tls-issuing.ts';
import { type ClientAccess, clientAccess, readTlsSecrets } from './tls-secrets.ts';

/** Certificates that others make are others' to renew. */
const NOTHING_TO_ISSUE = { toIssue: [], taken: [], authoritiesLost: [] } as const;

/** Undefined for a cluster in plain text. `now` is in milliseconds since the epoch. */
export async function observeTls(
  kube: KubeClient,
  cluster: EtcdCluster,
  now: number,
): Promise<{ readonly facts: TlsFacts; readonly access: ClientAccess } | undefined> {
  const security = securityOf(cluster);
  if (security === undefined) return undefined;
  const secrets = await readTlsSecrets(kube, cluster);
  const certificates = certificateFacts(cluster, secrets, now);
  const issuing =
    security.mode === 'auto'
      ? await issuingFacts(kube, cluster, { known: certificates, now })
      : NOTHING_TO_ISSUE;
  const asked = security.mode === 'certManager' ? await requestFacts(kube, cluster) : undefined;
  const facts = { certificates, ...issuing, ...asked };
  return { facts, access: clientAccess(secrets) };
}
