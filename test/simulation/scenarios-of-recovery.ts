/** Scenarios about a quorum that is lost for good, and about one that only looks lost: see scenarios.ts. */
import type { Step } from '../../src/activities/index.ts';
import type { EtcdRestoreStatus } from '../../src/api/schemas/types.ts';
import { Breach } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const A_WHILE = 400;

/** A cluster that clients write to. */
async function written(scripted: ScriptedWorld): Promise<void> {
  await scripted.create({ size: 3 });
  await scripted.pass(A_WHILE);
}

/** Two of three members are gone for good, with their volumes; the one that is left. */
async function loseTwo(scripted: ScriptedWorld): Promise<string> {
  await written(scripted);
  const [left = '', ...others] = scripted.voters().map(({ name }) => name);
  for (const name of others) {
    scripted.takePod(name);
    scripted.takeClaim(name);
  }
  scripted.world.wake();
  return left;
}

function restores(scripted: ScriptedWorld): readonly EtcdRestoreStatus[] {
  return scripted.world.kube
    .all('EtcdRestore')
    .map(object => ((object as { status?: EtcdRestoreStatus }).status ?? {}) as EtcdRestoreStatus);
}

async function recovered(scripted: ScriptedWorld, before: string): Promise<void> {
  await scripted.until('the quorum is recovered', () =>
    restores(scripted).some(({ phase }) => phase === 'Succeeded'),
  );
  await scripted.rest();
  if (scripted.leader().clusterId === before) throw new Breach('it is the cluster before');
  await scripted.pass(A_WHILE);
}

/** Every process of the operator dies, and Temporal forgets everything. */
function loseOperator({ world }: ScriptedWorld): void {
  for (const attempt of world.calls.attempts) world.calls.kill(attempt);
  world.operator.begin();
  for (const restore of world.restores.values()) restore.begin();
}

/** The volumes of two members are not found for a while; the names of the two. */
async function loseSight(scripted: ScriptedWorld): Promise<readonly string[]> {
  await written(scripted);
  const names = scripted.followers().map(({ name }) => name);
  for (const name of names) {
    scripted.takePod(name);
    say(scripted, name, 'Lost');
  }
  scripted.world.wake();
  return names;
}

function say(scripted: ScriptedWorld, name: string, phase: string): void {
  const claim = scripted.claim(name);
  const status = { ...(claim['status'] as object), phase };
  scripted.world.kube.change(claim, { status });
}

const STEPS: readonly Step['kind'][] = [
  'requestRecovery',
  'fenceMembers',
  'switchIncarnation',
  'copySurvivor',
  'unpackBackup',
  'startSeed',
  'recordClusterId',
  'addLearner',
  'concludeRestore',
];

