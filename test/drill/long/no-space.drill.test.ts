/**
 * Databases that have reached their quota, by each reason, as docs/operations/no-space.md has it: who has to do something, and that every write that was
 * acknowledged is there afterwards. Operators are killed and Temporal is wiped in the middle.
 */
import { beforeAll, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { awaitCondition, awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const namespace = 'drill-no-space';
const PATIENCE_MS = 240_000;
const VALUE = 'x'.repeat(1 << 18);

let world: World;
let story: BackupStory;
let page: Runbook;
useNamespace(namespace, opened => void (world = opened));
beforeAll(() => {
  story = new BackupStory(world, namespace);
  page = new Runbook(world, namespace, 'operations/no-space.md');
});

/** One cluster for each reason, and what was written to it. */
class Full {
  readonly at: { readonly namespace: string; readonly name: string };
  /** Keys with what was written last and acknowledged, and what was refused since: etcd may have applied that (apply/quota.go). */
  readonly acknowledged = new Map<string, readonly string[]>();

  constructor(name: string) {
    this.at = { namespace, name };
  }

  /** The commands of the page are about a cluster of another name. */
  readonly ours = (command: string) => command.replaceAll('example', this.at.name);

  async create(etcd: EtcdClusterSpec['etcd'] = {}): Promise<void> {
    const spec = {
      size: 3,
      version: '3.6.16',
      pod: ASKING_FOR_CPU,
      etcd: { quotaBackendBytes: '16Mi', ...etcd },
    };
    await world.kube.apply(manifest(namespace, this.at.name, spec));
    await awaitRunning(world, this.at, PATIENCE_MS);
  }

  async pause(paused: boolean): Promise<void> {
    const patch = JSON.stringify({ spec: { paused } });
    await world.stack.kubectl('-n', namespace, 'patch', 'etcd', this.at.name, '--type=merge', '-p', patch);
  }

  async put(key: string, value: string): Promise<void> {
    const before = this.acknowledged.get(key);
    if (before !== undefined) this.acknowledged.set(key, [...before, value]);
    await story.through(this.at.name, async etcd => void (await etcd.put(key).value(value)));
    this.acknowledged.set(key, [value]);
  }

  isRefused(): Promise<boolean> {
    return this.put('probe', `at ${Date.now()}`).then(
      () => false,
      () => true,
    );
  }

  /** Writes until etcd refuses. */
  async fill(key: (index: number) => string): Promise<number> {
    for (let index = 0; ; index += 1) {
      const isFull = await this.put(key(index), `${index} ${VALUE}`).then(
        () => false,
        () => true,
      );
      if (isFull) return index;
    }
  }

  etcdctl(...args: string[]): Promise<string> {
    return world.stack.kubectl(
      '-n',
      namespace,
      'exec',
      `${this.at.name}-0`,
      '-c',
      'etcd',
      '--',
      'etcdctl',
      ...args,
    );
  }

  async condition(type: string) {
    return (await this.status()).conditions?.find(each => each.type === type);
  }

  async status() {
    return (await readCluster(world, namespace, this.at.name))?.status ?? {};
  }

  said(type: string, words: RegExp): Promise<string> {
    return poll(
      async () => {
        const { message = '' } = (await this.condition(type)) ?? {};
        return words.test(message) ? message : undefined;
      },
      { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify((await this.status()).conditions) },
    );
  }
}

/** The alarm is gone, writes go through, and every write that was acknowledged is there, in every member alike. */
async function expectWritable(full: Full): Promise<void> {
  await poll(async () => !(await full.isRefused()), { timeoutMs: PATIENCE_MS });
  expect(await full.etcdctl('alarm', 'list')).toBe('');
  await awaitCondition(world, full.at, { type: 'Healthy', timeoutMs: PATIENCE_MS });
  await story.through(full.at.name, async etcd => {
    for (const [key, values] of full.acknowledged) expect(values).toContain(await etcd.get(key).string());
  });
  await poll(async () => (await full.status()).operation === undefined, { timeoutMs: PATIENCE_MS });
  const { history = [] } = await full.status();
  expect(history[0]).toMatchObject({ type: 'reclaimSpace', outcome: 'Succeeded' });
  const hashes = await full.etcdctl('endpoint', 'hashkv', '--cluster', '-w', 'json');
  expect(new Set([...hashes.matchAll(/"hash":(\d+)/g)].map(([, hash]) => hash)).size).toBe(1);
}

const isUnderWay = (cluster: Full, operation: string, step: RegExp) => async () => {
  const { operation: now } = await cluster.status();
  return now?.type === operation && step.test(now.step ?? '');
};

test('live data: the message says to raise the quota, and with it writes go through again, both operators killed in the middle', async () => {
  const live = new Full('live');
  await live.create();
  await live.fill(index => `live/${index}`);
  const healthy = await live.said(
    'Healthy',
    /alarm NOSPACE of member [0-9a-f]+; etcd refuses writes: .* quota 16.0 MiB/,
  );
  expect(await page.type('kubectl get etcd example', live.ours)).toContain(healthy);
  const waits = await live.said('Progressing', /live data fills the quota/);
  console.log(`${healthy}\n${waits}`);
  expect(waits).toMatch(/raise spec\.etcd\.quotaBackendBytes to 32Mi \(the volumes of \w+ have /);
  expect(await page.type('kubectl etcd explain example', live.ours)).toContain('quotaBackendBytes');
  expect(await live.condition('QuorumAtRisk')).toBeUndefined();
  expect(await live.isRefused()).toBe(true);

  await page.type('kubectl patch etcd example', live.ours);
  await poll(isUnderWay(live, 'rolloutCluster', /^(start|wait until)/), {
    timeoutMs: PATIENCE_MS,
    intervalMs: 100,
  });
  expect(killOperators(world)).toBeGreaterThan(0);
  await expectWritable(live);
  expect((await live.status()).history?.[1]).toMatchObject({ type: 'rolloutCluster', outcome: 'Succeeded' });
  expect(await page.type('kubectl get events', live.ours)).toMatch(
    /a write went through live-0, live-1, live-2/,
  );
}, 900_000);

test('history: a compaction is asked for with its numbers, and goes on when it is approved, Temporal wiped in the middle', async () => {
  const past = new Full('past');
  await past.create({ autoCompaction: { mode: 'off' } });
  const versions = await past.fill(() => 'one');
  const asks = await past.said('Progressing', /compacting to revision \d+ loses the history before it/);
  console.log(asks);
  expect((await past.condition('Progressing'))?.reason).toBe('AwaitingApproval');
  expect([`1 keys in about ${versions} versions`, `1 keys in about ${versions + 1} versions`]).toContain(
    /1 keys in about \d+ versions/.exec(asks)?.[0],
  );
  expect(asks).toContain('nobody has compacted it (spec.etcd.autoCompaction is off)');
  expect(await past.isRefused()).toBe(true);
  const { awaitedApproval } = await past.status();
  expect(awaitedApproval).toMatchObject({ operation: 'reclaimSpace' });
  const [id = ''] = awaitedApproval?.ids ?? [];
  await page.type('kubectl etcd approve example', command =>
    past.ours(command).replace(/approve (\S+)/, `approve $1 --operation reclaimSpace --id '${id}' --yes`),
  );
  await poll(isUnderWay(past, 'reclaimSpace', /./), { timeoutMs: PATIENCE_MS, intervalMs: 50 });
  await world.stack.temporal.wipe();
  await expectWritable(past);
}, 900_000);

test('free pages: nobody has to do anything, both operators killed while a member is being defragmented', async () => {
  const holey = new Full('holey');
  await holey.create({ autoCompaction: { mode: 'off' } });
  // Paused, so that the alarm and the free pages are there together.
  await holey.pause(true);
  const written = await holey.fill(index => `many/${index}`);
  await holey.said('Healthy', /NOSPACE/);
  await holey.etcdctl('del', '--prefix', 'many/1');
  for (const key of [...holey.acknowledged.keys()].filter(each => each.startsWith('many/1')))
    holey.acknowledged.delete(key);
  await holey.etcdctl('compact', '--physical', String(written + 2));
  await holey.etcdctl('del', 'many/2');
  holey.acknowledged.delete('many/2');
  console.log(await holey.said('Healthy', /defragmentation makes room/));
  const before = await pods(holey);
  await holey.pause(false);
  await poll(isUnderWay(holey, 'reclaimSpace', /^defragment/), { timeoutMs: PATIENCE_MS, intervalMs: 20 });
  expect(killOperators(world)).toBeGreaterThan(0);
  await expectWritable(holey);
  expect(await pods(holey)).toEqual(before);
}, 900_000);

const pods = async ({ at: { name } }: Full) =>
  (await podsOf(world, namespace, name)).map(({ metadata }) => metadata.uid).toSorted();

test('no command of the page is left', () => {
  expect([...page.untried]).toEqual([]);
});
