/** Scenes about restores that nobody confirmed, and about losses that are none: see scenes.ts. */
import type { EtcdClusterStatus, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { BACKUP } from './sim-backups.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

const A_WHILE = 400;
const RESCUE = { totalLoss: 'RestoreLatestBackup' } as const;

/** A cluster with a backup and later writes. The path of the backup. */
async function backedUp(stage: Stage, size = 3): Promise<string> {
  await stage.create({ size, repair: { replaceAfterSeconds: 600 } });
  await stage.pass(A_WHILE);
  const path = stage.world.backups.take(CLUSTER, stage.leader());
  await stage.pass(A_WHILE);
  return path;
}

/** The same, and somebody asks for a restore without the confirmation; the id of the cluster. */
async function refused(stage: Stage, size = 3): Promise<string> {
  const path = await backedUp(stage, size);
  stage.restore(path);
  await stage.until('it is refused', () => stage.restored().phase === 'Refused');
  return stage.leader().clusterId;
}

/** The cluster is at rest again, and none has taken its place. */
async function untouched(stage: Stage, before: string): Promise<void> {
  await stage.rest();
  if (stage.leader().clusterId !== before) throw new Breach('another cluster is there than before');
  nothingRestored(stage);
}

function nothingRestored({ world }: Stage): void {
  if (world.etcd.restored.size > 0) throw new Breach('a backup was restored that nobody has confirmed');
}

/** Two of three pods are gone and do not start again. */
function cannotStart(stage: Stage): void {
  for (const { name } of stage.followers()) {
    stage.world.kubelet.stuck.add(name);
    stage.takePod(name);
  }
}

function everyNode({ world }: Stage): string[] {
  return [...new Set(world.kube.all('Pod').flatMap(pod => nodeOf(pod) ?? []))];
}

/** Kubernetes forgets every node that a member runs on. */
async function loseNodes(stage: Stage): Promise<string[]> {
  const { world } = stage;
  world.kubelet.nodes.hasLocalVolumes = true;
  await backedUp(stage);
  world.edit({ recovery: RESCUE });
  await stage.rest();
  const nodes = everyNode(stage);
  for (const { name } of stage.voters()) stage.takePod(name);
  for (const node of nodes) world.kubelet.nodes.leave(node, world.now);
  world.wake();
  return nodes;
}

export const refusalScenes = {
  async refusedRestoreSeesMembersEvicted(stage: Stage) {
    const before = await refused(stage);
    cannotStart(stage);
    await stage.pass(A_WHILE);
    stage.world.kubelet.stuck.clear();
    await untouched(stage, before);
  },

  /** It is made only when no quorum answers any more. */
  async restoreIsMadeWhileNobodyAnswers(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    cannotStart(stage);
    await stage.pass(A_WHILE);
    stage.restore(path);
    await stage.pass(A_WHILE);
    stage.world.kubelet.stuck.clear();
    await untouched(stage, before);
  },

  async refusedRestoreSeesTheClusterSleepAndWake(stage: Stage) {
    const before = await refused(stage);
    stage.world.edit({ hibernated: true });
    await stage.until('it sleeps', () => stage.world.kube.all('Pod').length === 0);
    await stage.pass(A_WHILE);
    stage.world.edit({ hibernated: false });
    await untouched(stage, before);
  },

  async refusedRestoreSeesTheOnlyMemberRestarted(stage: Stage) {
    const before = await refused(stage, 1);
    stage.world.edit({ pod: { labels: { team: 'blue' } } });
    const pod = () => stage.world.kube.peek('Pod', 'example-0');
    await stage.until('it is restarted', () => pod()?.metadata.labels?.['team'] === 'blue');
    await untouched(stage, before);
  },

  async refusedRestoreSeesTheStatusWiped(stage: Stage) {
    const before = await refused(stage);
    cannotStart(stage);
    await stage.pass(A_WHILE);
    stage.loseStatus();
    await stage.pass(A_WHILE);
    stage.world.kubelet.stuck.clear();
    await untouched(stage, before);
  },

  /** It is made only after the status was wiped. */
  async restoreIsMadeWhileTheStatusIsLost(stage: Stage) {
    const path = await backedUp(stage);
    const before = stage.leader().clusterId;
    cannotStart(stage);
    await stage.pass(A_WHILE);
    stage.restore(path);
    // For as long as it takes to judge the restore, whatever is recorded again meanwhile.
    await stage.until('the restore is refused', () => {
      stage.loseStatus();
      return stage.restored().phase === 'Refused';
    });
    await stage.pass(A_WHILE);
    stage.world.kubelet.stuck.clear();
    await untouched(stage, before);
  },

  /** Not even then: whoever wants it says so. */
  async refusedRestoreSeesEverythingLost(stage: Stage) {
    await refused(stage);
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    await stage.blockedBy('AllVolumesLost');
    await stage.pass(A_WHILE);
    nothingRestored(stage);
  },

  /** One is refused for each reason, one waits, and the one that is confirmed is carried out. */
  async restoresInEveryStateStandBesideEachOther(stage: Stage) {
    const path = await backedUp(stage);
    const { kube } = stage.world;
    const { clusterID = '' } = (stage.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    const refOf = (name: string) => ({ s3: undefined, backupStorageType: undefined, backupRef: { name } });
    stage.restore(path, {}, 'unconfirmed');
    stage.restore(path, { confirmClusterID: 'abcdef' }, 'of-another');
    stage.restore(path, { clusterTemplate: { size: 1 } }, 'of-a-new-one');
    stage.restore(path, { ...refOf('nobody'), confirmClusterID: clusterID }, 'of-no-backup');
    const statusOf = (name: string) =>
      (kube.peek('EtcdRestore', name)?.['status'] ?? {}) as EtcdRestoreStatus;
    const reasons = {
      unconfirmed: 'NotConfirmed',
      'of-another': 'WrongClusterID',
      'of-a-new-one': 'ClusterExists',
    };
    await stage.until('all are judged', () =>
      Object.entries(reasons).every(([name, reason]) => statusOf(name).refusal?.reason === reason),
    );
    await stage.pass(A_WHILE);
    nothingRestored(stage);
    stage.restore(path, { ...refOf(BACKUP), confirmClusterID: clusterID });
    await stage.until('it has succeeded', () => stage.restored().phase === 'Succeeded');
    await stage.until(
      'what was confirmed for the old one is refused',
      () => statusOf('of-no-backup').refusal?.reason === 'WrongClusterID',
    );
    await stage.rest();
    if (stage.world.etcd.restored.size > 1) throw new Breach('more than one was carried out');
    for (const name of Object.keys(reasons))
      if (statusOf(name).phase !== 'Refused') throw new Breach(`${name} is ${statusOf(name).phase}`);
  },

  /** Nodes that are registered anew are no loss, all at once no more than one. */
  async nodesAreRegisteredAnew(stage: Stage) {
    const nodes = await loseNodes(stage);
    await stage.blockedBy('WaitingForMember');
    await stage.pass(A_WHILE);
    const asked = stage.world.kube.all('EtcdRestore');
    if (asked.length > 0) throw new Breach('a restore was asked for before the nodes were waited for');
    for (const node of nodes) stage.world.kubelet.nodes.restore(node);
    await stage.rest();
    nothingRestored(stage);
  },

  /** Machines are off while the cluster sleeps, and on again some time after it is woken. */
  async nodesAreOffWhileTheClusterSleeps(stage: Stage) {
    const { world } = stage;
    world.kubelet.nodes.hasLocalVolumes = true;
    await backedUp(stage);
    world.edit({ recovery: RESCUE });
    await stage.rest();
    const nodes = everyNode(stage);
    world.edit({ hibernated: true });
    await stage.until('it sleeps', () => world.kube.all('Pod').length === 0);
    for (const node of nodes) world.kubelet.nodes.leave(node, world.now);
    await stage.pass(A_WHILE);
    stage.skip(600);
    await stage.pass(A_WHILE);
    world.edit({ hibernated: false });
    await stage.blockedBy('WaitingForMember');
    await stage.pass(A_WHILE);
    if (world.kube.all('EtcdRestore').length > 0) throw new Breach('what slept was taken for lost');
    for (const node of nodes) world.kubelet.nodes.restore(node);
    await stage.rest();
    nothingRestored(stage);
  },

  async nodesDoNotComeBack(stage: Stage) {
    const nodes = await loseNodes(stage);
    await stage.blockedBy('WaitingForMember');
    for (const node of nodes) stage.world.kubelet.nodes.bury(node);
    stage.skip(600);
    await stage.until('there is a restore', () => stage.world.kube.all('EtcdRestore').length === 1);
    await stage.rest();
    if (stage.world.etcd.restored.size !== 1) throw new Breach('the backup is not restored');
  },
};
