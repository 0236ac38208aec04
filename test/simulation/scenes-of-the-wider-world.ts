/** Scenes about what others do to pods, volumes, Nodes and the resource: see scenes.ts. */
import { statusOf } from './sim-kubelet.ts';
import type { Stage } from './stage.ts';

export const widerScenes = {
  /** A kubelet evicts a member: its pod stays as it is, and nobody but the operator takes it away. */
  async podIsEvicted(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube, etcd } = stage.world;
    const pod = stage.pod(stage.follower().name);
    etcd.stop(statusOf(pod).podIP ?? '');
    kube.change(pod, { status: { ...statusOf(pod), phase: 'Failed', reason: 'Evicted', conditions: [] } });
    stage.world.wake();
    await stage.until('it was looked at', () => stage.world.decision.kind !== 'idle');
    await stage.rest();
  },
};
