/** Scenarios about who is a member: see scenarios.ts. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { nodeOf } from './sim-nodes.ts';
import { emptyDisk } from './sim-raft.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** etcd counts a member as connected after five seconds only. */
async function connected(scripted: ScriptedWorld): Promise<void> {
  const since = scripted.world.now;
  await scripted.until('all members are connected', () => scripted.world.now > since + 6_000);
}

/** One member, after there were two. */
async function grownAndShrunk(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 1 });
  for (const size of [2, 1]) {
    scripted.world.edit({ size });
    await scripted.rest();
  }
}

export const membershipScenarios = {
  /** etcd lets a member be added while one of five is away, and would promote it, too. */
  async grownWhileOneIsAway(scripted: ScriptedWorld) {
    scripted.world.etcd.strict = false;
    await scripted.create({ size: 5 });
    await connected(scripted);
    scripted.world.etcd.set(scripted.follower(), { frozen: true });
    scripted.world.edit({ size: 6 });
    await scripted.pass(2 * A_WHILE);
  },

  async shrunkToOne(scripted: ScriptedWorld) {
    await scripted.create({ size: 2 });
    scripted.world.edit({ size: 1 });
    await scripted.rest();
  },

  async grownWhileOneRaisesAnAlarm(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.etcd.set(scripted.follower(), { alarm: 'CORRUPT' });
    scripted.world.edit({ size: 4 });
    await scripted.pass(A_WHILE);
  },

  /** What makes room waits for a person; the cluster has as many members as before meanwhile. */
  async memberIsLostWhileThereIsNoSpace(scripted: ScriptedWorld) {
    const { etcd } = scripted.world;
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    for (const process of etcd.processes.values()) {
      process.disk.bytes = 2 ** 31;
      etcd.space.raise(process);
    }
    scripted.takeClaim(scripted.follower().name);
    await scripted.until('it is replaced', () => scripted.voters().some(({ name }) => name === 'example-3'));
    await scripted.blockedBy('DatabaseFull');
    for (const { disk } of etcd.processes.values()) disk.bytes = 2 ** 20;
    await scripted.rest();
  },

  /** Kubernetes has forgotten a node on which etcd still runs: it is one of the two that make the quorum. */
  async forgottenNodeStillVotes(scripted: ScriptedWorld) {
    const { nodes } = scripted.world.kubelet;
    nodes.hasLocalVolumes = true;
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const [forgotten, frozen] = [scripted.follower(0), scripted.follower(1)];
    const pod = scripted.pod(forgotten.name);
    scripted.world.kube.remove(pod);
    scripted.world.etcd.set(frozen, { frozen: true });
    nodes.leave(nodeOf(pod) ?? '', scripted.world.now);
    await scripted.pass(A_WHILE);
  },

  async strangerIsAdded(scripted: ScriptedWorld) {
    scripted.world.etcd.strict = false;
    await scripted.create({ size: 3 });
    await connected(scripted);
    scripted.world.etcd.addByHand(scripted.leader(), 'http://stranger.elsewhere:2380', true);
    await scripted.pass(A_WHILE);
  },

  /** It counts for the quorum, and nobody knows how it is. */
  async voterIsAddedByHand(scripted: ScriptedWorld) {
    scripted.world.etcd.strict = false;
    await scripted.create({ size: 3 });
    await connected(scripted);
    const { etcd } = scripted.world;
    const stranger = etcd.addByHand(scripted.leader(), 'http://stranger.elsewhere:2380', false);
    const isTold = () =>
      scripted
        .conditions()
        .some(({ type, message }) => type === 'QuorumAtRisk' && message.includes('was added manually'));
    scripted.skip(60);
    await scripted.until('it is bootstrapped that no margin is left', isTold);
    await scripted.pass(A_WHILE);
    etcd.removeByHand(scripted.leader(), stranger);
    scripted.world.wake();
    await scripted.rest();
  },

  async learnerIsFarBehind(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    const { etcd } = scripted.world;
    const learner = scripted.follower();
    etcd.set(learner, { frozen: true });
    for (let write = 0; write < 100; write += 1) etcd.write();
    etcd.set(learner, { frozen: false });
    for (let tick = 0; tick < A_WHILE; tick += 1) {
      for (let write = 0; write < 10; write += 1) etcd.write();
      await scripted.pass(1);
    }
  },

  /** A learner that hears nothing any more goes on naming the leader that it last heard of. */
  async learnerNamesAFormerLeader(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.isQuiet = true;
    scripted.world.edit({ size: 4 });
    await scripted.about('promoteLearner');
    const learner = scripted.process('example-3');
    const [from, to] = [
      scripted.leader(),
      scripted.voters().find(({ id }) => id !== scripted.leader().memberId),
    ];
    if (learner !== undefined) scripted.world.etcd.set(learner, { zone: 1 });
    await scripted.world.etcd.member(from.host).moveLeader(to?.id ?? '');
    await scripted.pass(A_WHILE);
  },

  /** Nobody writes, so that the learner lacks nothing; as a voter it would take the quorum away. */
  async learnerIsCutOff(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.isQuiet = true;
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    scripted.world.etcd.set(scripted.follower(), { zone: 1 });
    await scripted.pass(A_WHILE);
  },

  /** Its pod is stopped first; then users do not want it removed, or the removal fails. */
  async removalIsAborted(scripted: ScriptedWorld) {
    const { world } = scripted;
    await scripted.create({ size: 3 });
    world.edit({ size: 2 });
    await scripted.about('removeMember');
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    const generation = world.resource?.metadata.generation ?? 0;
    world.operator.aborted = { operation: 'scaleCluster', generation, by: 'somebody' };
    await scripted.pass(600);
    world.operator.aborted = undefined;
    world.operator.failed = { operation: 'scaleCluster', message: 'simulated', retryAt: world.now + 30_000 };
    await scripted.rest();
  },

  async removalFails(scripted: ScriptedWorld) {
    const { world } = scripted;
    await scripted.create({ size: 5 });
    world.edit({ size: 3 });
    await scripted.about('removeMember');
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.operator.failed = { operation: 'scaleCluster', message: 'simulated', retryAt: world.now + 60_000 };
    world.operator.resume();
    await scripted.until('it is started again', () => world.kube.all('Pod').length === 5);
    await scripted.rest();
  },

  /** Only claims are left of the last one that went, and the next one does not go. */
  async nextRemovalIsHeldUp(scripted: ScriptedWorld) {
    const { world } = scripted;
    await scripted.create({ size: 3 });
    world.edit({ size: 2 });
    await scripted.about('retireMember');
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.edit({ size: 1 });
    const generation = world.resource?.metadata.generation ?? 0;
    world.operator.aborted = { operation: 'scaleCluster', generation, by: 'somebody' };
    world.operator.resume();
    await scripted.blockedBy('Aborted');
    world.operator.aborted = undefined;
    world.wake();
    await scripted.rest();
  },

  /** Another one still answers, and is about to go. */
  async anotherIsEnding(scripted: ScriptedWorld) {
    await scripted.create({ size: 5 });
    const { kube, kubelet } = scripted.world;
    for (const { name } of [scripted.follower(0), scripted.follower(1)]) {
      kubelet.nodes.down.add(nodeOf(scripted.pod(name)) ?? '');
      kube.delete('Pod', name);
    }
    scripted.world.edit({ size: 4 });
    await scripted.blockedBy('PodTerminating');
    kubelet.nodes.down.clear();
    await scripted.rest();
  },

  /** Its kubelet does not answer and its etcd continues: it is removed all the same. */
  async stopDoesNotCome(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube, kubelet } = scripted.world;
    const { name } = scripted.follower();
    kubelet.nodes.down.add(nodeOf(scripted.pod(name)) ?? '');
    kube.delete('Pod', name);
    scripted.world.edit({ size: 2 });
    await scripted.until('it is removed', () => scripted.voters().every(row => row.name !== name));
    kubelet.nodes.down.clear();
    await scripted.rest();
  },

  /** Its volume goes with its pod: it is not stopped before it is removed. */
  async doomedMemberIsNotWanted(scripted: ScriptedWorld) {
    await scripted.create({ size: 5 });
    const { kube } = scripted.world;
    for (const { name } of scripted.voters()) kube.delete('PersistentVolumeClaim', name);
    scripted.world.edit({ size: 3 });
    await scripted.pass(1_500);
    await scripted.rest();
  },

  /** Its claim does not say whose it is: it could not be started again, and is removed while it runs. */
  async claimsOfTheLeavingLostTheirStamps(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const names = scripted.voters().map(({ name }) => name);
    for (const name of names) scripted.takeStamps(name);
    scripted.world.edit({ size: 2 });
    await scripted.until('it is removed', () => scripted.voters().length === 2);
  },

  /** Its replacement is written down, and the operator that was to remove it has died. */
  async replacementIsWrittenDownOnly(scripted: ScriptedWorld) {
    const { world } = scripted;
    await scripted.create({ size: 3 });
    const { name } = scripted.follower();
    scripted.takePod(name);
    scripted.takeClaim(name);
    const replacements = () =>
      (world.resource?.['status'] as EtcdClusterStatus | undefined)?.replacements ?? [];
    await scripted.until('it is written down', () => replacements().length > 0);
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.edit({ paused: true });
    world.operator.begin();
    await scripted.pass(200);
    world.edit({ paused: false });
    await scripted.rest();
  },

  async sizeGoesUpAndDownAndUp(scripted: ScriptedWorld) {
    await grownAndShrunk(scripted);
    scripted.world.edit({ size: 2 });
    await scripted.rest();
  },

  async sizeGoesUpAgainWithoutStatus(scripted: ScriptedWorld) {
    await grownAndShrunk(scripted);
    // For as long as it is there it says its own name.
    const claims = () => scripted.world.kube.all('PersistentVolumeClaim').length;
    await scripted.until('the claim of the removed one is gone', () => claims() === 1);
    // Again and again: a pass that is under way writes down what it still knows.
    for (let tick = 0; tick < 50; tick += 1) {
      scripted.loseStatus();
      await scripted.pass(1);
    }
    await scripted.pass(100);
    await scripted.rest();
    scripted.world.edit({ size: 2 });
    await scripted.rest();
  },

  async nothingHappens(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.pass(A_WHILE);
  },

  /** A volume holds the data of another cluster, and only the member on it can be reached. */
  async volumeOfAnotherCluster(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const one = scripted.follower();
    for (const process of etcd.processes.values()) if (process !== one) etcd.set(process, { hidden: true });
    const row = scripted.voters().find(({ id }) => id === one.memberId);
    const members = { rows: row === undefined ? [] : [row], removed: new Set<string>() };
    const log = [{ term: 1, members, value: undefined }];
    const { name } = one.disk;
    etcd.stop(one.host);
    const other = {
      memberId: one.memberId,
      clusterId: 'another',
      term: 1,
      log,
      commit: 1,
      bootstrapped: members,
    };
    etcd.disks.set(name, { ...emptyDisk(name), ...other });
    await scripted.blockedBy('ClusterIdMismatch');
    await scripted.pass(A_WHILE);
  },
};
