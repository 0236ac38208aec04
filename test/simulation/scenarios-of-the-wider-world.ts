/** Scenarios about what others do to pods, volumes, Nodes and the resource: see scenarios.ts. */
import { isDeepStrictEqual } from 'node:util';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_INCARNATION } from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { statusOf } from './sim-kubelet.ts';
import { RESTORE, type ScriptedWorld } from './scripted-world.ts';

/** Long enough for clients to write something. */
const A_WHILE = 400;

export const widerScenarios = {
  /** A kubelet evicts a member: its pod stays as it is, and nobody but the operator takes it away. */
  async podIsEvicted(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    evict(scripted, scripted.follower().name);
    await scripted.until('it was looked at', () => scripted.world.decision.kind !== 'idle');
    await scripted.rest();
  },

  /** Its claim is being deleted, and the pod that has ended keeps it from going: no other pod is ever started on it. */
  async memberIsEvictedWhileItsClaimGoes(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { name } = scripted.follower();
    scripted.world.kube.delete('PersistentVolumeClaim', name);
    evict(scripted, name);
    await scripted.until('it is replaced', () => scripted.voters().every(voter => voter.name !== name));
    await scripted.rest();
  },

  /** Somebody writes on a claim that it is of another incarnation, and then that it is of another cluster. */
  async claimIsStampedOtherwise(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube } = scripted.world;
    const { name } = scripted.follower();
    const { annotations } = scripted.claim(name).metadata;
    for (const stamp of [
      { [ANNOTATION_INCARNATION]: 'example-00000009-0' },
      { [ANNOTATION_CLUSTER_ID]: 'beef' },
    ]) {
      kube.merge('PersistentVolumeClaim', name, { metadata: { annotations: stamp } });
      scripted.takePod(name);
      await scripted.blockedBy('ClaimsUnstamped');
      kube.merge('PersistentVolumeClaim', name, { metadata: { annotations } });
      scripted.world.wake();
      await scripted.rest();
    }
  },

  /** A manifest takes the finalizer and the stamps off the resource. */
  async resourceIsReplacedByAManifest(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { resource, kube } = scripted.world;
    if (resource === undefined) throw new Breach('there is no resource');
    const { name, namespace = '', finalizers, annotations } = resource.metadata;
    kube.put({ ...resource, metadata: { name, namespace } });
    scripted.world.wake();
    const isBack = () => {
      const now = scripted.world.resource?.metadata;
      return (
        now?.finalizers?.join() === finalizers?.join() && isDeepStrictEqual(now?.annotations, annotations)
      );
    };
    await scripted.until('finalizer and stamps are back', isBack);
    await scripted.rest();
  },

  /** Somebody's own Service stands where the members find each other. */
  async peerServiceIsSomebodyElses(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.takeName('Service', CLUSTER);
    await scripted.blockedBy('NameTaken');
    scripted.world.kube.delete('Service', CLUSTER);
    scripted.world.wake();
    await scripted.rest();
  },

  /** Before the first member of a restore is started something happens to the volume that was made for it. */
  async restoredVolumeIsNotTheOne(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.pass(A_WHILE);
    const { kube, backups } = scripted.world;
    const before = scripted.leader().clusterId;
    scripted.restore(backups.take(CLUSTER, scripted.leader()), { confirmClusterID: before });
    await scripted.about('startSeed');
    const { incarnation } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    const name = incarnation?.members[0]?.name ?? '';
    const { metadata, ...claim } = scripted.takeStamps(name);
    await scripted.blockedBy('ClaimsUnstamped');
    const { labels, annotations } = metadata;
    const foreign = { ...annotations, [ANNOTATION_INCARNATION]: 'another' };
    kube.change(scripted.claim(name), { metadata: { ...metadata, annotations: foreign } });
    await scripted.until('it says whose it is', () =>
      /annotations of another cluster/.test(scripted.world.decision.message ?? ''),
    );
    scripted.takeClaim(name);
    await scripted.blockedBy('ClaimMissing');
    kube.create({ ...claim, metadata: { name, labels, annotations } } as WritableObject);
    await scripted.blockedBy('ClaimExchanged');
    kube.delete('EtcdRestore', RESTORE);
    scripted.world.wake();
    await scripted.rest();
    if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
  },
};

function evict(scripted: ScriptedWorld, name: string): void {
  const { world } = scripted;
  const pod = scripted.pod(name);
  world.etcd.stop(statusOf(pod).podIP ?? '');
  world.kube.change(pod, {
    status: { ...statusOf(pod), phase: 'Failed', reason: 'Evicted', conditions: [] },
  });
  world.wake();
}
