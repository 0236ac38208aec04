/** Scenes about members that never become voters: see scenes.ts. */
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

/** A cluster of one that grows, and whose second member cannot start. */
async function stuckLearner(stage: Stage): Promise<void> {
  await stage.create({ size: 1 });
  stage.world.kubelet.stuck.add('example-1');
  stage.world.edit({ size: 2 });
  await stage.blockedBy('MembersNotStarting');
}

async function takenBack(stage: Stage): Promise<void> {
  await stage.until('the learner is taken back', () => stage.learner()?.name === undefined);
}

export const learnerScenes = {
  async learnerIsAborted(stage: Stage) {
    await stuckLearner(stage);
    stage.world.operator.aborted = {
      operation: 'scaleCluster',
      generation: stage.world.resource?.metadata.generation ?? 0,
      by: 'somebody',
    };
    stage.world.wake();
    await takenBack(stage);
    await stage.blockedBy('Aborted');
    stage.world.kubelet.stuck.clear();
    stage.world.operator.aborted = undefined;
    await stage.rest();
  },

  async learnerIsNotWanted(stage: Stage) {
    await stuckLearner(stage);
    stage.world.edit({ size: 1 });
    await takenBack(stage);
    await stage.rest();
  },

  async learnerMayDoBetterOtherwise(stage: Stage) {
    await stuckLearner(stage);
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await takenBack(stage);
    stage.world.kubelet.stuck.clear();
    await stage.rest();
  },

  async learnerIsGivenUp(stage: Stage) {
    await stuckLearner(stage);
    stage.skip(130);
    await stage.blockedBy('LearnerGivenUp');
    stage.world.kubelet.stuck.clear();
    stage.skip(610);
    await stage.rest();
  },

  async learnerNeverCatchesUp(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit({ size: 4 });
    await stage.about('promoteLearner');
    const learner = stage.process('example-3');
    if (learner !== undefined) stage.world.etcd.set(learner, { hidden: true });
    stage.skip(700);
    await stage.blockedBy('LearnerGivenUp');
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.rest();
  },

  /** It had begun to fill its volume: it is not started on another one. */
  async learnerLosesItsData(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    stage.takePod('example-1');
    stage.takeClaim('example-1');
    await stage.until('another one is there', () => stage.voters().some(({ name }) => name === 'example-2'));
    await stage.rest();
  },

  /** Its volume lies on a node that Kubernetes has forgotten: no pod can be placed there. Those of the voters can go anywhere. */
  async learnerLosesItsNode(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = false;
    await stage.create({ size: 3 });
    nodes.hasLocalVolumes = true;
    stage.world.edit({ size: 4 });
    await stage.about('promoteLearner');
    const node = nodeOf(stage.pod('example-3')) ?? '';
    stage.takePod('example-3');
    nodes.leave(node, stage.world.now);
    nodes.bury(node);
    await stage.until('another one is there', () => stage.voters().some(({ name }) => name === 'example-4'));
    await stage.rest();
  },

  async learnerLosesItsPodAndAllThatWasInIt(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.create({ size: 3 });
    stage.world.edit({ size: 4 });
    await stage.about('promoteLearner');
    const { disk } = stage.process('example-3') ?? stage.leader();
    stage.takePod('example-3');
    stage.world.etcd.destroy(disk.name);
    await stage.until('another one is there', () => stage.voters().some(({ name }) => name === 'example-4'));
    await stage.rest();
  },

  /** Its volume was emptied under it, and etcd says so. */
  async learnerFindsItsVolumeEmpty(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    const learner = stage.follower();
    stage.world.etcd.stop(learner.host);
    stage.world.etcd.destroy(learner.disk.name);
    await stage.until('another one is there', () => stage.voters().some(({ name }) => name === 'example-2'));
    await stage.rest();
  },

  async learnerWaitsForTheOthers(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit({ size: 4 });
    await stage.about('sealMembers');
    stage.world.etcd.set(stage.follower(), { hidden: true });
    await stage.blockedBy('MembersUnhealthy');
    for (const process of stage.world.etcd.processes.values())
      stage.world.etcd.set(process, { hidden: false });
    await stage.rest();
  },

  /** Leadership goes from one to the other while they are asked. */
  async leadersChangeWhileTheyAreAsked(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd } = stage.world;
    stage.world.edit({ size: 4 });
    await stage.until('they disagree', () => {
      const from = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
      const to = stage.voters().find(({ id }) => id !== from?.memberId);
      if (from !== undefined && to !== undefined)
        etcd
          .member(from.host)
          .moveLeader(to.id)
          .catch(() => undefined);
      return stage.world.decision.reason === 'LeaderUnclear';
    });
    await stage.rest();
  },

  /** Nobody knows who leads or votes: what was last seen of the learner counts. */
  async learnerIsThereWhenTheQuorumGoes(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    const { operator, calls } = stage.world;
    operator.end();
    for (const attempt of calls.attempts) calls.kill(attempt);
    stage.world.edit({ paused: true });
    operator.begin();
    await stage.pass(200);
    const leader = stage.leader();
    stage.world.etcd.set(leader, { frozen: true });
    await stage.pass(300);
    stage.world.etcd.set(leader, { frozen: false });
    stage.world.edit({ paused: false });
    await stage.rest();
  },

  async learnerIsEndingOnADeadNode(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ size: 2 });
    await stage.about('promoteLearner');
    const { nodes } = stage.world.kubelet;
    const pod = stage.pod('example-1');
    nodes.down.add(nodeOf(pod) ?? '');
    stage.world.etcd.set(stage.follower(), { frozen: true });
    stage.world.kube.delete('Pod', 'example-1');
    await stage.blockedBy('PodTerminating');
    nodes.down.clear();
    await stage.rest();
  },
};
