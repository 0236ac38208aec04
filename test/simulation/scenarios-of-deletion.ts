/** Scenarios about clusters that are deleted while somebody keeps their data, and applied again: see scenarios.ts. */
import {
  ANNOTATION_BEGIN_ANEW,
  ANNOTATION_CLAIM_UID,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_TAKE_UP,
} from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const SPEC = { size: 3, version: '3.6.16' } as const;
const KEPT: EtcdClusterSpec = { ...SPEC, storage: { retain: 'Retain' } };

async function gone(scripted: ScriptedWorld): Promise<void> {
  scripted.world.wake();
  await scripted.until('the resource is gone', () => scripted.world.resource === undefined);
}

function tokenOf({ world }: ScriptedWorld): string {
  const { incarnation } = (world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  return incarnation?.token ?? '';
}

async function deleted(scripted: ScriptedWorld, spec: EtcdClusterSpec = KEPT): Promise<string> {
  await scripted.create(spec);
  const token = tokenOf(scripted);
  scripted.world.kube.delete('EtcdCluster', CLUSTER);
  await gone(scripted);
  return token;
}

async function orphaned(scripted: ScriptedWorld, isCollected: boolean): Promise<string> {
  const { world } = scripted;
  const token = tokenOf(scripted);
  world.invariants.orphanedAt = world.ticks;
  world.kube.orphan('EtcdCluster', CLUSTER);
  if (isCollected) world.kube.orphanDependents('EtcdCluster', CLUSTER);
  world.wake();
  if (!isCollected)
    await scripted.until('the finalizer is off', () => {
      const finalizers = world.resource?.metadata.finalizers ?? [];
      return finalizers.join() === 'orphan';
    });
  world.kube.orphanDependents('EtcdCluster', CLUSTER);
  await gone(scripted);
  return token;
}

function annotate({ world }: ScriptedWorld, annotations: Record<string, string | null>): void {
  world.kube.merge('EtcdCluster', CLUSTER, { metadata: { annotations } });
  world.wake();
}

const uids = (scripted: ScriptedWorld): string =>
  [...scripted.world.kube.all('Pod'), ...scripted.world.kube.all('PersistentVolumeClaim')]
    .map(({ metadata }) => metadata.uid)
    .join();

export const deletionScenarios = {
  /** The claims that were kept are asked about, refused while something is wrong with them, and taken up. */
  async keptClaimsAreTakenUp(scripted: ScriptedWorld) {
    const { world } = scripted;
    const token = await deleted(scripted);
    world.reapply(KEPT);
    await scripted.blockedBy('FormerCluster');
    annotate(scripted, { [ANNOTATION_TAKE_UP]: token, [ANNOTATION_BEGIN_ANEW]: token });
    await scripted.pass(100);
    await scripted.blockedBy('FormerCluster');
    annotate(scripted, { [ANNOTATION_TAKE_UP]: 'example-00000000-1', [ANNOTATION_BEGIN_ANEW]: null });
    await scripted.blockedBy('TakeUpRefused');
    annotate(scripted, { [ANNOTATION_TAKE_UP]: null });
    await scripted.blockedBy('FormerCluster');
    await refusedOneByOne(scripted, token);
    world.edit({ pod: { ClusterDomain: '' } });
    await scripted.rest();
    annotate(scripted, { [ANNOTATION_TAKE_UP]: null });
    scripted.loseStatus();
    world.wake();
    await scripted.pass(300);
    await scripted.rest();
  },

  /** The pods of a cluster that was deleted as an orphan run on, and are its pods again. */
  async orphanIsTakenUp(scripted: ScriptedWorld) {
    await scripted.create(SPEC);
    const { world } = scripted;
    for (const isCollected of [false, true]) {
      const before = uids(scripted);
      const token = await orphaned(scripted, isCollected);
      await scripted.pass(200);
      if (uids(scripted) !== before) throw new Breach('an orphan deletion has taken something');
      world.reapply(SPEC);
      await scripted.blockedBy('FormerCluster');
      world.invariants.orphanedAt = Number.POSITIVE_INFINITY;
      annotate(scripted, { [ANNOTATION_BEGIN_ANEW]: token });
      await scripted.pass(100);
      await scripted.blockedBy('FormerCluster');
      annotate(scripted, { [ANNOTATION_BEGIN_ANEW]: null, [ANNOTATION_TAKE_UP]: token });
      await scripted.rest();
      if (uids(scripted) !== before) throw new Breach('what was taken up was made again');
    }
  },

  /** An empty cluster begins beside claims only when somebody says so; both are left in the end. */
  async emptyClusterBeginsBesideClaims(scripted: ScriptedWorld) {
    const { world } = scripted;
    const token = await deleted(scripted, { ...KEPT, size: 1 });
    world.reapply({ ...KEPT, size: 1 });
    await scripted.blockedBy('FormerCluster');
    world.invariants.recordedAt = undefined;
    annotate(scripted, { [ANNOTATION_BEGIN_ANEW]: token });
    await scripted.rest();
    world.kube.delete('EtcdCluster', CLUSTER);
    await gone(scripted);
    world.reapply({ ...KEPT, size: 1 });
    await scripted.blockedBy('FormerCluster');
    annotate(scripted, { [ANNOTATION_TAKE_UP]: token });
    await scripted.rest();
  },

  /** The finalizer is taken off by hand: the pods go with the resource, and the claims say nothing of who voted. */
  async finalizerIsTakenOff(scripted: ScriptedWorld) {
    await scripted.create(SPEC);
    const { world } = scripted;
    const token = tokenOf(scripted);
    const { resource, kube } = world;
    if (resource === undefined) throw new Breach('there is no resource');
    world.operator.end();
    kube.change(resource, { metadata: { ...resource.metadata, finalizers: [] } });
    kube.delete('EtcdCluster', CLUSTER);
    world.reapply(SPEC);
    annotate(scripted, { [ANNOTATION_TAKE_UP]: token });
    await scripted.rest();
  },
};

/** One thing after the other is wrong with what is to be taken up. */
async function refusedOneByOne(scripted: ScriptedWorld, token: string): Promise<void> {
  const { world } = scripted;
  const claims = world.kube.all('PersistentVolumeClaim');
  const [first, ...others] = claims;
  if (first === undefined) throw new Breach('no claims');
  for (const claim of others)
    world.kube.change(claim, { metadata: { ...claim.metadata, labels: {}, annotations: {} } });
  annotate(scripted, { [ANNOTATION_TAKE_UP]: token });
  await scripted.blockedBy('TakeUpRefused');
  annotate(scripted, { [ANNOTATION_TAKE_UP]: null });
  await scripted.blockedBy('FormerCluster');
  for (const claim of others) scripted.putBack(claim);
  const { name } = first.metadata;
  await refusedFor(scripted, token, { name, annotations: { [ANNOTATION_CLUSTER_ID]: 'bad' } });
  await refusedFor(scripted, token, { name, annotations: { [ANNOTATION_CLAIM_UID]: 'another' } });
  world.edit({ pod: { ClusterDomain: 'cluster.local' } });
  annotate(scripted, { [ANNOTATION_TAKE_UP]: token });
  await scripted.blockedBy('TakeUpRefused');
}

async function refusedFor(
  scripted: ScriptedWorld,
  token: string,
  { name, annotations }: { readonly name: string; readonly annotations: Record<string, string> },
): Promise<void> {
  const { annotations: before = {} } = scripted.claim(name).metadata;
  scripted.world.kube.merge('PersistentVolumeClaim', name, { metadata: { annotations } });
  await scripted.pass(50);
  annotate(scripted, { [ANNOTATION_TAKE_UP]: token });
  await scripted.blockedBy('TakeUpRefused');
  annotate(scripted, { [ANNOTATION_TAKE_UP]: null });
  await scripted.blockedBy('FormerCluster');
  scripted.world.kube.merge('PersistentVolumeClaim', name, { metadata: { annotations: before } });
}