export const recoveryScenarios = {
  async quorumIsLostForGood(scripted: ScriptedWorld) {
    await loseTwo(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    await scripted.pass(A_WHILE);
    if (restores(scripted).length > 0) throw new Breach('nobody approved, and it is recovered');
    await scripted.approve();
    await recovered(scripted, before);
  },

  /** The operator dies, and Temporal forgets everything, in the middle of every step. */
  async recoveryIsCutShortAgainAndAgain(scripted: ScriptedWorld) {
    await loseTwo(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    await scripted.approve();
    for (const kind of STEPS) {
      await scripted.about(kind);
      await scripted.pass(scripted.world.random.below(10));
      // Before there is an EtcdRestore, only Temporal knows of an approval that was sent to it.
      if (kind !== 'requestRecovery') loseOperator(scripted);
    }
    await recovered(scripted, before);
  },

  /** A learner is being added, and has not started, when the quorum is lost: it never voted, and is given up with the others. */
  async quorumIsLostWhileALearnerIsAdded(scripted: ScriptedWorld) {
    const { world } = scripted;
    await written(scripted);
    const before = idOf(scripted);
    const [lost = '', other = ''] = scripted.followers().map(({ name }) => name);
    world.kubelet.stuck.add('example-3');
    scripted.takePod(lost);
    scripted.takeClaim(lost);
    world.wake();
    await scripted.until('the learner has its claim', () =>
      world.kube.all('PersistentVolumeClaim').some(({ metadata }) => metadata.name === 'example-3'),
    );
    scripted.takePod(other);
    scripted.takeClaim(other);
    world.wake();
    await scripted.blockedBy('QuorumLostForGood');
    world.kubelet.stuck.clear();
    await scripted.approve();
    await recovered(scripted, before);
  },

  /** A member that was started without a quorum answers nobody: what is on its volume is looked at in a pod. */
  async survivorIsStartedAgain(scripted: ScriptedWorld) {
    const left = await loseTwo(scripted);
    const before = idOf(scripted);
    scripted.takePod(left);
    scripted.world.wake();
    await scripted.about('inspectSurvivor');
    await scripted.approve();
    await recovered(scripted, before);
  },

  async recoveryIsAborted(scripted: ScriptedWorld) {
    const left = await loseTwo(scripted);
    await scripted.approve();
    await scripted.about('unpackBackup');
    scripted.world.operator.abort = true;
    await scripted.until('it is given up', () => restores(scripted).some(({ phase }) => phase === 'Failed'));
    scripted.world.operator.abort = false;
    await scripted.until('the survivor runs again', () => scripted.process(left) !== undefined);
    await scripted.pass(A_WHILE);
    await scripted.until('it is offered again', () => scripted.world.decision.reason === 'QuorumLostForGood');
  },

  /** Volumes that were called lost are found again before anybody approves. */
  async lostVolumesAreFoundAgain(scripted: ScriptedWorld) {
    const names = await loseSight(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    for (const name of names) say(scripted, name, 'Bound');
    scripted.world.wake();
    await scripted.rest();
    if (idOf(scripted) !== before) throw new Breach('a quorum that came back was recovered');
  },

  /** They are found after a person approved of the recovery, and before anybody is stopped for it. */
  async lostVolumesAreFoundAfterTheApproval(scripted: ScriptedWorld) {
    const names = await loseSight(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    await scripted.approve();
    await scripted.until('there is an EtcdRestore', () => restores(scripted).length > 0);
    for (const name of names) say(scripted, name, 'Bound');
    scripted.world.wake();
    await scripted.rest();
    if (idOf(scripted) !== before) throw new Breach('a quorum that came back was recovered');
    if (restores(scripted).some(({ phase }) => phase !== 'Refused'))
      throw new Breach('the recovery was not refused');
  },

  /** They are found, and lists of the API server go on without them, from a cache that hears of nothing. */
  async lostVolumesAreFoundAndListsAreOld(scripted: ScriptedWorld) {
    const names = await loseSight(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    scripted.world.kube.freezeLists(['Pod', 'PersistentVolumeClaim']);
    for (const name of names) say(scripted, name, 'Bound');
    await scripted.approve();
    await scripted.pass(2 * A_WHILE);
    if (idOf(scripted) !== before) throw new Breach('a quorum that can come back was recovered');
    scripted.world.kube.thawLists();
    scripted.world.wake();
    await scripted.rest();
    if (idOf(scripted) !== before) throw new Breach('a quorum that came back was recovered');
  },

  /** They are found when the survivor was examined, and the members are about to be stopped. */
  async lostVolumesAreFoundBeforeTheFence(scripted: ScriptedWorld) {
    const names = await loseSight(scripted);
    const before = idOf(scripted);
    await scripted.blockedBy('QuorumLostForGood');
    await scripted.approve();
    await scripted.until('it is examined', () =>
      restores(scripted).some(({ source }) => source !== undefined),
    );
    for (const name of names) say(scripted, name, 'Bound');
    scripted.world.wake();
    await scripted.rest();
    if (idOf(scripted) !== before) throw new Breach('a quorum that came back was recovered');
  },

  /** The network between the members is cut, or the operator reaches none: nothing is proved. */
  async networkIsCutBetweenTheMembers(scripted: ScriptedWorld) {
    const { world } = scripted;
    await written(scripted);
    const before = idOf(scripted);
    const processes = [...world.etcd.processes.values()];
    for (const [zone, process] of processes.entries()) world.etcd.set(process, { zone: zone + 1 });
    await scripted.pass(2 * A_WHILE);
    scripted.skip(3_600);
    await scripted.pass(A_WHILE);
    for (const process of processes) world.etcd.set(process, { zone: 0, hidden: true });
    await scripted.pass(2 * A_WHILE);
    if (restores(scripted).length > 0) throw new Breach('silence was taken for a loss');
    for (const process of processes) world.etcd.set(process, { hidden: false });
    await scripted.rest();
    if (idOf(scripted) !== before) throw new Breach('another cluster is there than before');
  },
};

function idOf({ world }: ScriptedWorld): string {
  return [...world.etcd.processes.values()][0]?.clusterId ?? '';
}
