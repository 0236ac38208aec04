/** Scenarios about restores that nobody confirmed, and about losses that are none: see scenarios.ts. */
import type { EtcdClusterStatus, EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { BACKUP } from './sim-backups.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;
const RESCUE = { totalLoss: 'RestoreLatestBackup' } as const;

/** A cluster with a backup and later writes. The path of the backup. */
async function backedUp(scripted: ScriptedWorld, size = 3): Promise<string> {
  await scripted.create({ size, repair: { replaceAfterSeconds: 600 } });
  await scripted.pass(A_WHILE);
  const path = scripted.world.backups.take(CLUSTER, scripted.leader());
  await scripted.pass(A_WHILE);
  return path;
}

/** The same, and somebody asks for a restore without the confirmation; the id of the cluster. */
async function refused(scripted: ScriptedWorld, size = 3): Promise<string> {
  const path = await backedUp(scripted, size);
  scripted.restore(path);
  await scripted.until('it is refused', () => scripted.restored().phase === 'Refused');
  return scripted.leader().clusterId;
}

/** The cluster is at rest again, and none has taken its place. */
async function untouched(scripted: ScriptedWorld, before: string): Promise<void> {
  await scripted.rest();
  if (scripted.leader().clusterId !== before) throw new Breach('another cluster is there than before');
  nothingRestored(scripted);
}

function nothingRestored({ world }: ScriptedWorld): void {
  if (world.etcd.restored.size > 0) throw new Breach('a backup was restored that nobody has confirmed');
}

/** Two of three pods are gone and do not start again. */
function cannotStart(scripted: ScriptedWorld): void {
  for (const { name } of scripted.followers()) {
    scripted.world.kubelet.stuck.add(name);
    scripted.takePod(name);
  }
}

function everyNode({ world }: ScriptedWorld): string[] {
  return [...new Set(world.kube.all('Pod').flatMap(pod => nodeOf(pod) ?? []))];
}

/** Kubernetes forgets every node that a member runs on. */
async function loseNodes(scripted: ScriptedWorld): Promise<string[]> {
  const { world } = scripted;
  world.kubelet.nodes.hasLocalVolumes = true;
  await backedUp(scripted);
  world.edit({ recovery: RESCUE });
  await scripted.rest();
  const nodes = everyNode(scripted);
  for (const { name } of scripted.voters()) scripted.takePod(name);
  for (const node of nodes) world.kubelet.nodes.leave(node, world.now);
  world.wake();
  return nodes;
}

export const refusalScenarios = {
  async refusedRestoreSeesMembersEvicted(scripted: ScriptedWorld) {
    const before = await refused(scripted);
    cannotStart(scripted);
    await scripted.pass(A_WHILE);
    scripted.world.kubelet.stuck.clear();
    await untouched(scripted, before);
  },

  /** It is made only when no quorum answers any more. */
  async restoreIsMadeWhileNobodyAnswers(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    cannotStart(scripted);
    await scripted.pass(A_WHILE);
    scripted.restore(path);
    await scripted.pass(A_WHILE);
    scripted.world.kubelet.stuck.clear();
    await untouched(scripted, before);
  },

  async refusedRestoreSeesTheClusterSleepAndWake(scripted: ScriptedWorld) {
    const before = await refused(scripted);
    scripted.world.edit({ hibernated: true });
    await scripted.until('it sleeps', () => scripted.world.kube.all('Pod').length === 0);
    await scripted.pass(A_WHILE);
    scripted.world.edit({ hibernated: false });
    await untouched(scripted, before);
  },

  async refusedRestoreSeesTheOnlyMemberRestarted(scripted: ScriptedWorld) {
    const before = await refused(scripted, 1);
    scripted.world.edit({ pod: { labels: { team: 'blue' } } });
    const pod = () => scripted.world.kube.peek('Pod', 'example-0');
    await scripted.until('it is restarted', () => pod()?.metadata.labels?.['team'] === 'blue');
    await untouched(scripted, before);
  },

  async refusedRestoreSeesTheStatusWiped(scripted: ScriptedWorld) {
    const before = await refused(scripted);
    cannotStart(scripted);
    await scripted.pass(A_WHILE);
    scripted.loseStatus();
    await scripted.pass(A_WHILE);
    scripted.world.kubelet.stuck.clear();
    await untouched(scripted, before);
  },

  /** It is made only after the status was wiped. */
  async restoreIsMadeWhileTheStatusIsLost(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const before = scripted.leader().clusterId;
    cannotStart(scripted);
    await scripted.pass(A_WHILE);
    scripted.restore(path);
    // For as long as it takes to judge the restore, whatever is recorded again meanwhile.
    await scripted.until('the restore is refused', () => {
      scripted.loseStatus();
      return scripted.restored().phase === 'Refused';
    });
    await scripted.pass(A_WHILE);
    scripted.world.kubelet.stuck.clear();
    await untouched(scripted, before);
  },

  /** Not even then: a user who wants it says so. */
  async refusedRestoreSeesEverythingLost(scripted: ScriptedWorld) {
    await refused(scripted);
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.blockedBy('AllVolumesLost');
    await scripted.pass(A_WHILE);
    nothingRestored(scripted);
  },

  /** One is refused for each reason, one waits, and the one that is confirmed is carried out. */
  async restoresInEveryStateStandBesideEachOther(scripted: ScriptedWorld) {
    const path = await backedUp(scripted);
    const { kube } = scripted.world;
    const { clusterID = '' } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    const refOf = (name: string) => ({ s3: undefined, backupStorageType: undefined, backupRef: { name } });
    scripted.restore(path, {}, 'unconfirmed');
    scripted.restore(path, { confirmClusterID: 'abcdef' }, 'of-another');
    scripted.restore(path, { clusterTemplate: { size: 1 } }, 'of-a-new-one');
    scripted.restore(path, { ...refOf('nobody'), confirmClusterID: clusterID }, 'of-no-backup');
    const statusOf = (name: string) =>
      (kube.peek('EtcdRestore', name)?.['status'] ?? {}) as EtcdRestoreStatus;
    const reasons = {
      unconfirmed: 'NotConfirmed',
      'of-another': 'WrongClusterID',
      'of-a-new-one': 'ClusterExists',
    };
    await scripted.until('all are judged', () =>
      Object.entries(reasons).every(([name, reason]) => statusOf(name).refusal?.reason === reason),
    );
    await scripted.pass(A_WHILE);
    nothingRestored(scripted);
    scripted.restore(path, { ...refOf(BACKUP), confirmClusterID: clusterID });
    await scripted.until('it has succeeded', () => scripted.restored().phase === 'Succeeded');
    await scripted.until(
      'what was confirmed for the old one is refused',
      () => statusOf('of-no-backup').refusal?.reason === 'WrongClusterID',
    );
    await scripted.rest();
    if (scripted.world.etcd.restored.size > 1) throw new Breach('more than one was carried out');
    for (const name of Object.keys(reasons))
      if (statusOf(name).phase !== 'Refused') throw new Breach(`${name} is ${statusOf(name).phase}`);
  },

  /** Nodes that are registered again are no loss, all at once no more than one. */
  async nodesAreRegisteredAnew(scripted: ScriptedWorld) {
    const nodes = await loseNodes(scripted);
    await scripted.blockedBy('WaitingForMember');
    await scripted.pass(A_WHILE);
    const asked = scripted.world.kube.all('EtcdRestore');
    if (asked.length > 0) throw new Breach('a restore was asked for before the nodes were waited for');
    for (const node of nodes) scripted.world.kubelet.nodes.restore(node);
    await scripted.rest();
    nothingRestored(scripted);
  },

  /** Machines are off while the cluster sleeps, and on again some time after it is woken. */
  async nodesAreOffWhileTheClusterSleeps(scripted: ScriptedWorld) {
    const { world } = scripted;
    world.kubelet.nodes.hasLocalVolumes = true;
    await backedUp(scripted);
    world.edit({ recovery: RESCUE });
    await scripted.rest();
    const nodes = everyNode(scripted);
    world.edit({ hibernated: true });
    await scripted.until('it sleeps', () => world.kube.all('Pod').length === 0);
    for (const node of nodes) world.kubelet.nodes.leave(node, world.now);
    await scripted.pass(A_WHILE);
    scripted.skip(600);
    await scripted.pass(A_WHILE);
    world.edit({ hibernated: false });
    await scripted.blockedBy('WaitingForMember');
    await scripted.pass(A_WHILE);
    if (world.kube.all('EtcdRestore').length > 0) throw new Breach('what slept was taken for lost');
    for (const node of nodes) world.kubelet.nodes.restore(node);
    await scripted.rest();
    nothingRestored(scripted);
  },

  async nodesDoNotComeBack(scripted: ScriptedWorld) {
    const nodes = await loseNodes(scripted);
    await scripted.blockedBy('WaitingForMember');
    for (const node of nodes) scripted.world.kubelet.nodes.bury(node);
    scripted.skip(600);
    await scripted.until('there is a restore', () => scripted.world.kube.all('EtcdRestore').length === 1);
    await scripted.rest();
    if (scripted.world.etcd.restored.size !== 1) throw new Breach('the backup is not restored');
  },
};
