/** An upgrade that is interrupted at each of its steps: by a dead operator, and by users who pause, abort or change their mind. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_DATA_VERSION, ANNOTATION_VERSION } from '../../src/api/names.ts';
import { minorOf } from '../../src/api/versions/compare.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 300_000 };
const MOST_STEPS = 60;

/** A cluster that is asked for another version, and has taken so many steps towards it. */
async function upgrading(of: { from: string; to: string }, steps: number): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: of.from } });
  await world.run();
  await world.run();
  world.now += 60_000;
  await ask(world, { version: of.to });
  for (let step = 0; step < steps; step += 1) {
    world.kubelet.settle();
    await world.step();
  }
  return world;
}

const ask = (world: OperatorWorld, spec: EtcdClusterSpec) => world.edit(spec);

/** How many steps an upgrade takes that nobody interrupts. */
async function length(of: { from: string; to: string }): Promise<number> {
  const world = await upgrading(of, 0);
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    world.kubelet.settle();
    if ((await world.step()).decision.kind !== 'operate') return steps;
  }
  throw new Error('the upgrade does not end');
}

function versions(world: OperatorWorld): string[] {
  return [...(world.etcd.clusters[0]?.processes ?? [])].map(({ version }) => version);
}

/** The version that each pod was made to run. */
const podVersions = (world: OperatorWorld): Record<string, string | undefined> =>
  Object.fromEntries(
    world.kube.all('Pod').map(({ metadata }) => [metadata.name, metadata.annotations?.[ANNOTATION_VERSION]]),
  );

/** Takes every pod and the status: nothing is left but volumes, their claims, and what is stamped on the resource. */
async function forget(world: OperatorWorld): Promise<void> {
  for (const { metadata } of world.kube.all('Pod'))
    await world.kube.as('kubectl').delete(world.pod(metadata.name));
  world.kubelet.settle();
  world.kube.mutate(world.resource, object => void delete object['status']);
}

const images = (world: OperatorWorld): string[] =>
  world.kube
    .all('Pod')
    .map(pod => (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image ?? '');

async function settled(world: OperatorWorld): Promise<string[]> {
  await world.run();
  await world.run();
  return versions(world);
}

/** Fewest members that ran, and starts of etcd that ended at once, while `during` went on. */
async function watched<T>(world: OperatorWorld, during: () => Promise<T>) {
  let fewest = 3;
  const stop = world.kube.intercept(() => {
    fewest = Math.min(fewest, world.etcd.clusters[0]?.processes.size ?? 0);
  });
  const before = world.kubelet.starts.length;
  const ends = await during();
  stop();
  return {
    ends,
    fewest,
    failures: world.kubelet.starts.slice(before).flatMap(({ failure }) => failure ?? []),
  };
}

const all = (version: string) => ({ ends: [version, version, version], fewest: 2, failures: [] as string[] });
const PATCH = { from: '3.6.15', to: '3.6.16' };
const MINOR = { from: '3.5.35', to: '3.6.16' };

describe('an upgrade', LONG, () => {
  it.each([PATCH, MINOR])(
    'from $from to $to goes on when the operator dies in any of its activities',
    async of => {
      for (let at = 0, last = await length(of); at < last; at += of === PATCH ? 1 : 2) {
        const world = await upgrading(of, at);
        // The pass makes its calls first: this dies in the step that it decides on, or soon after.
        world.kill({ at: world.calls + 12, arrives: () => at % 2 === 0 });
        const { ends, fewest, failures } = await watched(world, () => settled(world));
        expect({ at, ends, failures }).toEqual({ at, ends: all(of.to).ends, failures: [] });
        expect(fewest).toBeGreaterThanOrEqual(2);
      }
    },
  );

  const aborted = (generation: number): WorkflowState => ({
    aborted: { operation: 'upgradeCluster', generation, by: 'ana' },
  });
  const nobody = (): WorkflowState => ({});
  it.each([
    ['paused', PATCH, (): WorkflowState => ({ paused: { by: 'ana' } }), 'Paused', false],
    ['paused by its specification', MINOR, nobody, 'Paused', true],
    ['aborted', PATCH, aborted, 'Aborted', false],
    ['aborted on its way to another minor', MINOR, aborted, 'Aborted', false],
  ])(
    'that is %s gives back whom it has taken away at any of its steps, stays so, and goes on later',
    async (_, of, said, reason, paused) => {
      for (let at = 0, last = await length(of); at < last; at += of === PATCH ? 1 : 2) {
        const world = await upgrading(of, at);
        if (paused) await ask(world, { paused });
        const workflowState = said(world.cluster.metadata.generation ?? 0);
        await world.run(workflowState);
        world.kubelet.settle();
        const closed = await world.run(workflowState);
        expect({ at, decision: closed.decision }).toMatchObject({
          at,
          decision: { kind: 'blocked', reason },
        });
        expect({ at, serving: versions(world).length }).toEqual({ at, serving: 3 });
        const before = images(world);
        const { decision } = await world.look(workflowState);
        expect(decision).toMatchObject({ kind: 'blocked', reason });
        expect({ at, images: images(world) }).toEqual({ at, images: before });
        if (paused) await ask(world, { paused: false });
        expect({ at, ends: await settled(world) }).toEqual({ at, ends: all(of.to).ends });
      }
    },
  );

  it.each([
    ['back', PATCH, '3.6.15'],
    ['on', PATCH, '3.6.14'],
    ['back, before the point of no return,', MINOR, '3.5.35'],
  ])('can be sent %s at any of its steps', async (_, of, target) => {
    for (let at = 0, last = await length(of); at < last; at += 2) {
      const world = await upgrading(of, at);
      // Once the cluster has agreed on the newer minor there is no way back: then it is completed, and that is said.
      const agreed = world.etcd.clusters[0]?.clusterVersion ?? '';
      const isAgreed = of === MINOR && minorOf(agreed) === minorOf(of.to);
      await ask(world, { version: target });
      const { ends, failures } = await watched(world, () => settled(world));
      const wanted = isAgreed ? of.to : target;
      expect({ at, ends, failures }).toEqual({ at, ends: all(wanted).ends, failures: [] });
    }
  });

  it('that no one remembers starts each member with the version that its data had', async () => {
    for (let at = 0, last = await length(MINOR); at < last; at += 3) {
      const world = await upgrading(MINOR, at);
      const before = podVersions(world);
      await forget(world);
      await ask(world, { version: '3.7.3', upgrade: { allowIntermediateVersions: true } });
      world.kubelet.asleep = true;
      while (world.kube.all('Pod').length < 3) await world.step();
      expect({ at, ...podVersions(world) }).toMatchObject({ at, ...before });
      expect(Object.values(podVersions(world))).not.toContain('3.7.3');
      world.kubelet.asleep = false;
    }
  });

  it('is not guessed where neither status nor claims say what the members ran', async () => {
    const world = await upgrading(MINOR, 0);
    await forget(world);
    for (const { metadata } of world.kube.all('PersistentVolumeClaim'))
      world.kube.mutate(
        world.claim(metadata.name),
        claim => void delete claim.metadata.annotations?.[ANNOTATION_DATA_VERSION],
      );
    await ask(world, { version: '3.7.3' });
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'VersionUnknown' });
    expect(world.kube.all('Pod')).toEqual([]);
  });
});
