/**
 * What happens to backups on bad days: operators killed in the middle, a store that is away or full, and a time of the schedule
 * at which nobody was there.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { awaitRunning, createNamespace, leaveNamespace, manifest, openWorld } from '../../stack/e2e.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { STRIKES } from '../../stack/drill/strike.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { fill } from '../../stack/stack-keys.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';
import type { Seen } from '../../fakes/store-front.ts';

const NAMESPACE = 'drill-backups';
const CLUSTER = 'example';
const REPLICAS = 2;
const MEBIBYTES = 40;
const MIB = 1024 * 1024;

let story: BackupStory;
let store: StackStore;
beforeAll(async () => {
  const world = await openWorld();
  await createNamespace(world, NAMESPACE);
  story = new BackupStory(world, NAMESPACE);
  store = await startStackStore(world, NAMESPACE, 'S3');
  await world.kube.apply(manifest(NAMESPACE, CLUSTER, { size: 1, version: '3.6.16' }));
  await awaitRunning(world, { namespace: NAMESPACE, name: CLUSTER });
  await story.through(CLUSTER, etcd => fill(etcd, MEBIBYTES));
});
afterAll(async () => {
  await store?.stop();
  await leaveNamespace(story?.world, NAMESPACE);
});
beforeEach(async () => {
  store.front.reset();
  await freshOperators(story.world, REPLICAS);
});

function specOf(name: string, backupPolicy: EtcdBackupSpec['backupPolicy'] = {}): EtcdBackupSpec {
  const block = blockOf(store, `bucket/${name}/etcd`);
  return { clusterRef: { name: CLUSTER }, storageType: 'S3', ...block, backupPolicy };
}

/** Uploads take about ten seconds. */
function slowDown(): void {
  store.front.fault = ({ method }) =>
    method === 'PUT' ? { kind: 'slow', bytesPerSecond: 4 * MIB } : undefined;
}

/** Waits until a run is recorded, and so much of its snapshot has been read; gives the time that names it. */
function under(name: string, bytes = 0): Promise<string> {
  return poll(
    async () => {
      const { progress } = (await story.backup(name))?.status ?? {};
      return (progress?.bytes ?? 0) >= bytes ? progress?.startedAt : undefined;
    },
    { timeoutMs: 60_000, otherwise: async () => JSON.stringify((await story.backup(name))?.status) },
  );
}

/** The keys of a backup's folder in the store, and whether its object is what its manifest says. */
async function stored(name: string): Promise<{ readonly keys: string[]; readonly isWhole: boolean }> {
  const all = [...(await store.contents())].filter(([key]) => key.startsWith(`${name}/`));
  const keys = all.map(([key]) => key).toSorted();
  const bytes = new Map(all);
  const objects = keys.filter(key => !key.endsWith('.json'));
  const isWhole = objects.every(key => {
    const { entry } = JSON.parse(bytes.get(`${key}.json`)?.toString() ?? '{}');
    const sha256 = createHash('sha256')
      .update(bytes.get(key) ?? '')
      .digest('hex');
    return entry?.sha256 === sha256;
  });
  return { keys, isWhole: isWhole && objects.length > 0 };
}

/** The request to the store at which the operators die, and what is in the store then. */
const MOMENTS: readonly {
  readonly when: string;
  readonly at: (seen: Seen) => boolean;
  readonly left: string[];
}[] = [
  { when: 'with the first part', at: ({ path }) => path.includes('partNumber=1&'), left: [] },
  { when: 'in the middle of the upload', at: ({ path }) => path.includes('partNumber=4&'), left: [] },
  {
    when: 'before the object appears',
    at: ({ method, path }) => method === 'POST' && path.includes('uploadId='),
    left: [],
  },
  {
    when: 'before the manifest is written',
    at: ({ method, path }) => method === 'PUT' && path.includes('.json'),
    left: ['etcd'],
  },
];

