/** Many clusters at once, beside one that cannot be created. */
import { expect, test } from 'vitest';
import type { KubeObject } from '../../../src/kube/port.ts';
import { removeByHand, timeByHand, timeToAvailable } from '../../support/creation.ts';
import {
  awaitCondition,
  awaitRunning,
  discard,
  holds,
  manifest,
  podsOf,
  readCluster,
  type World,
} from '../../support/e2e.ts';
import { useNamespace } from '../../support/e2e-namespace.ts';
import { poll } from '../../support/poll.ts';

const NAMESPACE = 'drill-fleet';
const MANY = 20;
const names = Array.from({ length: MANY }, (_, index) => `fleet-${index}`);
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const three = (name: string): KubeObject => manifest(NAMESPACE, name, { size: 3, version: '3.6.16' });

function spread(seconds: readonly number[]): string {
  const sorted = seconds.toSorted((a, b) => a - b).map(one => one.toFixed(1));
  return `first ${sorted[0]} s, median ${sorted[Math.floor(sorted.length / 2)]} s, last ${sorted.at(-1)} s`;
}

test(`${MANY} clusters at once, and a sick one beside them that slows none`, async () => {
  // Nobody has this image, and there is no registry to ask.
  await world.kube.apply(manifest(NAMESPACE, 'sick', { size: 3, version: '3.6.15' }));
  await awaitCondition(
    world,
    { namespace: NAMESPACE, name: 'sick' },
    { type: 'Progressing', status: 'False' },
  );
  const seconds = await Promise.all(names.map(name => timeToAvailable(world, three(name))));
  for (const name of names) {
    const cluster = await awaitRunning(world, { namespace: NAMESPACE, name });
    expect(cluster.status).toMatchObject({ ready: '3/3', phase: 'Running' });
  }
  expect(holds(await readCluster(world, NAMESPACE, 'sick'), 'Available')).toBe(false);
  await discard(world, NAMESPACE, ...names);
  await poll(
    async () => {
      const left = await Promise.all(names.map(name => podsOf(world, NAMESPACE, name)));
      return left.flat().length === 0;
    },
    { timeoutMs: 180_000 },
  );
  const floor = names.map(name => `${name}-by-hand`).map(three);
  const byHand = await Promise.all(floor.map(cluster => timeByHand(world, cluster)));
  console.log(
    `${MANY} clusters of three at once: ${spread(seconds)}; the same pods by hand: ${spread(byHand)}; ` +
      `ratio of the last ones ${(Math.max(...seconds) / Math.max(...byHand)).toFixed(2)}`,
  );
  await Promise.all(floor.map(cluster => removeByHand(world, cluster)));
});
