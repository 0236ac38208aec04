/** Scenes about who is a member: see scenes.ts. */
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

  async sizeGoesUpAndDownAndUp(stage: Stage) {
    await grownAndShrunk(stage);
    stage.world.edit({ size: 2 });
    await stage.rest();
  },

  async sizeGoesUpAgainWithoutStatus(stage: Stage) {
    await grownAndShrunk(stage);
    // Again and again: a pass that is under way writes down what it still knows.
    for (let tick = 0; tick < 50; tick += 1) {
      const { resource } = stage.world;
      if (resource !== undefined) stage.world.kube.change(resource, { status: {} });
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
    await stage.pass(A_WHILE);
  },
};
