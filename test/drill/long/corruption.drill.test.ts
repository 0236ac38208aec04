/**
 * Bits flipped in the database files of members, as docs/operations/corruption.md has it, in a cluster that is written to all the while: the member is kept
 * off the clients, replaced, and its volume kept; operators are killed in the middle, and every write that was acknowledged is there.
 */
import { beforeAll, expect, test } from 'vitest';
import { ANNOTATION_EVIDENCE } from '../../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { ASKING_FOR_CPU, drilledCluster } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { flipBits } from '../../stack/drill/flip-bits.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const PATIENCE_MS = 240_000;
const VALUE = 'a value that nobody else has written';
/** A member that differs starts and serves what it has: the one that differs is found by comparing. */
const UNCHECKED: EtcdClusterSpec = {
  pod: {
    ...ASKING_FOR_CPU,
    etcdEnv: [{ name: 'ETCD_FEATURE_GATES', value: 'InitialCorruptCheck=false,CompactHashCheck=true' }],
  },
  maintenance: { compareDataEvery: '1m' },
};
const cluster = drilledCluster('drill-corruption');
const { at, drill, kubectl, world } = cluster;
let page: Runbook;
beforeAll(() => void (page = new Runbook(world(), at.namespace, 'operations/corruption.md')));

const called = (name: string) => (command: string) => command.replaceAll('example', name);
const ours = called(at.name);

const status = async (name = at.name) => (await readCluster(world(), at.namespace, name))?.status ?? {};
const condition = async (type: string, name = at.name) =>
  (await status(name)).conditions?.find(each => each.type === type);
const said = (reason: string, name = at.name, type = 'DataCorrupt') =>
  poll(
    async () => {
      const found = await condition(type, name);
      return found?.reason === reason ? found.message : undefined;
    },
    { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await status(name), null, 1) },
  );

/** In the file of every member, and not only in its log. */
async function write(name = at.name): Promise<void> {
  await new BackupStory(world(), at.namespace).through(
    name,
    async etcd => void (await etcd.put('value').value(VALUE)),
  );
  await poll(async () => {
    const read = await kubectl(
      'exec',
      `${(await names(name))[0]}`,
      '-c',
      'etcd',
      '--',
      'etcdctl',
      'get',
      'value',
      '--print-value-only',
    );
    return read.includes(VALUE);
  });
  await new Promise(resolve => setTimeout(resolve, 1_000));
}

const names = async (name = at.name) =>
  (await podsOf(world(), at.namespace, name)).map(({ metadata }) => metadata.name).toSorted();

async function endpointOf(member: string): Promise<string> {
  const pod = (await podsOf(world(), at.namespace, at.name)).find(({ metadata }) => metadata.name === member);
  const { podIP } = (pod?.['status'] ?? {}) as { podIP?: string };
  return `${podIP}:2379`;
}

/** It was ended for the flip: as soon as it is back it leads again. */
async function lead(member: string): Promise<void> {
  await poll(
    async () => {
      const { member: now } = await leaderOf(world(), at);
      if (now === member) return true;
      const { details = [] } = (await status()).members ?? {};
      const id = details.find(({ name }) => name === member)?.id ?? '';
      await kubectl('exec', now, '-c', 'etcd', '--', 'etcdctl', 'move-leader', id).catch(() => undefined);
      return undefined;
    },
    { timeoutMs: PATIENCE_MS, intervalMs: 2_000 },
  );
}

const replaced = (member: string) =>
  poll(
    async () => {
      const { replacements = [], members, ready, conditions = [] } = await status();
      const isGone = replacements.some(each => each.member === member && each.replacedBy !== undefined);
      const isLeft = members?.details?.some(({ name }) => name === member) === true;
      return isGone && !isLeft && ready === '3/3' && !conditions.some(({ type }) => type === 'DataCorrupt');
    },
    { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await status(), null, 1) },
  );

