/** Mirrors what users asked of a workflow in the status of its cluster while an operation is under way, whose passes do not know it. */
import { isDeepStrictEqual } from 'node:util';
import { mirroredSignals, type OpenSignals } from '../../planner/requests/signals.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { retryOnConflict } from './custom-resource.ts';
import { recordStatus } from './etcd-cluster.ts';
import { readCluster } from './read-cluster.ts';

export async function recordSignals(deps: Dependencies, ref: ClusterRef, open: OpenSignals): Promise<void> {
  await retryOnConflict(async () => {
    const cluster = await readCluster(deps.kube, ref);
    if (cluster === undefined) return;
    const { uid, generation = 0 } = cluster.metadata;
    const signals = mirroredSignals(open, { uid, generation, now: deps.now() });
    if (isDeepStrictEqual(signals, cluster.status?.signals)) return;
    await recordStatus(deps.kube, cluster, { signals: signals ?? null });
  });
}
