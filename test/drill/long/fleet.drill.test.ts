/** Many clusters at once, and sick ones beside others. Prints where the time goes. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/kube/port.ts';
import { removeByHand, timeByHand, timeToAvailable } from '../../stack/creation.ts';
import { processorTime, spentBetween } from '../../stack/drill/processor-time.ts';
import { activitiesOf, partsOf, type TimedActivity } from '../../stack/drill/timeline.ts';
import {
  awaitCondition,
  awaitRunning,
  discard,
  holds,
  manifest,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { memberProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'drill-fleet';
/** Twenty, or what FLEET says: on a machine with other work, fewer show as well what the time goes into. */
const MANY = Number(process.env['FLEET'] ?? 20);
const names = Array.from({ length: MANY }, (_, index) => `fleet-${index}`);
/** For what hangs; a machine that is busy with other things is no failure. */
const PATIENCE_MS = 400_000;
const AT_REST_MS = 10_000;
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const at = (name: string) => ({ namespace: NAMESPACE, name });
const sized = (size: number, name: string, version = '3.6.16'): KubeObject =>
  manifest(NAMESPACE, name, { size, version });
const three = (name: string, version?: string): KubeObject => sized(3, name, version);

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function spread(seconds: readonly number[]): string {
  const shown = [Math.min(...seconds), middle(seconds), Math.max(...seconds)].map(one => one.toFixed(1));
  return `first ${shown[0]} s, median ${shown[1]} s, last ${shown[2]} s`;
}

async function remove(...clusters: readonly string[]): Promise<void> {
  await discard(world, NAMESPACE, ...clusters);
  await poll(
    async () => {
      const left = await Promise.all(clusters.map(name => podsOf(world, NAMESPACE, name)));
      return left.flat().length === 0;
    },
    { timeoutMs: 180_000 },
  );
}

/** Processes that a test has frozen. */
let frozen: readonly number[] = [];

function thaw(): void {
  for (const pid of frozen) process.kill(pid, 'SIGCONT');
  frozen = [];
}
afterEach(thaw);

/** One that cannot be created, as nobody has its image, and one whose members all have stopped to answer. */
async function twoSickOnes(): Promise<void> {
  await world.kube.apply(three('sick-unborn', '3.6.15'));
  await world.kube.apply(three('sick-frozen'));
  await awaitRunning(world, at('sick-frozen'));
  const pods = await podsOf(world, NAMESPACE, 'sick-frozen');
  const pids = pods.flatMap(({ metadata }) => memberProcesses(world, at('sick-frozen'), metadata.name));
  expect(pids).toHaveLength(3);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  frozen = pids;
  await awaitCondition(world, at('sick-frozen'), { type: 'Available', status: 'Unknown' });
  await awaitCondition(world, at('sick-unborn'), { type: 'Progressing', status: 'False' });
}

/** The median of three creations, one after the other, in seconds. */
async function creation(): Promise<number> {
  const seconds: number[] = [];
  for (const name of ['first', 'second', 'third']) {
    seconds.push(await timeToAvailable(world, three(name)));
    await remove(name);
  }
  return middle(seconds);
}

test('sick clusters slow no other', async () => {
  const alone = await creation();
  await twoSickOnes();
  const beside = await creation();
  console.log(`a creation: ${alone.toFixed(1)} s alone, ${beside.toFixed(1)} s beside two sick clusters`);
  expect(beside).toBeLessThan(alone * 1.3 + 1);
  thaw();
  await remove('sick-unborn', 'sick-frozen');
});

/** What the creations were made of: the median of each part, and what Temporal did not record. */
async function breakdown(applied: number, available: readonly number[]): Promise<string> {
  const connection = await Connection.connect({ address: world.stack.temporalAddress });
  const client = new Client({ connection, namespace: 'etcd-operator' });
  const all: (readonly TimedActivity[])[] = [];
  for (const name of names) {
    const { workflowID = '' } = (await readCluster(world, NAMESPACE, name))?.status ?? {};
    all.push(await poll(() => activitiesOf(client, workflowID, 'createCluster')));
  }
  await connection.close();
  const begun = all.map(([first]) => ((first?.begun ?? applied) - applied) / 1_000);
  const parts = all.map(partsOf);
  const medians = [...new Set(parts.flatMap(one => [...one.keys()]))].map(
    part => `${part} ${(middle(parts.map(one => one.get(part) ?? 0)) / 1_000).toFixed(1)} s`,
  );
  return `operation begun: ${spread(begun)}; medians of its parts: ${medians.join(', ')}; available: ${spread(available)}`;
}

/** Prints what the stack's programs used of the processors meanwhile, also when it fails. */
async function accounted<T>(what: string, act: () => Promise<T>): Promise<T> {
  const before = processorTime(world.stack);
  const begun = performance.now();
  try {
    return await act();
  } finally {
    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    console.log(`processors, ${what}, ${seconds} s: ${spentBetween(before, processorTime(world.stack))}`);
  }
}

test.each([1, 3])(
  `${MANY} clusters of %i at once`,
  async size => {
    const applied = Date.now();
    const create = (name: string) => timeToAvailable(world, sized(size, name), PATIENCE_MS);
    const seconds = await accounted('clusters created', () => Promise.all(names.map(create)));
    for (const name of names) {
      const { status } = await awaitRunning(world, at(name));
      expect(status).toMatchObject({ ready: `${size}/${size}`, phase: 'Running' });
      expect(holds(await readCluster(world, NAMESPACE, name), 'Available')).toBe(true);
    }
    console.log(`${MANY} clusters of ${size} at once: ${await breakdown(applied, seconds)}`);
    await accounted('clusters at rest', () => delay(AT_REST_MS));
    await remove(...names);
    const floor = names.map(name => sized(size, `${name}-by-hand`));
    const byHand = await accounted('the same pods by hand', () =>
      Promise.all(floor.map(cluster => timeByHand(world, cluster))),
    );
    await Promise.all(floor.map(cluster => removeByHand(world, cluster)));
    const ratio = Math.max(...seconds) / Math.max(...byHand);
    console.log(`the same pods by hand: ${spread(byHand)}; ratio of the last ones ${ratio.toFixed(2)}`);
  },
  1_200_000,
);