describe('every operator killed with -9', () => {
  test.each(MOMENTS)(
    '$when: no half object, and the run is finished',
    async ({ when, at, left }) => {
      const name = when.replaceAll(' ', '-');
      let isReached = false;
      store.front.fault = seen => {
        isReached ||= at(seen);
        return isReached ? { kind: 'hang' } : undefined;
      };
      await story.apply('EtcdBackup', name, specOf(name));
      const startedAt = await under(name);
      await poll(async () => isReached, { timeoutMs: 60_000 });
      expect(killOperators(story.world)).toBe(REPLICAS);
      store.front.reset();
      expect((await stored(name)).keys).toEqual(left.map(key => `${name}/${key}`));
      const { status } = await story.backedUp(name);
      expect(status).toMatchObject({
        succeeded: true,
        lastRun: { startedAt },
        history: [{ time: startedAt }],
      });
      expect(await stored(name)).toEqual({ keys: [`${name}/etcd`, `${name}/etcd.json`], isWhole: true });
    },
    240_000,
  );
});

test.each(['Structure', 'Restore'] as const)(
  'every operator killed with -9 while a backup is verified: %s',
  async verify => {
    const name = `verified-${verify.toLowerCase()}`;
    await story.apply('EtcdBackup', name, { ...specOf(name), verify });
    const startedAt = await under(name);
    const pod = { apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE, name: `${name}-backup-verify` };
    await poll(() => story.world.kube.get(pod), { timeoutMs: 60_000, intervalMs: 100 });
    expect(killOperators(story.world)).toBe(REPLICAS);
    expect((await story.backup(name))?.status).not.toMatchObject({ succeeded: true });
    const { status } = await story.backedUp(name, 'Succeeded', 180_000);
    expect(status).toMatchObject({
      lastRun: { startedAt },
      history: [{ time: startedAt, verified: verify }],
    });
    expect(await stored(name)).toEqual({ keys: [`${name}/etcd`, `${name}/etcd.json`], isWhole: true });
    await poll(async () => (await story.world.kube.get(pod)) === undefined, { timeoutMs: 60_000 });
  },
  300_000,
);

/** What becomes of a run: a strike at its own workflow ends it, and one at the entity's does so only when it is meant to. */
const OUTCOMES = {
  operation: { terminate: 'Failed', cancel: 'Aborted', reset: 'Succeeded' },
  entity: { terminate: 'Succeeded', cancel: 'Aborted', reset: 'Succeeded' },
} as const;

test.each(STRIKES)(
  '$verb of the workflow of the $on in the middle of an upload: it is reported, and there is no half object',
  async ({ verb, on }) => {
    const name = `${verb}-${on}`;
    const outcome = OUTCOMES[on][verb];
    slowDown();
    await story.apply('EtcdBackup', name, specOf(name));
    const startedAt = await under(name, 4 * MIB);
    const workflowId = (await story.backup(name))?.status?.workflowID;
    const operations = await openOperations(story.world, { namespace: NAMESPACE, name }, workflowId);
    try {
      const run = await poll(() => operations.newest());
      expect((await stored(name)).keys).toEqual([]);
      // An upload that could continue would: the worker hears within its heartbeat's ten seconds that nobody waits for it.
      const isOrphaned = outcome === 'Failed';
      if (isOrphaned) store.front.fault = () => ({ kind: 'hang' });
      await operations.act(verb, on, run);
      const { status } = await story.backedUp(name, outcome);
      if (isOrphaned) await delay(12_000);
      store.front.reset();
      expect(status).toMatchObject({ succeeded: outcome === 'Succeeded', lastRun: { startedAt } });
      if (outcome === 'Succeeded') return;
      expect((await stored(name)).keys).toEqual([]);
      // It was of that run: the next one is made when somebody asks for it.
      await operations.signal('backup');
      await story.backedUp(name);
    } finally {
      await operations.close();
      expect(await stored(name)).toEqual({ keys: [`${name}/etcd`, `${name}/etcd.json`], isWhole: true });
    }
  },
  240_000,
);

test('a store that goes away in the middle is waited for', async () => {
  slowDown();
  await story.apply('EtcdBackup', 'away', specOf('away'));
  const startedAt = await under('away', 4 * MIB);
  store.front.fault = () => ({ kind: 'status', status: 503 });
  await delay(20_000);
  const { phase, progress } = (await story.backup('away'))?.status ?? {};
  expect(['Running', 'Retrying']).toContain(phase);
  expect(progress).toMatchObject({ startedAt });
  store.front.reset();
  const { status } = await story.backedUp('away');
  expect(status?.lastRun).toMatchObject({ startedAt });
  expect(await stored('away')).toEqual({ keys: ['away/etcd', 'away/etcd.json'], isWhole: true });
}, 240_000);

