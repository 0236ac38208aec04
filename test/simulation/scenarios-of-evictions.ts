/** Scenarios about drains, which evict what the PodDisruptionBudget lets go: see scenarios.ts. */
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { evict } from './faults-of-evictions.ts';
import { Breach, CLUSTER } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';
import { isReady } from './sim-disruptions.ts';
import { nodeOf } from './sim-nodes.ts';

/** Every pod is to be evicted, those of voters first, once the disruption controller has seen what is. How many are let go. */
function drain(scripted: ScriptedWorld): number {
  const { world } = scripted;
  const voters = scripted.voters().map(({ name }) => name);
  const pods = world.kube.all('Pod');
  const isVoter = ({ metadata }: (typeof pods)[number]) => voters.includes(metadata.name);
  world.disruptions.look();
  const ordered = [...pods.filter(isVoter), ...pods.filter(pod => !isVoter(pod))];
  return ordered.filter(pod => evict(world, pod)).length;
}

/** A member joins, and its pod is as ready as those of the others; it does not vote yet. */
async function learnerIsReady(scripted: ScriptedWorld): Promise<void> {
  await scripted.until('a learner is ready', () => {
    const learner = scripted.learner();
    const pod = learner && scripted.world.kube.peek('Pod', learner.name);
    return pod !== undefined && isReady(pod);
  });
}

function minAvailable({ world }: ScriptedWorld): number | undefined {
  return ((world.disruptions.budget?.['spec'] ?? {}) as { minAvailable?: number }).minAvailable;
}

function expectGone(gone: number, expected: number): void {
  if (gone !== expected) throw new Breach(`${gone} were evicted, and ${expected} may go`);
}

export const evictionScenarios = {
  /** It goes on for the seconds of its `preStop`, in which the others get a leader without an election. */
  async theLeaderIsEvicted(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube, kubelet, disruptions } = scripted.world;
    const { name } = scripted.leader();
    kubelet.sleeping.add(name);
    disruptions.look();
    const pod = kube.peek('Pod', name);
    expectGone(pod !== undefined && evict(scripted.world, pod) ? 1 : 0, 1);
    await scripted.until('another member leads', () => scripted.leader().name !== name);
    kubelet.sleeping.clear();
    await scripted.rest();
  },

  /** Each node in turn, also the third within the hour: nobody is let go before a successor votes. */
  async nodesAreDrainedOfMembersWithDataInPods(scripted: ScriptedWorld) {
    scripted.remake({ isEphemeral: true });
    await scripted.createInPods({ size: 3 });
    const { nodes } = scripted.world.kubelet;
    const first = scripted.voters().map(({ name }) => name);
    for (const name of first) {
      const node = nodeOf(scripted.pod(name)) ?? '';
      nodes.cordon(node, true);
      scripted.world.wake();
      expectGone(drain(scripted), 0);
      await scripted.until('its member has a successor', () =>
        scripted.voters().every(each => each.name !== name),
      );
      await scripted.rest();
      nodes.cordon(node, false);
    }
    const { replacements = [] } = (scripted.world.resource?.['status'] ?? {}) as EtcdClusterStatus;
    if (replacements.length > 0) throw new Breach('a drained member counts as one that was lost');
  },

  async membersAreEvictedWhileOneJoins(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ size: 5 });
    scripted.world.wake();
    await learnerIsReady(scripted);
    expectGone(drain(scripted), 1);
    await scripted.rest();
  },

  async theOnlyVoterIsEvictedWhileAnotherJoins(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ size: 3 });
    scripted.world.wake();
    await learnerIsReady(scripted);
    expectGone(drain(scripted), 0);
    await scripted.rest();
  },

  /** Three of five voters are wished for, and nothing may be done about it. */
  async fewerAreWishedForInAPause(scripted: ScriptedWorld) {
    await scripted.create({ size: 5 });
    scripted.world.edit({ size: 3, paused: true });
    await scripted.blockedBy('Paused');
    expectGone(drain(scripted), 1);
    await scripted.pass(100);
    expectGone(drain(scripted), 0);
    scripted.world.edit({ paused: false });
    scripted.world.wake();
    await scripted.rest();
    expectGone(drain(scripted), 1);
    await scripted.rest();
  },

  /** It is made again for the learner that comes next, whose pod is no voter. */
  async theBudgetIsDeletedAsMembersAreToJoin(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube, operator } = scripted.world;
    operator.end();
    await scripted.pass(200);
    kube.delete('PodDisruptionBudget', CLUSTER);
    scripted.world.edit({ size: 5 });
    operator.begin();
    await scripted.until('it is made again', () => minAvailable(scripted) !== undefined);
    if (minAvailable(scripted) !== 3) throw new Breach(`${minAvailable(scripted)} are kept from eviction`);
    await learnerIsReady(scripted);
    expectGone(drain(scripted), 1);
    await scripted.rest();
  },

  /** The disruption controller has seen neither that the operator stopped one member nor that it gave another one a new image. */
  async membersAreEvictedRightAfterTheOperatorStoppedOne(scripted: ScriptedWorld) {
    await scripted.create({ size: 3, version: '3.5.33' });
    const { world } = scripted;
    const ready = () => world.kube.all('Pod').filter(isReady).length;
    for (const version of ['3.5.34', '3.5.35']) {
      world.disruptions.look();
      world.disruptions.isLate = true;
      world.edit(version === '3.5.34' ? { version } : { version, pod: { labels: { tier: 'gold' } } });
      world.wake();
      await scripted.until('a member is restarted', () => ready() === 2);
      const left = world.kube.all('Pod').filter(isReady);
      expectGone(left.filter(pod => evict(world, pod)).length, 0);
      world.disruptions.isLate = false;
      await scripted.rest();
      expectGone(drain(scripted), 1);
      await scripted.rest();
    }
  },

  /** An earlier release left one that goes by the size that is wished. */
  async theBudgetNamesNoNumberInAPause(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    world.edit({ paused: true });
    const { budget } = world.disruptions;
    if (budget === undefined) throw new Breach('there is no budget');
    const { minAvailable: _, ...spec } = budget['spec'] as Record<string, unknown>;
    world.kube.change(budget, { spec: { ...spec, maxUnavailable: 1 } });
    world.disruptions.edited();
    world.wake();
    await scripted.until('it is raised', () => minAvailable(scripted) === 2);
    world.edit({ paused: false });
    await scripted.rest();
  },

  /** Somebody lets all of them go, and it is put back before anybody comes to drain. */
  async everyEvictionIsAllowedByHand(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.kube.merge('PodDisruptionBudget', CLUSTER, { spec: { minAvailable: 0 } });
    scripted.world.wake();
    await scripted.until('it is put back', () => minAvailable(scripted) === 2);
    expectGone(drain(scripted), 1);
    await scripted.rest();
  },
};
