/** Scenarios about members that never become voters: see scenarios.ts. */
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** A cluster of one that grows, and whose second member cannot start. */
async function stuckLearner(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 1 });
  scripted.world.kubelet.stuck.add('example-1');
  scripted.world.edit({ size: 2 });
  await scripted.blockedBy('MembersNotStarting');
}

async function takenBack(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('the learner is taken back', () => scripted.learner()?.name === undefined);
}

export const learnerScenarios = {
  async learnerIsAborted(scripted: ScriptedWorld) {
    await stuckLearner(scripted);
    scripted.world.operator.aborted = {
      operation: 'scaleCluster',
      generation: scripted.world.resource?.metadata.generation ?? 0,
      by: 'somebody',
    };
    scripted.world.wake();
    await takenBack(scripted);
    await scripted.blockedBy('Aborted');
    scripted.world.kubelet.stuck.clear();
    scripted.world.operator.aborted = undefined;
    await scripted.rest();
  },

  async learnerIsNotWanted(scripted: ScriptedWorld) {
    await stuckLearner(scripted);
    scripted.world.edit({ size: 1 });
    await takenBack(scripted);
    await scripted.rest();
  },

  async learnerMayDoBetterOtherwise(scripted: ScriptedWorld) {
    await stuckLearner(scripted);
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await takenBack(scripted);
    scripted.world.kubelet.stuck.clear();
    await scripted.rest();
  },

  async learnerIsGivenUp(scripted: ScriptedWorld) {
    await stuckLearner(scripted);
    scripted.skip(130);
    await scripted.blockedBy('LearnerGivenUp');
    scripted.world.kubelet.stuck.clear();
    scripted.skip(610);
    await scripted.rest();
  },

  async learnerNeverCatchesUp(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ size: 4 });
    await scripted.about('promoteLearner');
    const learner = scripted.process('example-3');
    if (learner !== undefined) scripted.world.etcd.set(learner, { hidden: true });
    scripted.skip(700);
    await scripted.blockedBy('LearnerGivenUp');
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.rest();
  },

  /** A large database comes in for longer than any patience. */
  async learnerReceivesForLong(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ size: 4 });
    await scripted.about('promoteLearner');
    const learner = scripted.process('example-3');
    if (learner === undefined) throw new Error('there is no learner');
    const { etcd } = scripted.world;
    etcd.set(learner, { hidden: true, receiving: true });
    for (let minute = 0; minute < 30; minute += 5) {
      scripted.skip(300);
      await scripted.pass(100);
    }
    if (scripted.learner()?.name !== 'example-3') throw new Error('it was removed while it received');
    etcd.set(learner, { hidden: false, receiving: false });
    await scripted.rest();
  },

  /** It had begun to fill its volume: it is not started on another one. */
  async learnerLosesItsData(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    scripted.takePod('example-1');
    scripted.takeClaim('example-1');
    await scripted.until('another one is there', () =>
      scripted.voters().some(({ name }) => name === 'example-2'),
    );
    await scripted.rest();
  },

  /** Its volume lies on a node that Kubernetes has forgotten: no pod can be placed there. Those of the voters can go anywhere. */
  async learnerLosesItsNode(scripted: ScriptedWorld) {
    const { nodes } = scripted.world.kubelet;
    nodes.hasLocalVolumes = false;
    await scripted.create({ size: 3 });
    nodes.hasLocalVolumes = true;
    scripted.world.edit({ size: 4 });
    await scripted.about('promoteLearner');
    const node = nodeOf(scripted.pod('example-3')) ?? '';
    scripted.takePod('example-3');
    nodes.leave(node, scripted.world.now);
    nodes.bury(node);
    await scripted.until('another one is there', () =>
      scripted.voters().some(({ name }) => name === 'example-4'),
    );
    await scripted.rest();
  },

  async learnerLosesItsPodAndAllThatWasInIt(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.create({ size: 3 });
    scripted.world.edit({ size: 4 });
    await scripted.about('promoteLearner');
    const { disk } = scripted.process('example-3') ?? scripted.leader();
    scripted.takePod('example-3');
    scripted.world.etcd.destroy(disk.name);
    await scripted.until('another one is there', () =>
      scripted.voters().some(({ name }) => name === 'example-4'),
    );
    await scripted.rest();
  },

  /** Its volume was emptied under it, and etcd says so. */
  async learnerFindsItsVolumeEmpty(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    const learner = scripted.follower();
    scripted.world.etcd.stop(learner.host);
    scripted.world.etcd.destroy(learner.disk.name);
    await scripted.until('another one is there', () =>
      scripted.voters().some(({ name }) => name === 'example-2'),
    );
    await scripted.rest();
  },

  async learnerWaitsForTheOthers(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ size: 4 });
    await scripted.about('sealMembers');
    scripted.world.etcd.set(scripted.follower(), { hidden: true });
    await scripted.blockedBy('MembersUnhealthy');
    for (const process of scripted.world.etcd.processes.values())
      scripted.world.etcd.set(process, { hidden: false });
    await scripted.rest();
  },

  /** Leadership goes from one to the other while they are asked. */
  async leadersChangeWhileTheyAreAsked(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    scripted.world.edit({ size: 4 });
    await scripted.until('they disagree', () => {
      const from = [...etcd.processes.values()].find(({ isLeader }) => isLeader);
      const to = scripted.voters().find(({ id }) => id !== from?.memberId);
      if (from !== undefined && to !== undefined)
        etcd
          .member(from.host)
          .moveLeader(to.id)
          .catch(() => undefined);
      return scripted.world.decision.reason === 'LeaderUnclear';
    });
    await scripted.rest();
  },

  /** Nobody knows who leads or votes: what was last seen of the learner counts. */
  async learnerIsThereWhenTheQuorumGoes(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    const { operator, calls } = scripted.world;
    operator.end();
    for (const attempt of calls.attempts) calls.kill(attempt);
    scripted.world.edit({ paused: true });
    operator.begin();
    await scripted.pass(200);
    const leader = scripted.leader();
    scripted.world.etcd.set(leader, { frozen: true });
    await scripted.pass(300);
    scripted.world.etcd.set(leader, { frozen: false });
    scripted.world.edit({ paused: false });
    await scripted.rest();
  },

  async learnerIsEndingOnADeadNode(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 2 });
    await scripted.about('promoteLearner');
    const { nodes } = scripted.world.kubelet;
    const pod = scripted.pod('example-1');
    nodes.down.add(nodeOf(pod) ?? '');
    scripted.world.etcd.set(scripted.follower(), { frozen: true });
    scripted.world.kube.delete('Pod', 'example-1');
    await scripted.blockedBy('PodTerminating');
    nodes.down.clear();
    await scripted.rest();
  },
};
