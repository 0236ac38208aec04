/** Scenes about restores of backups: see scenes.ts. */
import type { Step } from '../../src/activities/index.ts';
import { ANNOTATION_RESTORED_BY } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { BACKUP, keyOf } from './sim-backups.ts';
import { emptyDisk } from './sim-raft.ts';
import { RESTORE, type Stage } from './stage.ts';

const A_WHILE = 400;
/** A member of a cluster that is no more. */
const ENTRY = { term: 1, members: { rows: [], removed: new Set<string>() }, value: 1 };
const BEFORE = {
  version: '3.6.16',
  clusterId: 'cdf818194e3a8c32',
  disk: { ...emptyDisk('before'), log: [ENTRY], commit: 1 },
};

/** A cluster with writes, the backup of some of them, and more writes. The path of the backup. */
async function backedUp(stage: Stage): Promise<string> {
  await stage.create({ size: 3 });
  await stage.pass(A_WHILE);
  const path = stage.world.backups.take(CLUSTER, stage.leader());
  await stage.pass(A_WHILE);
  return path;
}

function clusterID(stage: Stage): string {
  const { clusterID: id = '' } = (stage.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  return id;
}

async function succeeded(stage: Stage): Promise<void> {
  await stage.until('the restore has succeeded', () => stage.restored().phase === 'Succeeded');
  await stage.rest();
}

/** The cluster that was there before is there again, with all that it had. */
async function asBefore(stage: Stage, before: string): Promise<void> {
  await stage.rest();
  if (stage.leader().clusterId !== before) throw new Breach('another cluster is there than before');
}

/** Every process of the operator dies, and Temporal forgets everything. */
function loseOperator({ world }: Stage): void {
  for (const attempt of world.calls.attempts) world.calls.kill(attempt);
  world.operator.begin();
  for (const restore of world.restores.values()) restore.begin();
}

const STEPS: readonly Step['kind'][] = [
  'fenceMembers',
  'switchIncarnation',
  'fillVolume',
  'unpackBackup',
  'startSeed',
  'recordClusterId',
  'addLearner',
  'concludeRestore',
];

export const restoreScenes = {
  async restoreIsConfirmedLate(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    stage.restore(path);
    await stage.until('it is refused', () => stage.restored().phase === 'Refused');
    await stage.pass(A_WHILE);
    await asBefore(stage, before);
    stage.world.kube.merge('EtcdRestore', RESTORE, { spec: { confirmClusterID: clusterID(stage) } });
    await succeeded(stage);
  },

  /** The operator dies, and Temporal forgets everything, in the middle of every step. */
  async restoreIsCutShortAgainAndAgain(stage: Stage) {
    const path = await backedUp(stage);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    for (const kind of STEPS) {
      await stage.about(kind);
      await stage.pass(stage.world.random.below(60));
      loseOperator(stage);
    }
    await succeeded(stage);
  },

  async restoreIsAborted(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.about('unpackBackup');
    stage.world.operator.abort = true;
    await stage.until('it is given up', () => stage.restored().phase === 'Failed');
    await asBefore(stage, before);
  },

  async restoreIsDeletedInTheMiddle(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.about('startSeed');
    stage.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(stage, before);
  },

  /** It is whole, and not what its manifest says. */
  async backupIsAnotherOne(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    const { backups } = stage.world;
    const other = backups.store.objects.get(keyOf(backups.take(CLUSTER, stage.leader())));
    if (other !== undefined) backups.store.objects.set(keyOf(path), other);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.until('it is refused', () => stage.restored().phase === 'Failed');
    await stage.pass(A_WHILE);
    await asBefore(stage, before);
  },

  /** All volumes are lost, and somebody said before what is to be done then. */
  async everythingIsLostAndComesBackByItself(stage: Stage) {
    await backedUp(stage);
    stage.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await stage.rest();
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    await stage.until('there is a restore', () => stage.world.kube.all('EtcdRestore').length === 1);
    await stage.rest();
    await stage.pass(A_WHILE);
  },

  /** It cannot start at first, and when it does it brings along an alarm of a member that is none any more. */
  async firstMemberHasItsTroubles(stage: Stage) {
    const path = await backedUp(stage);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.about('unpackBackup');
    stage.world.kubelet.stuck.add('example-3');
    await stage.blockedBy('MembersNotStarting');
    stage.world.kubelet.stuck.clear();
    await stage.until('it runs', () => stage.process('example-3') !== undefined);
    const first = stage.process('example-3');
    if (first !== undefined) stage.world.etcd.set(first, { alarm: 'memberID:4711 alarm:NOSPACE' });
    await succeeded(stage);
  },

  /** Somebody makes a cluster to be restored into; it is not made empty meanwhile. */
  async clusterIsMadeToBeRestoredInto(stage: Stage) {
    const { world } = stage;
    const { resource } = world;
    if (resource === undefined) return;
    const metadata = { ...resource.metadata, annotations: { [ANNOTATION_RESTORED_BY]: RESTORE } };
    world.kube.change(resource, { metadata });
    world.edit({ size: 3, version: '3.6.16', storage: { retain: 'Delete' } });
    world.begin();
    await stage.blockedBy('AwaitingRestore');
    const path = world.backups.take(CLUSTER, BEFORE);
    stage.restore(path, { clusterTemplate: world.spec });
    await succeeded(stage);
  },

  /** One reason after the other keeps it from being begun, and nothing is touched. */
  async restoreIsRefused(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    const confirmed = { confirmClusterID: clusterID(stage) };
    const newer = stage.world.backups.take(CLUSTER, { ...stage.leader(), version: '3.7.3' });
    const none = { s3: undefined, backupStorageType: undefined, ...confirmed };
    for (const spec of [
      { etcdCluster: { name: 'nobody' } },
      { clusterTemplate: { size: 1 } },
      { s3: { path: newer, awsSecret: '' }, ...confirmed },
      { ...none, backupRef: { name: 'nobody' } },
      { ...none, backupRef: { name: BACKUP, at: 1 } },
      { ...none, backupRef: { name: BACKUP, at: '2020-01-01T00:00:00Z' } },
      { ...none },
      { s3: { path: 'nowhere', awsSecret: '' }, ...confirmed },
    ]) {
      stage.restore(path, spec);
      await stage.pass(150);
      stage.world.kube.delete('EtcdRestore', RESTORE);
    }
    stage.world.kube.merge('EtcdBackup', BACKUP, { spec: { s3: { path: 'elsewhere/etcd' } } });
    stage.restore(path, { ...none, backupRef: { name: BACKUP } });
    await stage.pass(150);
    await asBefore(stage, before);
  },

  async twoRestoresAreAskedFor(stage: Stage) {
    const path = await backedUp(stage);
    const spec = { confirmClusterID: clusterID(stage), revisionBump: 0 };
    stage.world.edit({ paused: true });
    stage.restore(path, spec, 'later');
    await stage.until('it is examined', () => {
      const { source } = (stage.world.kube.peek('EtcdRestore', 'later')?.['status'] ??
        {}) as EtcdRestoreStatus;
      return source !== undefined;
    });
    stage.restore(path, spec);
    await stage.pass(A_WHILE);
    stage.world.kube.delete('EtcdRestore', 'later');
    stage.world.edit({ paused: false });
    await succeeded(stage);
  },

  async thereAreNoVolumesToRestoreOnto(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.createInPods({ size: 1 });
    stage.restore(stage.world.backups.take(CLUSTER, stage.leader()), { confirmClusterID: clusterID(stage) });
    await stage.pass(A_WHILE);
    await stage.rest();
  },

  async volumesAreTooSmallToRestoreOnto(stage: Stage) {
    const spec = { resources: { requests: { storage: '100Mi' } } };
    await stage.create({ size: 1, storage: { volumeClaimTemplate: { spec } } });
    stage.restore(stage.world.backups.take(CLUSTER, stage.leader()), { confirmClusterID: clusterID(stage) });
    await stage.pass(A_WHILE);
    await stage.rest();
  },

  /** The first member has less than the backup was said to have. */
  async backupHasLessThanWasSaid(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    const first = () => stage.process('example-3');
    await stage.until('it runs', () => {
      const { disk } = first() ?? {};
      if (disk !== undefined) disk.bump = 0;
      return first()?.serves === true;
    });
    await stage.blockedBy('RevisionTooLow');
    stage.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(stage, before);
  },

  /** Its revision is right, and one key is missing. */
  async backupHasFewerKeysThanWasSaid(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    stage.world.backups.overstate(path);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.blockedBy('KeysDiffer');
    stage.world.kube.delete('EtcdRestore', RESTORE);
    await asBefore(stage, before);
  },

  /** As long as its keys cannot be counted the first member stays alone. */
  async keysAreNotCountedForAWhile(stage: Stage) {
    const path = await backedUp(stage);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.until('it runs', () => stage.process('example-3') !== undefined);
    await stage.withoutReads(A_WHILE, 'countKeys');
    const { phase = '' } = stage.restored();
    if (phase !== 'Seeding') throw new Breach(`the restore is ${phase}, and nobody has counted its keys`);
    await succeeded(stage);
  },

  /** All members are there, and one of them cannot be read from. */
  async restoredMemberCannotBeRead(stage: Stage) {
    const path = await backedUp(stage);
    stage.restore(path, { confirmClusterID: clusterID(stage) });
    await stage.until(
      'all are there',
      () => stage.restored().phase === 'Growing' && stage.voters().length === 3,
    );
    await stage.withoutReads(A_WHILE);
    await succeeded(stage);
  },

  /** What nobody asked for does not begin when a volume turns up again. */
  async volumeIsThereAfterAll(stage: Stage) {
    await backedUp(stage);
    const { kube } = stage.world;
    stage.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await stage.rest();
    const claim = stage.claim('example-0');
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    await stage.until('there is a restore', () => kube.all('EtcdRestore').length === 1);
    kube.create(claim as unknown as WritableObject);
    await stage.pass(A_WHILE);
    if (stage.world.etcd.restored.size > 0)
      throw new Breach('a backup was restored though a volume is there');
  },

  /** Twice: the second one begins above all revisions of the first. */
  async restoreIsRepeated(stage: Stage) {
    const path = await backedUp(stage);
    for (let round = 0; round < 2; round += 1) {
      stage.restore(path, { confirmClusterID: clusterID(stage) });
      await succeeded(stage);
      stage.world.kube.delete('EtcdRestore', RESTORE);
    }
  },
};
