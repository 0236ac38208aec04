/** Scenes about what people ask for, allow and stop: see scenes.ts. */
import { ANNOTATION_DOMAIN } from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

export const peopleScenes = {
  async everyMemberIsRestarted(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.ask('restart', '');
    await stage.answered();
    await stage.rest();
  },

  async leadershipIsAskedFor(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.ask('moveLeader', stage.leader().name);
    await stage.answered();
    const { name } = stage.follower();
    await stage.ask('moveLeader', name);
    await stage.answered();
    await stage.until(`${name} leads`, () => stage.leader().name === name);
  },

  /** Who cannot be asked cannot lead; who falls ill later is waited for; who is gone is no member any more. */
  async leadershipIsAskedForInVain(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd } = stage.world;
    const [one, other] = [stage.follower(0), stage.follower(1)];
    etcd.set(one, { hidden: true });
    await stage.pass(100);
    await stage.ask('moveLeader', one.name);
    await stage.answered();
    etcd.set(one, { hidden: false });
    await stage.rest();
    stage.world.operator.ask('moveLeader', one.name);
    await stage.until('it is accepted', () => stage.world.operator.requests[0]?.ids !== undefined);
    etcd.set(other, { hidden: true });
    await stage.blockedBy('MembersUnhealthy');
    const since = stage.world.now;
    await stage.until('all are connected', () => stage.world.now > since + 6_000);
    etcd.removeByHand(stage.leader(), one.memberId);
    await stage.answered();
    etcd.set(other, { hidden: false });
    // Whoever removes a member deletes its pod, or waits for as long as a lost member is waited for.
    stage.world.kube.delete('Pod', one.name);
    await stage.rest();
  },

  async requestsAreRefused(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.ask('replaceMember', '');
    await stage.ask('replaceMember', 'nobody');
    const { etcd, kubelet, operator } = stage.world;
    const { name } = stage.follower();
    operator.end();
    await stage.pass(200);
    kubelet.stuck.add(name);
    stage.takePod(name);
    stage.world.edit({ paused: true });
    operator.begin();
    operator.ask('restart', name);
    await stage.answered();
    stage.world.edit({ paused: false });
    // One whose pod hangs is restarted without the gates, which would wait for it.
    etcd.set(stage.follower(0), { frozen: true });
    await stage.ask('restart', stage.follower(0).name);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: true });
    await stage.pass(100);
    await stage.ask('restart', name);
    await stage.answered();
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    kubelet.stuck.clear();
    kubelet.nodes.down.clear();
    await stage.rest();
  },

  /** Who is to hand over cannot be asked. */
  async leadershipCannotBeHandedOver(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd, operator } = stage.world;
    const leader = stage.leader();
    operator.ask('moveLeader', stage.follower().name);
    await stage.until('it is accepted', () => operator.requests[0]?.ids !== undefined);
    etcd.set(leader, { hidden: true });
    await stage.blockedBy('MembersUnhealthy');
    etcd.set(leader, { hidden: false });
    await stage.answered();
    await stage.rest();
  },

  /** A pod hangs, and the others do without it already. */
  async restartOfAMemberThatHangs(stage: Stage) {
    await stage.create({ size: 3 });
    const hanging = stage.follower();
    stage.world.etcd.set(hanging, { frozen: true });
    await stage.pass(200);
    await stage.ask('restart', hanging.name);
    await stage.answered();
    await stage.rest();
  },

  async requestsOfASleeper(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.ask('replaceMember', 'example-1');
    stage.world.edit({ hibernated: true });
    await stage.until('it sleeps', () => stage.world.kube.all('Pod').length === 0);
    await stage.ask('restart', 'example-0');
    stage.world.edit({ hibernated: false });
    await stage.answered();
    await stage.rest();
  },

  async requestsOfALearnerAndAStranger(stage: Stage) {
    stage.world.etcd.strict = false;
    await stage.create({ size: 1 });
    stage.world.kubelet.stuck.add('example-1');
    stage.world.edit({ size: 2 });
    await stage.until('there is a learner', () => stage.learner() !== undefined);
    await stage.ask('replaceMember', 'example-1');
    stage.world.kubelet.stuck.clear();
    await stage.rest();
    // etcd counts a member as connected after five seconds.
    stage.skip(6);
    stage.world.etcd.addByHand(stage.leader(), 'http://stranger.elsewhere:2380', true);
    await stage.ask('replaceMember', 'http://stranger.elsewhere:2380');
    await stage.ask('replaceMember', 'example-0');
    await stage.blockedBy('ForeignMember');
    const stranger = stage.learner();
    stage.world.etcd.removeByHand(stage.leader(), stranger?.id ?? '');
    await stage.answered();
    await stage.rest();
  },

  async requestsOfTheDying(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.operator.ask('replaceMember', 'example-0');
    await stage.until('it is accepted', () => stage.world.operator.requests[0]?.ids !== undefined);
    stage.world.operator.ask('restart', 'example-1');
    stage.world.kube.delete('EtcdCluster', 'example');
    await stage.until('it is gone', () => stage.world.operator.gone);
  },

  /** Members that keep their data in their pods: none is restarted, one whose pod goes is replaced. */
  async podsAreTheData(stage: Stage) {
    stage.remake({ isEphemeral: true });
    await stage.create({ size: 3 });
    await stage.ask('restart', 'example-0');
    await stage.answered();
    stage.world.edit({ etcd: { snapshotCount: 9_000 } });
    await stage.blockedBy('EphemeralMembers');
    stage.world.kube.merge('EtcdCluster', 'example', {
      spec: { etcd: { snapshotCount: 0 }, hibernated: true },
    });
    await stage.blockedBy('HibernationRefused');
    stage.world.edit({ hibernated: false });
    const { name, disk } = stage.follower();
    stage.takePod(name);
    stage.world.etcd.destroy(disk.name);
    await stage.until('it is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.rest();
  },

  /** It does not answer, and nothing proves that its data is lost: a person has to say that it may go. */
  async replacementOfTheUnproved(stage: Stage) {
    await stage.create({ size: 3 });
    const { etcd, operator } = stage.world;
    const { name } = stage.follower();
    const other = stage.follower(1);
    etcd.set(stage.follower(), { frozen: true });
    await stage.pass(100);
    etcd.set(other, { hidden: true });
    operator.ask('replaceMember', name);
    await stage.blockedBy('QuorumAtRisk');
    etcd.set(other, { hidden: false });
    await stage.approve();
    await stage.until('it is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.answered();
    await stage.rest();
  },

  /** More members are lost than are to be replaced within the hour. */
  async replacementsAreSpent(stage: Stage) {
    await stage.create({ size: 3, repair: { maxReplacementsPerHour: 0 } });
    const { name } = stage.follower();
    stage.takePod(name);
    stage.takeClaim(name);
    await stage.blockedBy('ReplacementBudget');
    await stage.approve();
    await stage.until('it is replaced', () => stage.voters().every(row => row.name !== name));
    await stage.rest();
  },

  /** Its node is gone, and people do not wait for it. */
  async replacementIsNotWaitedFor(stage: Stage) {
    const { nodes } = stage.world.kubelet;
    nodes.hasLocalVolumes = true;
    await stage.create({ size: 3, repair: { replaceAfterSeconds: 86_400 } });
    const { name, memberId } = stage.follower();
    const node = nodeOf(stage.pod(name)) ?? '';
    stage.takePod(name);
    nodes.leave(node, stage.world.now);
    await stage.blockedBy('WaitingForMember');
    stage.world.invariants.truth.named.add(memberId);
    await stage.ask('replaceMember', name);
    await stage.answered();
    await stage.rest();
  },

  async stoppedForAReason(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.operator.paused = { by: 'somebody', reason: 'a look' };
    stage.world.edit({ size: 4 });
    await stage.blockedBy('Paused');
    stage.world.operator.paused = {};
    await stage.pass(100);
    stage.world.operator.paused = undefined;
    stage.world.edit({ paused: true });
    await stage.pass(100);
    stage.world.edit({ paused: false });
    await stage.rest();
  },

  /** The domain was changed where only the CRDs of earlier releases let it, and the status is lost with what the members had. */
  async domainIsForgotten(stage: Stage) {
    await stage.create({ size: 3 });
    const { world } = stage;
    const ask = (ClusterDomain: string | null) => world.edit({ pod: { ClusterDomain } } as EtcdClusterSpec);
    const stamp = (text: string | null) =>
      world.kube.merge('EtcdCluster', CLUSTER, { metadata: { annotations: { [ANNOTATION_DOMAIN]: text } } });
    const recorded = () => (world.resource?.['status'] as EtcdClusterStatus | undefined)?.incarnation;
    const nothingIsRecorded = async () => {
      stage.loseStatus();
      await stage.until('it is recorded, or said why not', () => {
        if (recorded() !== undefined) throw new Breach('a domain that nothing proves was recorded');
        return world.decision.reason === 'DomainChanged';
      });
    };
    ask('.other.example');
    stage.loseStatus();
    await stage.until(
      'it is recorded as before',
      () => recorded()?.members[0]?.peerURL.endsWith('.svc:2380') === true,
    );
    stamp(null);
    await nothingIsRecorded();
    ask(null);
    await stage.rest();
    stamp(`${world.resource?.metadata.uid} svc.other.example`);
    await nothingIsRecorded();
    stamp(null);
    await stage.rest();
    world.edit({ hibernated: true });
    await stage.until(
      'it sleeps',
      () => world.kube.all('Pod').length === 0 && world.decision.kind === 'idle',
    );
    ask('.other.example');
    await nothingIsRecorded();
    ask(null);
    world.edit({ hibernated: false });
    await stage.rest();
  },
};
