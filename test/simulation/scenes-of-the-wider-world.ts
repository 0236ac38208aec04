/** Scenes about what others do to pods, volumes, Nodes and the resource: see scenes.ts. */
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION } from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { statusOf } from './sim-kubelet.ts';
import { RESTORE, type Stage } from './stage.ts';

/** Long enough for clients to write something. */
const A_WHILE = 400;

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

  /** Somebody's own Service stands where the members find each other. */
  async peerServiceIsSomebodyElses(stage: Stage) {
    await stage.create({ size: 3 });
    stage.takeName('Service', CLUSTER);
    await stage.blockedBy('NameTaken');
    stage.world.kube.delete('Service', CLUSTER);
    stage.world.wake();
    await stage.rest();
  },

  /** Before the first member of a restore is started something happens to the volume that was made for it. */
  async restoredVolumeIsNotTheOne(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.pass(A_WHILE);
    const { kube, backups } = stage.world;
    const before = stage.leader().clusterId;
    stage.restore(backups.take(CLUSTER, stage.leader()), { confirmClusterID: before });
    await stage.about('startSeed');
    const { incarnation } = (stage.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    const name = incarnation?.members[0]?.name ?? '';
    const { metadata, ...claim } = stage.takeStamps(name);
    await stage.blockedBy('ClaimsUnstamped');
    const { labels, annotations } = metadata;
    const foreign = { ...annotations, [ANNOTATION_INCARNATION]: 'another' };
    kube.change(stage.claim(name), { metadata: { ...metadata, annotations: foreign } });
    await stage.until('it says whose it is', () =>
      /annotations of another cluster/.test(stage.world.decision.message ?? ''),
    );
    stage.takeClaim(name);
    await stage.blockedBy('ClaimMissing');
    kube.create({ ...claim, metadata: { name, labels, annotations } } as WritableObject);
    await stage.blockedBy('ClaimExchanged');
    kube.delete('EtcdRestore', RESTORE);
    stage.world.wake();
    await stage.rest();
    if (stage.leader().clusterId !== before) throw new Breach('another cluster is there than before');
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
