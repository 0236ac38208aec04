/** What one pass knows of a cluster's certificates, and the access to its members that they give. */
import { securityOf } from '../api/tls.ts';
import type { EtcdCluster } from '../api/types.ts';
import type { KubeClient } from '../kube/port.ts';
import type { TlsFacts } from '../planner/observation.ts';
import { certificateFacts } from './tls-facts.ts';
import { type ClientAccess, clientAccess, readTlsSecrets } from './tls-secrets.ts';

/** Undefined for a cluster in plain text. `now` is in milliseconds since the epoch. */
export async function observeTls(
  kube: KubeClient,
  cluster: EtcdCluster,
  now: number,
): Promise<{ readonly facts: TlsFacts; readonly access: ClientAccess } | undefined> {
  if (securityOf(cluster) === undefined) return undefined;
  const secrets = await readTlsSecrets(kube, cluster);
  const certificates = certificateFacts(cluster, secrets, now);
  return { facts: { certificates, toIssue: [], taken: [] }, access: clientAccess(secrets) };
}
