/** Scenes about who is a member: see scenes.ts. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { nodeOf } from './sim-nodes.ts';
import { emptyDisk } from './sim-raft.ts';
import type { Stage } from './stage.ts';

/** Long enough for everything that a guard would have let through. */
const A_WHILE = 500;

/** etcd counts a member as connected after five seconds only. */
async function connected(stage: Stage): Promise<void> {
  const since = stage.world.now;
  await stage.until('all members are connected', () => stage.world.now > since + 6_000);
}

/** One member, after there were two. */
async function grownAndShrunk(stage: Stage): Promise<void> {
  await stage.create({ size: 1 });
  for (const size of [2, 1]) {
    stage.world.edit({ size });
    await stage.rest();
  }
}

export const membershipScenes = {
  /** etcd lets a member be added while one of five is away, and would promote it, too. */
  async grownWhileOneIsAway(stage: Stage) {
    stage.world.etcd.strict = false;
    await stage.create({ size: 5 });
    await connected(stage);
    stage.world.etcd.set(stage.follower(), { frozen: true });
    stage.world.edit({ size: 6 });
    await stage.pass(2 * A_WHILE);
  },

  async shrunkToOne(stage: Stage) {
    await stage.create({ size: 2 });
    stage.world.edit({ size: 1 });
    await stage.rest();
  },

  async grownWhileOneRaisesAnAlarm(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.etcd.set(stage.follower(), { alarm: 'NOSPACE' });
    stage.world.edit({ size: 4 });
    await stage.pass(A_WHILE);
  },

  /** Kubernetes has forgotten a node on which etcd still runs: it is one of the two that make the quorum. */
  async forgottenNodeStillVotes(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = true;
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 0 } });
    const [forgotten, frozen] = [stage.follower(0), stage.follower(1)];
    const pod = stage.pod(forgotten.name);
    stage.world.kube.remove(pod);
    stage.world.etcd.set(frozen, { frozen: true });
    nodes.leave(nodeOf(pod) ?? '', stage.world.now);
    await stage.pass(A_WHILE);
  },

  async strangerIsAdded(stage: Stage) {
    stage.world.etcd.strict = false;
    await stage.create({ size: 3 });
    await connected(stage);
    stage.world.etcd.addByHand(stage.leader(), 'http://stranger.elsewhere:2380', true);
    await stage.pass(A_WHILE);
  },

  /** It counts for the quorum, and nobody knows how it is. */
  async voterIsAddedByHand(stage: Stage) {
    stage.world.etcd.strict = false;
    await stage.create({ size: 3 });
    await connected(stage);
    const { etcd } = stage.world;
    const stranger = etcd.addByHand(stage.leader(), 'http://stranger.elsewhere:2380', false);
    const isTold = () =>
      stage
        .conditions()
        .some(({ type, message }) => type === 'QuorumAtRisk' && message.includes('was added manually'));
    stage.skip(60);
    await stage.until('it is told that no margin is left', isTold);
    await stage.pass(A_WHILE);
    etcd.removeByHand(stage.leader(), stranger);
    stage.world.wake();
    await stage.rest();
  },

  async learnerIsFarBehind(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    const { etcd } = stage.world;
    const learner = stage.follower();
    etcd.set(learner, { frozen: true });
    for (let write = 0; write < 100; write += 1) etcd.write();
    etcd.set(learner, { frozen: false });
    for (let tick = 0; tick < A_WHILE; tick += 1) {
      for (let write = 0; write < 10; write += 1) etcd.write();
      await stage.pass(1);
    }
  },

  /** A learner that hears nothing any more goes on naming the leader that it last heard of. */
  async learnerNamesAFormerLeader(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.isQuiet = true;
    stage.world.edit({ size: 4 });
    await stage.about('promoteLearner');
    const learner = stage.process('example-3');
    const [from, to] = [stage.leader(), stage.voters().find(({ id }) => id !== stage.leader().memberId)];
    if (learner !== undefined) stage.world.etcd.set(learner, { zone: 1 });
    await stage.world.etcd.member(from.host).moveLeader(to?.id ?? '');
    await stage.pass(A_WHILE);
  },

  /** Nobody writes, so that the learner lacks nothing; as a voter it would take the quorum away. */
  async learnerIsCutOff(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.isQuiet = true;
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    stage.world.etcd.set(stage.follower(), { zone: 1 });
    await stage.pass(A_WHILE);
  },

  /** Its pod is stopped first; then people do not want it removed, or the removal fails. */
  async removalIsAborted(stage: Stage) {
    const { world } = stage;
    await stage.create({ size: 3 });
    world.edit({ size: 2 });
    await stage.about('removeMember');
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    const generation = world.resource?.metadata.generation ?? 0;
    world.operator.aborted = { operation: 'scaleCluster', generation, by: 'somebody' };
    await stage.pass(600);
    world.operator.aborted = undefined;
    world.operator.failed = { operation: 'scaleCluster', message: 'simulated', retryAt: world.now + 30_000 };
    await stage.rest();
  },

  async removalFails(stage: Stage) {
    const { world } = stage;
    await stage.create({ size: 5 });
    world.edit({ size: 3 });
    await stage.about('removeMember');
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.operator.failed = { operation: 'scaleCluster', message: 'simulated', retryAt: world.now + 60_000 };
    world.operator.resume();
    await stage.until('it is started again', () => world.kube.all('Pod').length === 5);
    await stage.rest();
  },

  /** Only claims are left of the last one that went, and the next one does not go. */
  async nextRemovalIsHeldUp(stage: Stage) {
    const { world } = stage;
    await stage.create({ size: 3 });
    world.edit({ size: 2 });
    await stage.about('retireMember');
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.edit({ size: 1 });
    const generation = world.resource?.metadata.generation ?? 0;
    world.operator.aborted = { operation: 'scaleCluster', generation, by: 'somebody' };
    world.operator.resume();
    await stage.blockedBy('Aborted');
    world.operator.aborted = undefined;
    world.wake();
    await stage.rest();
  },

  /** Another one still answers, and is about to go. */
  async anotherIsEnding(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube, kubelet } = stage.world;
    const { name } = stage.leader();
    kubelet.nodes.down.add(nodeOf(stage.pod(name)) ?? '');
    kube.delete('Pod', name);
    stage.world.edit({ size: 2 });
    await stage.blockedBy('PodTerminating');
    kubelet.nodes.down.clear();
    await stage.rest();
  },

  /** Its kubelet does not answer and its etcd goes on: it is removed all the same. */
  async stopDoesNotCome(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube, kubelet } = stage.world;
    const { name } = stage.follower();
    kubelet.nodes.down.add(nodeOf(stage.pod(name)) ?? '');
    kube.delete('Pod', name);
    stage.world.edit({ size: 2 });
    await stage.until('it is removed', () => stage.voters().every(row => row.name !== name));
    kubelet.nodes.down.clear();
    await stage.rest();
  },

  /** Its volume goes with its pod: it is not stopped before it is removed. */
  async doomedMemberIsNotWanted(stage: Stage) {
    await stage.create({ size: 5 });
    const { kube } = stage.world;
    for (const { name } of stage.voters()) kube.delete('PersistentVolumeClaim', name);
    stage.world.edit({ size: 3 });
    await stage.pass(1_500);
    await stage.rest();
  },

  /** Its claim does not say whose it is: it could not be started again, and is removed while it runs. */
  async claimsOfTheLeavingLostTheirStamps(stage: Stage) {
    await stage.create({ size: 3 });
    const names = stage.voters().map(({ name }) => name);
    for (const name of names) stage.takeStamps(name);
    stage.world.edit({ size: 2 });
    await stage.until('it is removed', () => stage.voters().length === 2);
  },

  /** Its replacement is written down, and whoever was to remove it has died. */
  async replacementIsWrittenDownOnly(stage: Stage) {
    const { world } = stage;
    await stage.create({ size: 3 });
    const { name } = stage.follower();
    stage.takePod(name);
    stage.takeClaim(name);
    const replacements = () =>
      (world.resource?.['status'] as EtcdClusterStatus | undefined)?.replacements ?? [];
    await stage.until('it is written down', () => replacements().length > 0);
    world.operator.end();
    for (const attempt of world.calls.attempts) world.calls.kill(attempt);
    world.edit({ paused: true });
    world.operator.begin();
    await stage.pass(200);
    world.edit({ paused: false });
    await stage.rest();
  },

  async sizeGoesUpAndDownAndUp(stage: Stage) {
    await grownAndShrunk(stage);
    stage.world.edit({ size: 2 });
    await stage.rest();
  },

  async sizeGoesUpAgainWithoutStatus(stage: Stage) {
    await grownAndShrunk(stage);
    // For as long as it is there it tells its own name.
    const claims = () => stage.world.kube.all('PersistentVolumeClaim').length;
    await stage.until('the claim of the removed one is gone', () => claims() === 1);
    // Again and again: a pass that is under way writes down what it still knows.
    for (let tick = 0; tick < 50; tick += 1) {
      stage.loseStatus();
      await stage.pass(1);
    }
    await stage.pass(100);
    await stage.rest();
    stage.world.edit({ size: 2 });
    await stage.rest();
  },

  async nothingHappens(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.pass(A_WHILE);
  },

  /** A volume holds the data of another cluster, and only the member on it can be reached. */
  async volumeOfAnotherCluster(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd } = stage.world;
    const one = stage.follower();
    for (const process of etcd.processes.values()) if (process !== one) etcd.set(process, { hidden: true });
    const row = stage.voters().find(({ id }) => id === one.memberId);
    const members = { rows: row === undefined ? [] : [row], removed: new Set<string>() };
    const log = [{ term: 1, members, value: undefined }];
    const { name } = one.disk;
    etcd.stop(one.host);
    const other = { memberId: one.memberId, clusterId: 'another', term: 1, log, commit: 1, told: members };
    etcd.disks.set(name, { ...emptyDisk(name), ...other });
    await stage.blockedBy('ClusterIdMismatch');
    await stage.pass(A_WHILE);
  },
};
