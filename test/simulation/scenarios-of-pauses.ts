/** Scenarios about users who stop the work between two of its steps, again and again: see scenarios.ts. */
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { Breach } from './invariants.ts';
import type { ScriptedWorld } from './scripted-world.ts';

/** The label by which the client Service selects pods. */
const CLIENTS = 'etcd.database.coreos.com/clients';
/** Long enough for the operator to have come to rest. */
const A_WHILE = 150;

/** How the work is stopped, and how it continues. */
interface Stop {
  readonly stop: (scripted: ScriptedWorld) => void;
  readonly goOn: (scripted: ScriptedWorld) => void;
}

const BY_PERSON: Stop = {
  stop: ({ world }) => void (world.operator.paused = { by: 'somebody' }),
  goOn: ({ world }) => void (world.operator.paused = undefined),
};
const BY_SPECIFICATION: Stop = {
  stop: ({ world }) => world.edit({ paused: true }),
  goOn: ({ world }) => world.edit({ paused: false }),
};

/** Every voter serves, and clients are led to each that has a pod. */
function isWhole(scripted: ScriptedWorld): boolean {
  const { kube, etcd } = scripted.world;
  const serving = [...etcd.processes.values()].filter(({ serves }) => serves).map(({ name }) => name);
  const led = kube
    .all('Pod')
    .filter(({ metadata }) => metadata.labels?.[CLIENTS] === 'admitted')
    .map(({ metadata }) => metadata.name);
  const names = scripted.voters().map(({ name }) => name);
  return names.length > 0 && names.every(name => serving.includes(name) && led.includes(name));
}

/**
 * The work is stopped whenever a step has ended, for as long as it takes to give everything back and then some. What is given back is
 * taken again when the work continues, so a user who keeps pausing ends no removal: a dozen times is enough.
 */
async function stoppedAtEveryStep(scripted: ScriptedWorld, { stop, goOn }: Stop): Promise<void> {
  const { world } = scripted;
  const isDone = () => world.decision.kind === 'idle' && scripted.voters().length === world.spec.size;
  for (let pauses = 0; pauses < 12; pauses += 1) {
    const before = world.stepsEnded;
    let idleSince: number | undefined;
    await scripted.until('a step has ended, or all is done', () => {
      idleSince = isDone() ? (idleSince ?? world.ticks) : undefined;
      return world.stepsEnded > before || (idleSince !== undefined && world.ticks - idleSince > A_WHILE);
    });
    if (world.stepsEnded === before) return;
    stop(scripted);
    world.wake();
    await scripted.pass(A_WHILE);
    await scripted.until('nobody is away while the work is stopped', () => isWhole(scripted));
    goOn(scripted);
    world.wake();
  }
  await scripted.rest();
}

async function quiet(scripted: ScriptedWorld, spec: EtcdClusterSpec): Promise<void> {
  await scripted.create(spec);
  const since = scripted.world.now;
  await scripted.until('the cluster is quiet', () => scripted.world.now > since + 15_000);
}

export const pauseScenarios = {
  async pausedAtEveryStepOfARollout(scripted: ScriptedWorld) {
    await quiet(scripted, { size: 3 });
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stoppedAtEveryStep(scripted, BY_PERSON);
  },

  /** Down it is while its only member is away. */
  async pausedAtEveryStepOfARolloutOfOne(scripted: ScriptedWorld) {
    await quiet(scripted, { size: 1 });
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stoppedAtEveryStep(scripted, BY_SPECIFICATION);
  },

  async pausedAtEveryStepOfAnUpgrade(scripted: ScriptedWorld) {
    await quiet(scripted, { size: 1, version: '3.6.5' });
    scripted.world.edit({ version: '3.6.16' });
    await stoppedAtEveryStep(scripted, BY_PERSON);
  },

  async pausedAtEveryStepOfARemoval(scripted: ScriptedWorld) {
    await quiet(scripted, { size: 3 });
    scripted.world.edit({ size: 1 });
    await stoppedAtEveryStep(scripted, BY_SPECIFICATION);
  },

  /** Some are awake, and the others are to be. */
  async pausedInTheMiddleOfWaking(scripted: ScriptedWorld) {
    const { world } = scripted;
    await quiet(scripted, { size: 3 });
    world.edit({ hibernated: true });
    await scripted.until(
      'it sleeps',
      () => world.kube.all('Pod').length === 0 && world.decision.kind === 'idle',
    );
    world.edit({ hibernated: false });
    await scripted.until('one is started', () => world.kube.all('Pod').length > 0);
    BY_SPECIFICATION.stop(scripted);
    await scripted.until('all are awake', () => isWhole(scripted));
  },

  /** A user who pauses meanwhile has not asked for a cluster without that member. */
  async pausedWithAVersionThatDoesNotStart(scripted: ScriptedWorld) {
    const { world } = scripted;
    await quiet(scripted, { size: 3, version: '3.6.5' });
    world.kubelet.duds.set('3.6.99', 'missing');
    world.edit({ version: '3.6.99' });
    await scripted.until('one is given the version', () =>
      world.kube.all('Pod').some(({ metadata }) => metadata.annotations?.['etcd.version'] === '3.6.99'),
    );
    BY_PERSON.stop(scripted);
    world.wake();
    await scripted.pass(A_WHILE);
    await scripted.until('nobody is away while the work is stopped', () => isWhole(scripted));
  },

  /** What somebody takes away while the work is stopped stays away until it continues. */
  async memberIsTakenDuringAPause(scripted: ScriptedWorld) {
    await quiet(scripted, { size: 3 });
    BY_PERSON.stop(scripted);
    const { name } = scripted.follower();
    scripted.takePod(name);
    await scripted.pass(1_000);
    if (scripted.world.kube.peek('Pod', name) !== undefined)
      throw new Breach(`${name} is started during a pause, and nobody but a person took it`);
    BY_PERSON.goOn(scripted);
    await scripted.rest();
  },
};
