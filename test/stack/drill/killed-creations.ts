/** Tests in which every operator is killed with -9 while clusters are being created. */
import { expect, test } from 'vitest';
import { awaitRunning, claimsOf, discard, manifest, memberList, podsOf, type World } from '../e2e.ts';
import { freshOperators, killOperators } from '../operator-processes.ts';
import { poll } from '../poll.ts';

/** What a creation takes at most, in milliseconds: kills come within this time. */
const CREATION_MS = 6_000;
const REPLICAS = 2;

interface Options {
  readonly world: () => World;
  readonly namespace: string;
  /** How often, and how many clusters are under way each time, each at another moment of its creation. */
  readonly kills: number;
  readonly clusters: number;
}

/** One test for each kill. The moments come from a seed, which is printed so that a failure can be replayed. */
export function killedCreations({ world: given, namespace, kills, clusters }: Options): void {
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const moment = (turn: number) => Math.round(((seed * 7919 + turn * 104_729) % CREATION_MS) / 10) * 10;
  const turns = Array.from({ length: kills }, (_, kill) => ({
    kill,
    moments: Array.from({ length: clusters }, (_none, index) => moment(kill * clusters + index)),
  }));
  test.each(turns)(`kill $kill, creations $moments ms old (SEED=${seed})`, async ({ kill, moments }) => {
    const world = given();
    await freshOperators(world, REPLICAS);
    const ages = moments.toSorted((a, b) => b - a);
    const names = ages.map((_, index) => `killed-${kill}-${index}`);
    const begun = performance.now();
    const [longest = 0] = ages;
    for (const [index, age] of ages.entries()) {
      await poll(async () => performance.now() - begun >= longest - age, { intervalMs: 5 });
      await world.kube.apply(manifest(namespace, names[index] ?? '', { size: 3, version: '3.6.16' }));
    }
    await poll(async () => performance.now() - begun >= longest, { intervalMs: 5 });
    expect(killOperators(world)).toBeGreaterThan(0);
    for (const name of names) await expectComplete(world, namespace, name);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(`killed after ${ages.join(', ')} ms: all healthy after ${seconds} s`);
    await discard(world, namespace, ...names);
  });
}

/** Three voters on three pods and three claims, and nothing besides. */
async function expectComplete(world: World, namespace: string, name: string): Promise<void> {
  await awaitRunning(world, { namespace, name });
  const expected = [0, 1, 2].map(serial => `${name}-${serial}`);
  expect((await podsOf(world, namespace, name)).map(pod => pod.metadata.name).sort()).toEqual(expected);
  expect((await claimsOf(world, namespace, name)).map(claim => claim.metadata.name).sort()).toEqual(expected);
  const members = await memberList(world, namespace, `${name}-0`);
  const found = members.map(member => ({ name: member.name, learner: member.isLearner ?? false }));
  expect(found.sort((a, b) => a.name.localeCompare(b.name))).toEqual(
    expected.map(member => ({ name: member, learner: false })),
  );
}
