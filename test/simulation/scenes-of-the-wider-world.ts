/** Scenes about what others do to pods, volumes, Nodes and the resource: see scenes.ts. */
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION } from '../../src/api/names.ts';
import { Breach } from './invariants.ts';
import { statusOf } from './sim-kubelet.ts';
import type { Stage } from './stage.ts';

export const widerScenes = {
  /** A kubelet evicts a member: its pod stays as it is, and nobody but the operator takes it away. */
  async podIsEvicted(stage: Stage) {
    await stage.create({ size: 3 });
    evict(stage, stage.follower().name);
    await stage.until('it was looked at', () => stage.world.decision.kind !== 'idle');
    await stage.rest();
  },

  /** Its claim is being deleted, and the pod that has ended keeps it from going: no other pod is ever started on it. */
  async memberIsEvictedWhileItsClaimGoes(stage: Stage) {
    await stage.create({ size: 3 });
    const { name } = stage.follower();
    stage.world.kube.delete('PersistentVolumeClaim', name);
    evict(stage, name);
    await stage.until('it is replaced', () => stage.voters().every(voter => voter.name !== name));
    await stage.rest();
  },

  /** Somebody writes on a claim that it is of another incarnation, and then that it is of another cluster. */
  async claimIsStampedOtherwise(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube } = stage.world;
    const { name } = stage.follower();
    const { annotations } = stage.claim(name).metadata;
    for (const stamp of [
      { [ANNOTATION_INCARNATION]: 'example-00000009-0' },
      { [ANNOTATION_CLUSTER_ID]: 'beef' },
    ]) {
      kube.merge('PersistentVolumeClaim', name, { metadata: { annotations: stamp } });
      stage.takePod(name);
      await stage.blockedBy('ClaimsUnstamped');
      kube.merge('PersistentVolumeClaim', name, { metadata: { annotations } });
      stage.world.wake();
      await stage.rest();
    }
  },

  /** A manifest takes the finalizer and the stamps off the resource. */
  async resourceIsReplacedByAManifest(stage: Stage) {
    await stage.create({ size: 3 });
    const { resource, kube } = stage.world;
    if (resource === undefined) throw new Breach('there is no resource');
    const { name, namespace = '', finalizers, annotations } = resource.metadata;
    kube.put({ ...resource, metadata: { name, namespace } });
    stage.world.wake();
    const isBack = () => {
      const now = stage.world.resource?.metadata;
      return (
        now?.finalizers?.join() === finalizers?.join() && isDeepStrictEqual(now?.annotations, annotations)
      );
    };
    await stage.until('finalizer and stamps are back', isBack);
    await stage.rest();
  },
};

function evict(stage: Stage, name: string): void {
  const { world } = stage;
  const pod = stage.pod(name);
  world.etcd.stop(statusOf(pod).podIP ?? '');
  world.kube.change(pod, {
    status: { ...statusOf(pod), phase: 'Failed', reason: 'Evicted', conditions: [] },
  });
  world.wake();
}