async function expectEvidence(member: string): Promise<void> {
  const claims = await claimsOf(world(), at.namespace, at.name);
  const kept = claims.find(({ metadata }) => metadata.name === member);
  expect(kept?.metadata.annotations?.[ANNOTATION_EVIDENCE]).toMatch(/^its data differs, at revision \d+/);
}

test('a member that refuses to start is replaced when that is approved, both operators killed in the middle', async () => {
  await write();
  const { member: leader } = await leaderOf(world(), at);
  const member = (await names()).find(name => name !== leader) ?? '';
  const { verdict } = await drill(
    'bits flipped in a follower',
    async () => {
      flipBits(world(), at, member, VALUE);
      const message = await said('MemberDiffers');
      console.log(message);
      expect(message).toContain(`${member}: etcd refuses to start`);
      expect(await page.type('DataCorrupt', ours)).toContain(message);
      expect(await page.type('status.dataComparison', ours)).toContain('"refuses":true');
      await said('AwaitingApproval', at.name, 'Progressing');
      expect(await page.type('kubectl etcd explain example', ours)).toContain(member);
      const { awaitedApproval } = await status();
      const [id = ''] = awaitedApproval?.ids ?? [];
      await page.type('kubectl etcd approve example', command =>
        ours(command).replace(/approve (\S+)/, `approve $1 --operation replaceMember --id '${id}' --yes`),
      );
      await poll(async () => (await status()).operation?.type === 'replaceMember', {
        timeoutMs: PATIENCE_MS,
        intervalMs: 20,
      });
      expect(killOperators(world())).toBeGreaterThan(0);
      await replaced(member);
    },
    { lost: 1 },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  await expectEvidence(member);
  expect(await page.type('kubectl get events', ours)).toContain('is kept as evidence');
  expect(await page.type('kubectl get pvc', ours)).toContain(`${member} its data differs`);
  expect(await page.type('kubectl etcd leftovers', ours)).toContain(member);
}, 900_000);

const REPAIR = { replaceAfterSeconds: 20, maxReplacementsPerHour: 100 };

/** Members serve what they have, and all were compared. */
async function unchecked(corruption: 'Ask' | 'Replace'): Promise<void> {
  await cluster.apply({ size: 3, ...UNCHECKED, repair: { ...REPAIR, corruption } });
  await awaitRunning(world(), at);
  const isUnchecked = (pod: object) => JSON.stringify(pod).includes('ETCD_FEATURE_GATES');
  await poll(async () => (await podsOf(world(), at.namespace, at.name)).every(isUnchecked), {
    timeoutMs: PATIENCE_MS,
  });
  await poll(
    async () =>
      (await status()).dataComparison?.lastEqual !== undefined &&
      (await condition('Progressing'))?.reason === 'AsSpecified',
    {
      timeoutMs: PATIENCE_MS,
      otherwise: async () => JSON.stringify(await status(), null, 1),
    },
  );
}

test('a leader that serves what is wrong is found, kept off the clients and replaced by policy, both operators killed in the middle', async () => {
  await unchecked('Ask');
  await write();
  await drill(
    'bits flipped in a leader',
    async () => {
      const { member } = await leaderOf(world(), at);
      const endpoint = await endpointOf(member);
      flipBits(world(), at, member, VALUE);
      await lead(member);
      const message = await said('MemberDiffers');
      console.log(message);
      expect(message).toContain(`${member} does not have the data of`);
      await poll(async () => !(await readyEndpoints(world(), at.namespace, at.name)).includes(endpoint), {
        timeoutMs: 60_000,
      });
      await cluster.apply({ size: 3, ...UNCHECKED, repair: { ...REPAIR, corruption: 'Replace' } });
      await poll(async () => (await status()).operation?.type === 'replaceMember', {
        timeoutMs: PATIENCE_MS,
        intervalMs: 20,
      });
      expect(killOperators(world())).toBeGreaterThan(0);
      await replaced(member);
      await expectEvidence(member);
    },
    { lost: 1 },
  );
}, 900_000);

test('CORRUPT is disarmed when the member that differed is gone, and writes go through again', async () => {
  await unchecked('Replace');
  await write();
  // A compaction takes away what the checker of other drills reads, so the writes are remembered here.
  const acknowledged = new Map<string, string>();
  const put = (key: string, value: string) =>
    new BackupStory(world(), at.namespace).through(at.name, async etcd => {
      await etcd.put(key).value(value);
      acknowledged.set(key, value);
    });
  for (let key = 0; key < 50; key += 1) await put(`before/${key}`, `${key}`);
  const { member: leader } = await leaderOf(world(), at);
  const member = (await names()).find(name => name !== leader) ?? '';
  const etcdctl = (...args: string[]) => kubectl('exec', leader, '-c', 'etcd', '--', 'etcdctl', ...args);
  const pause = (paused: boolean) =>
    kubectl('patch', 'etcd', at.name, '--type=merge', '-p', JSON.stringify({ spec: { paused } }));
  // Nobody compares before etcd does.
  await pause(true);
  flipBits(world(), at, member, VALUE);
  await poll(
    async () => (await etcdctl('endpoint', 'health', '--cluster')).match(/is healthy/g)?.length === 3,
    {
      timeoutMs: PATIENCE_MS,
    },
  ).catch(() => undefined);
  const revision = /"revision":(\d+)/.exec(await etcdctl('endpoint', 'status', '-w', 'json'))?.[1] ?? '';
  await etcdctl('compact', revision);
  await poll(async () => /CORRUPT/.test((await condition('Healthy'))?.message ?? ''), {
    timeoutMs: PATIENCE_MS,
  });
  await expect(put('refused', 'x')).rejects.toThrow();
  const begun = performance.now();
  await pause(false);
  await poll(
    async () =>
      put('after', 'y').then(
        () => true,
        () => false,
      ),
    { timeoutMs: PATIENCE_MS },
  );
  console.log(
    `writes go through ${((performance.now() - begun) / 1_000).toFixed(1)} s after the end of the pause`,
  );
  await replaced(member);
  await expectEvidence(member);
  expect(await etcdctl('alarm', 'list')).toBe('');
  expect(await kubectl('get', 'events', '--field-selector', 'reason=AlarmDisarmed')).toContain(
    'disarmed CORRUPT',
  );
  await new BackupStory(world(), at.namespace).through(at.name, async etcd => {
    for (const [key, value] of acknowledged) expect(await etcd.get(key).string()).toBe(value);
  });
}, 900_000);

test('one against one waits for a person, who is shown both', async () => {
  const name = 'pair';
  await world().kube.apply(
    manifest(at.namespace, name, {
      size: 2,
      version: '3.6.16',
      ...UNCHECKED,
      repair: { corruption: 'Replace' },
    }),
  );
  await awaitRunning(world(), { namespace: at.namespace, name });
  await write(name);
  flipBits(world(), { namespace: at.namespace, name }, `${name}-1`, VALUE);
  const message = await said('NoMajority', name);
  console.log(message);
  expect(message).toMatch(
    new RegExp(
      `${name}-0: hash [0-9a-f]+; ${name}-1: hash [0-9a-f]+|${name}-1: hash [0-9a-f]+; ${name}-0: hash [0-9a-f]+`,
    ),
  );
  expect((await status(name)).members?.details).toHaveLength(2);
  await page.type('kubectl etcd replace example example-1 --yes', called(name));
  await poll(
    async () => {
      const { members, ready } = await status(name);
      return (
        ready === '2/2' &&
        members?.details?.every(each => each.name !== `${name}-1`) === true &&
        (await condition('DataCorrupt', name)) === undefined
      );
    },
    { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await status(name), null, 1) },
  );
}, 900_000);

test('no command of the page is left', () => {
  expect([...page.untried]).toEqual([]);
});
