/** Which installation of the operator this is. Of two that share a task queue of Temporal each takes the other's tasks. */
import { createHash } from 'node:crypto';
import { serviceAccountUid } from '../../kube/service-account.ts';
import type { Config } from '../config/config.ts';

/**
 * Twelve hexadecimal digits, equal for all replicas of one ServiceAccount and different for all others, also those of the same name in another
 * Kubernetes cluster. Undefined outside of a pod, and when the token does not show it.
 */
export async function findInstallation({
  inCluster,
}: Pick<Config, 'inCluster'>): Promise<string | undefined> {
  const uid = inCluster && (await serviceAccountUid());
  return uid === undefined ? undefined : createHash('sha256').update(uid).digest('hex').slice(0, 12);
}
