/** Scenes about restores of backups: see scenes.ts. */
import type { Step } from '../../src/activities/index.ts';
import type { EtcdClusterStatus } from '../../src/api/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { RESTORE, type Stage } from './stage.ts';

const A_WHILE = 400;

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
    await stage.until('it is examined', () => stage.restored().source !== undefined);
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

  /** The object is not what its manifest says. */
  async backupIsDamaged(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    const { objects } = stage.world.backups.store;
    for (const [key, object] of objects)
      if (!key.endsWith('.json')) objects.set(key, { ...object, bytes: Buffer.alloc(object.bytes.length) });
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
