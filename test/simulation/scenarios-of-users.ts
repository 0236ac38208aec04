/** Scenarios about what users ask for, allow and stop: see scenarios.ts. */
import { ANNOTATION_DOMAIN } from '../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { Breach, CLUSTER } from './invariants.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** Ticks in which nothing may happen. */
const A_WHILE = 500;

export const userScenarios = {
  async everyMemberIsRestarted(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.ask('restart', '');
    await scripted.answered();
    await scripted.rest();
  },

  /** Requested of all, by schedule, and near the quota; a member that falls ill in between is waited for. */
  async membersAreDefragmented(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const fragment = () => {
      for (const { disk } of etcd.processes.values())
        Object.assign(disk, { bytes: 1_900_000_000, free: 1_500_000_000 });
    };
    const areDone = () => [...etcd.processes.values()].every(({ disk }) => disk.free === 0);
    fragment();
    await scripted.ask('defragment', scripted.follower().name);
    await scripted.answered();
    await scripted.ask('defragment', '');
    await scripted.until('one is done', () =>
      [...etcd.processes.values()].some(({ disk }) => disk.free === 0),
    );
    const ill = [...etcd.processes.values()].find(({ disk }) => disk.free > 0);
    if (ill !== undefined) etcd.set(ill, { hidden: true });
    await scripted.pass(60_000);
    if (ill !== undefined) etcd.set(ill, { hidden: false });
    await scripted.answered();
    await scripted.until('all are done', areDone);
    await scripted.rest();
    fragment();
    scripted.world.edit({ maintenance: { defragment: { schedule: '*/5 * * * *' } } });
    await scripted.pass(400_000);
    await scripted.until('all are done by schedule', areDone);
    await scripted.rest();
  },

  /** Requested, and near the quota: one that ends over it is left alone for an hour, and so are the others. */
  async defragmentationEndsItsMember(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const processes = () => [...etcd.processes.values()];
    for (const { disk, quota } of processes())
      Object.assign(disk, { bytes: 0.9 * quota, free: 0.6 * quota, filledAt: scripted.world.ticks });
    let ended = 0;
    etcd.endsOverDefragmentation = () => {
      ended += 1;
      return true;
    };
    await scripted.ask('defragment', scripted.follower().name);
    await scripted.answered();
    await scripted.rest();
    scripted.world.edit({ maintenance: { defragment: {} } });
    await scripted.blockedBy('DefragmentationInterrupted');
    await scripted.ask('defragment', '');
    await scripted.answered();
    await scripted.pass(A_WHILE);
    if (ended > 1) throw new Breach(`members were ended ${ended} times by their defragmentation`);
    etcd.endsOverDefragmentation = () => false;
    scripted.skip(3_600);
    await scripted.until('all are done', () => processes().every(({ disk }) => disk.free === 0));
    await scripted.rest();
  },

  /** Aborted when the first member is done: what it leaves open is closed, and it is recorded as what it was. */
  async defragmentationIsAborted(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const processes = [...scripted.world.etcd.processes.values()];
    for (const { disk } of processes) Object.assign(disk, { bytes: 1_900_000_000, free: 1_500_000_000 });
    await scripted.ask('defragment', '');
    await scripted.until('one is done', () => processes.some(({ disk }) => disk.free === 0));
    scripted.world.operator.abort = true;
    await scripted.until('it is recorded as aborted', () => {
      const { lastOperation } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
      return lastOperation?.type === 'defragmentMembers' && lastOperation.outcome === 'Aborted';
    });
    await scripted.rest();
  },

  async leadershipIsAskedFor(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.ask('moveLeader', scripted.leader().name);
    await scripted.answered();
    const { name } = scripted.follower();
    await scripted.ask('moveLeader', name);
    await scripted.answered();
    await scripted.until(`${name} leads`, () => scripted.leader().name === name);
  },

  /** Who cannot be asked cannot lead; who falls ill later is waited for; who is gone is no member any more. */
  async leadershipIsAskedForInVain(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd } = scripted.world;
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    etcd.set(one, { hidden: true });
    await scripted.pass(100);
    await scripted.ask('moveLeader', one.name);
    await scripted.answered();
    etcd.set(one, { hidden: false });
    await scripted.rest();
    scripted.world.operator.ask('moveLeader', one.name);
    await scripted.until('it is accepted', () => scripted.world.operator.requests[0]?.ids !== undefined);
    etcd.set(other, { hidden: true });
    await scripted.blockedBy('MembersUnhealthy');
    const since = scripted.world.now;
    await scripted.until('all are connected', () => scripted.world.now > since + 6_000);
    etcd.removeByHand(scripted.leader(), one.memberId);
    await scripted.answered();
    etcd.set(other, { hidden: false });
    // The removal of a member deletes its pod, or waits for as long as a lost member is waited for.
    scripted.world.kube.delete('Pod', one.name);
    await scripted.rest();
  },

  async requestsAreRefused(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.ask('replaceMember', '');
    await scripted.ask('replaceMember', 'nobody');
    const { etcd, kubelet, operator } = scripted.world;
    const { name } = scripted.follower();
    operator.end();
    await scripted.pass(200);
    kubelet.stuck.add(name);
    scripted.takePod(name);
    scripted.world.edit({ paused: true });
    operator.begin();
    operator.ask('restart', name);
    await scripted.answered();
    scripted.world.edit({ paused: false });
    // One whose pod hangs is restarted without the gates, which would wait for it.
    etcd.set(scripted.follower(0), { frozen: true });
    await scripted.ask('restart', scripted.follower(0).name);
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: true });
    await scripted.pass(100);
    await scripted.ask('restart', name);
    await scripted.answered();
    for (const process of etcd.processes.values()) etcd.set(process, { frozen: false });
    kubelet.stuck.clear();
    kubelet.nodes.down.clear();
    await scripted.rest();
  },

  /** Who is to hand over cannot be asked. */
  async leadershipCannotBeHandedOver(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd, operator } = scripted.world;
    const leader = scripted.leader();
    operator.ask('moveLeader', scripted.follower().name);
    await scripted.until('it is accepted', () => operator.requests[0]?.ids !== undefined);
    etcd.set(leader, { hidden: true });
    await scripted.blockedBy('MembersUnhealthy');
    etcd.set(leader, { hidden: false });
    await scripted.answered();
    await scripted.rest();
  },

  /** A pod hangs, and the others do without it already. */
  async restartOfAMemberThatHangs(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const hanging = scripted.follower();
    scripted.world.etcd.set(hanging, { frozen: true });
    await scripted.pass(200);
    await scripted.ask('restart', hanging.name);
    await scripted.answered();
    await scripted.rest();
  },

  /** Two of seven are cut off from the others, and somebody asks for the restart of one of them. */
  async restartOfAMemberThatIsCutOff(scripted: ScriptedWorld) {
    const { etcd } = scripted.world;
    await scripted.create({ size: 7 });
    const [one, other] = [scripted.follower(0), scripted.follower(1)];
    // Their pods are not such as have only just been made, which are waited for.
    scripted.skip(400);
    etcd.set(one, { zone: 1 });
    etcd.set(other, { zone: 2 });
    await scripted.pass(200);
    await scripted.ask('restart', one.name);
    await scripted.until('it has another pod', () => etcd.processes.get(one.host) !== one);
    etcd.set(other, { zone: 0 });
    await scripted.answered();
    await scripted.rest();
  },

  /** Somebody has put a Service of their own where that of the members was: nobody is started until it is gone. */
  async sleeperIsWokenWithoutItsName(scripted: ScriptedWorld) {
    const { world } = scripted;
    await scripted.create({ size: 1 });
    world.edit({ hibernated: true });
    await scripted.until('it sleeps', () => world.kube.all('Pod').length === 0);
    scripted.takeName('Service', CLUSTER);
    await scripted.blockedBy('NameTaken');
    world.edit({ hibernated: false });
    await scripted.pass(200);
    if (world.kube.all('Pod').length > 0) throw new Breach('a member was started without its Service');
    world.kube.delete('Service', CLUSTER);
    world.wake();
    await scripted.rest();
  },

  async requestsOfASleeper(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.ask('replaceMember', 'example-1');
    scripted.world.edit({ hibernated: true });
    await scripted.until('it sleeps', () => scripted.world.kube.all('Pod').length === 0);
    await scripted.ask('restart', 'example-0');
    scripted.world.edit({ hibernated: false });
    await scripted.answered();
    await scripted.rest();
  },

  async requestsOfALearnerAndAStranger(scripted: ScriptedWorld) {
    scripted.world.etcd.strict = false;
    await scripted.create({ size: 1 });
    scripted.world.kubelet.stuck.add('example-1');
    scripted.world.edit({ size: 2 });
    await scripted.until('there is a learner', () => scripted.learner() !== undefined);
    await scripted.ask('replaceMember', 'example-1');
    scripted.world.kubelet.stuck.clear();
    await scripted.rest();
    // etcd counts a member as connected after five seconds.
    scripted.skip(6);
    scripted.world.etcd.addByHand(scripted.leader(), 'http://stranger.elsewhere:2380', true);
    await scripted.ask('replaceMember', 'http://stranger.elsewhere:2380');
    await scripted.ask('replaceMember', 'example-0');
    await scripted.blockedBy('ForeignMember');
    const stranger = scripted.learner();
    scripted.world.etcd.removeByHand(scripted.leader(), stranger?.id ?? '');
    await scripted.answered();
    await scripted.rest();
  },

  async requestsOfTheDying(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.operator.ask('replaceMember', 'example-0');
    await scripted.until('it is accepted', () => scripted.world.operator.requests[0]?.ids !== undefined);
    scripted.world.operator.ask('restart', 'example-1');
    scripted.world.kube.delete('EtcdCluster', 'example');
    await scripted.until('it is gone', () => scripted.world.operator.gone);
  },

  /** Members that keep their data in their pods: none is restarted, one whose pod goes is replaced. */
  async podsAreTheData(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.create({ size: 3 });
    await scripted.ask('restart', 'example-0');
    await scripted.answered();
    scripted.world.edit({ etcd: { snapshotCount: 9_000 } });
    await scripted.blockedBy('EphemeralMembers');
    scripted.world.kube.merge('EtcdCluster', 'example', {
      spec: { etcd: { snapshotCount: 0 }, hibernated: true },
    });
    await scripted.blockedBy('HibernationRefused');
    scripted.world.edit({ hibernated: false });
    const { name, disk } = scripted.follower();
    scripted.takePod(name);
    scripted.world.etcd.destroy(disk.name);
    await scripted.until('it is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.rest();
  },

  /** It does not answer, and nothing proves that its data is lost: a person has to say that it may go. */
  async replacementOfTheUnproved(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { etcd, operator } = scripted.world;
    const { name } = scripted.follower();
    const other = scripted.follower(1);
    etcd.set(scripted.follower(), { frozen: true });
    await scripted.pass(100);
    etcd.set(other, { hidden: true });
    operator.ask('replaceMember', name);
    await scripted.blockedBy('QuorumAtRisk');
    etcd.set(other, { hidden: false });
    await scripted.approve();
    await scripted.until('it is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.answered();
    await scripted.rest();
  },

  /** More members are lost than are to be replaced within the hour. */
  async replacementsAreSpent(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, repair: { maxReplacementsPerHour: 0 } });
    const { name } = scripted.follower();
    scripted.takePod(name);
    scripted.takeClaim(name);
    await scripted.blockedBy('ReplacementBudget');
    await scripted.approve();
    await scripted.until('it is replaced', () => scripted.voters().every(row => row.name !== name));
    await scripted.rest();
  },

  /** Its node is gone, and users do not wait for it. */
  async replacementIsNotWaitedFor(scripted: ScriptedWorld) {
    const { nodes } = scripted.world.kubelet;
    nodes.hasLocalVolumes = true;
    await scripted.create({ size: 3, repair: { replaceAfterSeconds: 86_400 } });
    const { name, memberId } = scripted.follower();
    const node = nodeOf(scripted.pod(name)) ?? '';
    // Chance may bring all to one node, and then nobody is left to be asked.
    const isShared = scripted.voters().filter(row => nodeOf(scripted.pod(row.name)) === node).length > 1;
    if (isShared) return;
    scripted.takePod(name);
    nodes.leave(node, scripted.world.now);
    await scripted.blockedBy('WaitingForMember');
    scripted.world.invariants.truth.named.add(memberId);
    await scripted.ask('replaceMember', name);
    await scripted.answered();
    await scripted.rest();
  },

  async stoppedForAReason(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.operator.paused = { by: 'somebody', reason: 'a look' };
    scripted.world.edit({ size: 4 });
    await scripted.blockedBy('Paused');
    scripted.world.operator.paused = {};
    await scripted.pass(100);
    scripted.world.operator.paused = undefined;
    scripted.world.edit({ paused: true });
    await scripted.pass(100);
    scripted.world.edit({ paused: false });
    await scripted.rest();
  },

  /** The domain was changed where only the CRDs of earlier releases let it, and the status is lost with what the members had. */
  async domainIsForgotten(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    const ask = (ClusterDomain: string | null) => world.edit({ pod: { ClusterDomain } } as EtcdClusterSpec);
    const stamp = (text: string | null) =>
      world.kube.merge('EtcdCluster', CLUSTER, { metadata: { annotations: { [ANNOTATION_DOMAIN]: text } } });
    const recorded = () => (world.resource?.['status'] as EtcdClusterStatus | undefined)?.incarnation;
    const nothingIsRecorded = async () => {
      scripted.loseStatus();
      await scripted.until('it is recorded, or said why not', () => {
        if (recorded() !== undefined) throw new Breach('a domain that nothing proves was recorded');
        return world.decision.reason === 'DomainChanged';
      });
    };
    ask('.other.example');
    scripted.loseStatus();
    await scripted.until(
      'it is recorded as before',
      () => recorded()?.members[0]?.peerURL.endsWith('.svc:2380') === true,
    );
    stamp(null);
    await nothingIsRecorded();
    ask(null);
    await scripted.rest();
    stamp(`${world.resource?.metadata.uid} svc.other.example`);
    await nothingIsRecorded();
    stamp(null);
    await scripted.rest();
    world.edit({ hibernated: true });
    await scripted.until(
      'it sleeps',
      () => world.kube.all('Pod').length === 0 && world.decision.kind === 'idle',
    );
    ask('.other.example');
    await nothingIsRecorded();
    ask(null);
    world.edit({ hibernated: false });
    await scripted.rest();
  },
};
