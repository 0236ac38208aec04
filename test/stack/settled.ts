/** When a cluster on a stack has come to rest, and what is counted from then on is what it costs when it is idle. */
import { defaultTimings } from '../../src/watcher/options.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { readCluster, type World } from './e2e.ts';
import { readyOperators } from './operator-processes.ts';
import { poll } from './poll.ts';

/** A watcher has every cluster reconciled when it begins, and once more after a while. */
const SETTLED_MS = defaultTimings.againAfterMs + 30_000;

/** Waits until the cluster, and each replica of the operator, has been there for five and a half minutes. */
export async function untilSettled(
  world: World,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<void> {
  await poll(
    async () => {
      const cluster = await readCluster(world, namespace, name);
      const begun = [cluster?.metadata.creationTimestamp, ...(await readyOperators(world)).map(startedAt)];
      return begun.every(time => Date.now() - Date.parse(time ?? '') > SETTLED_MS);
    },
    {
      timeoutMs: 2 * SETTLED_MS,
      intervalMs: 2_000,
      otherwise: () => `${namespace}/${name}, or a replica of the operator, is always younger`,
    },
  );
}

/** Of the process and not of the pod, whose container may have been started again. */
function startedAt(pod: KubeObject): string | undefined {
  const { containerStatuses: [container] = [] } = (pod['status'] ?? {}) as {
    containerStatuses?: { readonly state?: { readonly running?: { readonly startedAt?: string } } }[];
  };
  return container?.state?.running?.startedAt;
}
