/** What a durable workflow engine is for: the operator, Temporal or a person stops at any moment, and nothing is lost. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  createNamespace,
  holds,
  manifest,
  memberList,
  podsOf,
  readCluster,
  removeNamespace,
  startWorld,
  type World,
} from '../support/e2e.ts';
import { freshOperators, killOperators } from '../support/operator-processes.ts';
import { poll } from '../support/poll.ts';

const NAMESPACE = 'durability';
const REPLICAS = 2;
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await createNamespace(world, NAMESPACE);
});
afterAll(async () => {
  if (world !== undefined) await removeNamespace(world, NAMESPACE);
});

const at = (name: string) => ({ namespace: NAMESPACE, name });
const uidsOf = async (name: string) =>
  (await podsOf(world, NAMESPACE, name)).map(pod => pod.metadata.uid).sort();

describe('the operator killed with -9 in the middle of a creation', () => {
  // Moments drawn over the time that a creation takes; the seed is printed so that a failure can be replayed.
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
  const moments = Array.from(
    { length: 10 },
    (_, index) => Math.round(((seed * 7919 + index * 104_729) % 6_000) / 10) * 10,
  );
  console.log(`moments of the kills in ms: ${moments.join(', ')} (SEED=${seed})`);

  test.each(moments.map((moment, index) => ({ moment, name: `killed-${index}` })))(
    'after $moment ms: $name is completed with exactly three members and no orphan',
    async ({ moment, name }) => {
      await freshOperators(world, REPLICAS);
      await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
      const begun = performance.now();
      await poll(async () => performance.now() - begun >= moment, { intervalMs: 5 });
      expect(killOperators(world)).toBeGreaterThan(0);
      await awaitRunning(world, at(name));
      const expected = [0, 1, 2].map(serial => `${name}-${serial}`);
      expect((await podsOf(world, NAMESPACE, name)).map(pod => pod.metadata.name).sort()).toEqual(expected);
      expect((await claimsOf(world, NAMESPACE, name)).map(claim => claim.metadata.name).sort()).toEqual(
        expected,
      );
      const members = await memberList(world, NAMESPACE, `${name}-0`);
      expect(
        members
          .map(member => ({ name: member.name, learner: member.isLearner ?? false }))
          .sort((a, b) => a.name.localeCompare(b.name)),
      ).toEqual(expected.map(member => ({ name: member, learner: false })));
      console.log(
        `killed after ${moment} ms: healthy after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
      );
      await world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcd', name, '--timeout=120s');
    },
  );
});

describe('a pause sent to the workflow', () => {
  test('holds a creation until resume', async () => {
    const name = 'paused';
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
    const workflow = await poll(async () => {
      const uid = (await readCluster(world, NAMESPACE, name))?.metadata.uid.slice(0, 8);
      return uid && `etcdcluster/${NAMESPACE}/${name}/${uid}`;
    });
    const request = JSON.stringify({ by: 'ana', reason: 'maintenance' });
    await poll(
      async () =>
        (await world.temporal('workflow', 'signal', '-w', workflow, '--name', 'pause', '-i', request)) !==
        undefined,
    );
    const held = await awaitCondition(world, at(name), { type: 'Paused' });
    expect(held.status?.conditions?.find(({ type }) => type === 'Paused')?.message).toBe(
      'paused by ana (maintenance)',
    );
    expect(held.status?.controlPaused).toBe(true);
    const plan = await world.temporal('workflow', 'query', '-w', workflow, '--name', 'plan', '-o', 'json');
    expect(plan).toContain('Paused');
    const { resourceVersion } = held.metadata;
    // Nothing but status may move while it is held: asked ten times over three seconds.
    for (let look = 0; look < 10; look += 1) {
      const begun = performance.now();
      await poll(async () => performance.now() - begun > 300);
      expect(holds(await readCluster(world, NAMESPACE, name), 'Available')).toBe(false);
    }
    expect(resourceVersion).toBeDefined();
    await world.temporal('workflow', 'signal', '-w', workflow, '--name', 'resume', '-i', '{"by":"ana"}');
    const resumed = await awaitRunning(world, at(name));
    expect(resumed.status).toMatchObject({ phase: 'Running', ready: '3/3', controlPaused: false });
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcd', name, '--timeout=120s');
  });
});

describe('a living cluster', () => {
  const name = 'lasting';
  beforeAll(async () => {
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
    await awaitRunning(world, at(name));
  });

  test('is taken over with no change to its pods after Temporal lost its database', async () => {
    const before = await uidsOf(name);
    await world.stack.temporal.wipe();
    const workflow = (await readCluster(world, NAMESPACE, name))?.status?.workflowID ?? '';
    // A new server knows no namespace, no search attribute and no workflow until the operator made them again.
    await poll(
      async () =>
        (await world.temporal('workflow', 'describe', '-w', workflow, '-o', 'json')).includes('RUNNING'),
      { timeoutMs: 120_000 },
    );
    await poll(
      async () =>
        (
          await world.temporal('workflow', 'query', '-w', workflow, '--name', 'status', '-o', 'json')
        ).includes('"membersReady": 3'),
      { timeoutMs: 60_000 },
    );
    expect(await uidsOf(name)).toEqual(before);
    expect(holds(await readCluster(world, NAMESPACE, name), 'Healthy')).toBe(true);
  });

  test('gets a deleted pod back on its own volume, and a deleted Service', async () => {
    const claims = (await claimsOf(world, NAMESPACE, name)).map(claim => claim.metadata.uid).sort();
    const before = await uidsOf(name);
    await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-1`,
      '--',
      'etcdctl',
      'put',
      'kept',
      'on the volume',
    );
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', `${name}-1`, '--wait=false');
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'service', `${name}-client`);
    await poll(async () => {
      const uids = await uidsOf(name);
      return uids.length === 3 && uids.filter(uid => before.includes(uid)).length === 2;
    });
    await awaitRunning(world, at(name));
    expect((await claimsOf(world, NAMESPACE, name)).map(claim => claim.metadata.uid).sort()).toEqual(claims);
    const value = await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-1`,
      '--',
      'etcdctl',
      '--endpoints',
      `http://${name}-client:2379`,
      'get',
      'kept',
      '--print-value-only',
    );
    expect(value.trim()).toBe('on the volume');
  });

  test('is not touched when the operator and its namespace go', async () => {
    const before = await uidsOf(name);
    await removeNamespace(world, 'etcd-operator');
    expect(await uidsOf(name)).toEqual(before);
    const value = await world.stack.kubectl(
      '-n',
      NAMESPACE,
      'exec',
      `${name}-0`,
      '--',
      'etcdctl',
      'get',
      'kept',
      '--print-value-only',
    );
    expect(value.trim()).toBe('on the volume');
    world = await startWorld();
    await awaitRunning(world, at(name));
    expect(await uidsOf(name)).toEqual(before);
  });

  test('says that Temporal is unavailable on the resource itself, and takes it back', async () => {
    await world.stack.temporal.stop();
    try {
      await world.stack.kubectl('-n', NAMESPACE, 'label', 'etcd', name, 'look=again', '--overwrite');
      await awaitCondition(world, at(name), { type: 'TemporalUnavailable', timeoutMs: 60_000 });
    } finally {
      await world.stack.temporal.start();
    }
    await poll(async () => !holds(await readCluster(world, NAMESPACE, name), 'TemporalUnavailable'), {
      timeoutMs: 60_000,
    });
  });
});
