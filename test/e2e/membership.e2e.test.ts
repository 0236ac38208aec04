/** Scaling and replacement on real members, with their times. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  memberList,
  podsOf,
  readCluster,
  openWorld,
  type World,
} from '../stack/e2e.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'membership';
const NAME = 'grow';
const AT = { namespace: NAMESPACE, name: NAME };
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 3, version: '3.6.16' }));
  await awaitRunning(world, AT);
  await inMember('put', 'kept', 'through everything');
});
afterAll(() => leaveNamespace(world, NAMESPACE));

/** Runs etcdctl in the first ready member, against the client Service. */
async function inMember(...args: string[]): Promise<string> {
  const [ready] = (await readCluster(world, NAMESPACE, NAME))?.status?.members?.ready ?? [];
  const endpoints = ['--endpoints', `http://${NAME}-client:2379`];
  return world.stack.kubectl('-n', NAMESPACE, 'exec', ready ?? '', '--', 'etcdctl', ...endpoints, ...args);
}

/** Until status, pods and etcd agree on this many voters, all ready. Returns their names. */
async function settled(size: number, timeoutMs = 120_000): Promise<string[]> {
  return poll(
    async () => {
      const cluster = await readCluster(world, NAMESPACE, NAME);
      const conditions = cluster?.status?.conditions ?? [];
      const healthy = conditions.some(({ type, status }) => type === 'Healthy' && status === 'True');
      const ready = cluster?.status?.members?.ready ?? [];
      if (!healthy || cluster?.status?.size !== size || ready.length !== size) return undefined;
      if (cluster.status.operation !== undefined) return undefined;
      const members = await memberList(world, NAMESPACE, ready[0] ?? '');
      const voters = members.filter(member => member.isLearner !== true).map(member => member.name);
      const pods = (await podsOf(world, NAMESPACE, NAME)).filter(
        pod => pod.metadata.deletionTimestamp === undefined,
      );
      return voters.length === size && pods.length === size ? voters.sort() : undefined;
    },
    {
      timeoutMs,
      otherwise: async () => JSON.stringify((await readCluster(world, NAMESPACE, NAME))?.status, null, 1),
    },
  );
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await work();
  console.log(`${what}: ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  return result;
}

describe('scaling', () => {
  test('3 → 5 → 3 → 5 uses no name twice and keeps the data', async () => {
    const seen: string[][] = [];
    for (const size of [5, 3, 5]) {
      await world.stack.kubectl('-n', NAMESPACE, 'scale', 'etcd', NAME, `--replicas=${size}`);
      seen.push(await timed(`scaled to ${size}`, () => settled(size)));
    }
    const [five = [], three = [], again = []] = seen;
    expect(five).toEqual([0, 1, 2, 3, 4].map(serial => `${NAME}-${serial}`));
    expect(three.every(name => five.includes(name))).toBe(true);
    const added = again.filter(name => !three.includes(name));
    expect(added).toEqual([`${NAME}-5`, `${NAME}-6`]);
    expect((await inMember('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
    const claims = (await claimsOf(world, NAMESPACE, NAME)).filter(
      claim => claim.metadata.deletionTimestamp === undefined,
    );
    expect(claims.map(claim => claim.metadata.name).sort()).toEqual(again);
    await world.stack.kubectl('-n', NAMESPACE, 'scale', 'etcd', NAME, '--replicas=3');
    await timed('scaled to 3', () => settled(3));
  });
});

describe('replacement', () => {
  test('of a member whose pod and claim were deleted', async () => {
    const before = await settled(3);
    const lost = before[1] ?? '';
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pvc', lost, '--wait=false');
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', lost, '--wait=false');
    const after = await timed('pod and claim deleted, redundant again', async () =>
      poll(
        async () => {
          const members = await settled(3);
          return members.includes(lost) ? undefined : members;
        },
        { timeoutMs: 120_000 },
      ),
    );
    expect(after.filter(name => before.includes(name))).toHaveLength(2);
    const { status } = (await readCluster(world, NAMESPACE, NAME)) ?? {};
    // A claim that is being deleted is proof before it is gone, once its pod has ended.
    const reason = expect.stringMatching(/^its claim is (gone$|being deleted)/);
    expect(status?.replacements).toMatchObject([{ member: lost, reason }]);
    expect((await inMember('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
    const described = await world.stack.kubectl('-n', NAMESPACE, 'describe', 'etcd', NAME);
    expect(described).toContain('Replacing Dead Member');
  });
});
