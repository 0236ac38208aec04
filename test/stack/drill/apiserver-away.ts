/** Takes the API server away for a while. */
import type { KubeObject } from '../../../src/kube/port.ts';
import type { World } from '../e2e.ts';
import { poll } from '../poll.ts';

const NODE_LEASES = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-node-lease' };

/**
 * Stops the API server, does something meanwhile, starts it again and waits until every node has renewed its lease. Until then
 * Kubernetes may hold nodes to be lost and call their pods not ready, and objects say what was true before.
 */
export async function withoutApiserver(world: World, meanwhile: () => Promise<void>): Promise<void> {
  await world.stack.apiserver.stop();
  try {
    await meanwhile();
  } finally {
    await world.stack.apiserver.start();
  }
  const back = Date.now();
  await poll(
    async () => {
      const { items } = await world.kube.list(NODE_LEASES);
      return items.every(lease => renewedAt(lease) > back);
    },
    { timeoutMs: 60_000, otherwise: () => 'a node has not renewed its lease' },
  );
}

function renewedAt(lease: KubeObject): number {
  const { renewTime = '' } = (lease['spec'] ?? {}) as { readonly renewTime?: string };
  return Date.parse(renewTime);
}