test.each(['apiserver', 'temporal'] as const)(
  'the %s is away in the middle of an upload; Temporal comes back without its database',
  async server => {
    const { stack } = story.world;
    const name = `without-${server}`;
    slowDown();
    await story.apply('EtcdBackup', name, specOf(name));
    const startedAt = await under(name, 4 * MIB);
    await stack[server].stop();
    try {
      // The upload takes less: it ends before that is known.
      await delay(20_000);
    } finally {
      if (server === 'temporal') await stack.temporal.wipe();
      await stack[server].start();
    }
    store.front.reset();
    const { status } = await story.backedUp(name, 'Succeeded', 180_000);
    expect(status).toMatchObject({ lastRun: { startedAt }, history: [{ time: startedAt }] });
    expect(await stored(name)).toEqual({ keys: [`${name}/etcd`, `${name}/etcd.json`], isWhole: true });
  },
  300_000,
);

test('a store that is full is reported, and a backup of a schedule is tried again by itself', async () => {
  // As MinIO says it: what does not answer as a store does is not quoted.
  const body = '<Error><Code>XMinioStorageFull</Code><Message>no free space</Message></Error>';
  store.front.fault = ({ method }) => (method === 'PUT' ? { kind: 'status', status: 507, body } : undefined);
  await story.apply('EtcdBackup', 'full', specOf('full', { backupIntervalInSecond: 86_400 }));
  const { status } = await story.backedUp('full', 'Failed');
  expect(status?.Reason).toContain('free space in the store or raise its quota');
  const until = Date.parse(status?.nextRun ?? '') - Date.now();
  expect(until).toBeLessThanOrEqual(60_000);
  expect((await stored('full')).keys).toEqual([]);
  store.front.reset();
  const after = await story.backedUp('full');
  expect(after.status?.lastRun?.scheduledFor).toBe(status?.lastRun?.scheduledFor);
  expect(await stored('full')).toMatchObject({ keys: { length: 2 }, isWhole: true });
}, 240_000);

test('times of the schedule at which no operator was there are made up for by one backup', async () => {
  const { stack } = story.world;
  const scale = async (replicas: number): Promise<void> => {
    const deployment = ['deployment', 'etcd-operator'];
    await stack.kubectl('-n', OPERATOR_NAMESPACE, 'scale', ...deployment, `--replicas=${replicas}`);
  };
  const [first, second] = nextMinutes();
  await story.apply(
    'EtcdBackup',
    'missed',
    specOf('missed', { schedule: `${first.minute},${second.minute} * * * *` }),
  );
  await poll(async () => (await story.backup('missed'))?.status?.nextRun === first.time, {
    otherwise: async () => JSON.stringify((await story.backup('missed'))?.status),
  });
  try {
    await scale(0);
    await delay(Date.parse(second.time) + 5_000 - Date.now());
    expect((await stored('missed')).keys).toEqual([]);
  } finally {
    await scale(REPLICAS);
  }
  const { status } = await story.backedUp('missed');
  expect(status?.lastRun?.scheduledFor).toBe(second.time);
  await poll(
    async () => Date.parse((await story.backup('missed'))?.status?.nextRun ?? '') > Date.now() + 600_000,
  );
  expect(await stored('missed')).toMatchObject({ keys: { length: 2 }, isWhole: true });
}, 400_000);

/** Two full minutes to come, the first at least half a minute away. */
function nextMinutes(): readonly [Minute, Minute] {
  const first = Math.ceil((Date.now() + 30_000) / 60_000) * 60_000;
  return [minuteOf(first), minuteOf(first + 60_000)];
}

interface Minute {
  readonly minute: number;
  /** RFC 3339. */
  readonly time: string;
}

function minuteOf(at: number): Minute {
  return { minute: new Date(at).getUTCMinutes(), time: new Date(at).toISOString().replace('.000Z', 'Z') };
}
