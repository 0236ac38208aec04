/**
 * Defragmentation of a database of 1 GiB, half of it free, under five hundred writes a second: on request as docs/operations/defragment.md has it,
 * by hand with etcdctl in the same run, by schedule, and with the operators killed while a member is being defragmented.
 */
import { beforeAll, expect, test } from 'vitest';
import { ANNOTATION_DEFRAGMENTED } from '../../../src/api/names.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { awaitRunning, podsOf, readCluster } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { BackupStory } from '../../stack/backup-story.ts';

const MIB = 2 ** 20;
const VALUES = 1024;
const SPEC = {
  etcd: { quotaBackendBytes: '4Gi' },
  storage: { volumeClaimTemplate: { spec: { resources: { requests: { storage: '16Gi' } } } } },
} as never;
const RATE = { writesPerSecond: 500 };
const cluster = drilledCluster('drill-defragment', 3, SPEC);
const { at, drill, kubectl, world } = cluster;
let page: Runbook;

beforeAll(() => void (page = new Runbook(world(), at.namespace, 'operations/defragment.md')));

/** The commands of the page are about a cluster of another name. */
const ours = (command: string) => command.replaceAll('example', at.name);

/** Fills every file, and deletes half of what is in it. */
async function fragment(): Promise<void> {
  await new BackupStory(world(), at.namespace).through(at.name, async etcd => {
    for (let key = 0; key < VALUES; key += 1)
      await etcd.put(`large/${key}`).value(Buffer.alloc(MIB, `${key} `));
    for (let key = 0; key < VALUES; key += 2) await etcd.delete().key(`large/${key}`);
  });
  const status = await etcdctl(`${at.name}-0`, 'endpoint', 'status', '-w', 'json');
  const revision = /"revision":(\d+)/.exec(status)?.[1] ?? '';
  await etcdctl(`${at.name}-0`, 'compact', '--physical', '--command-timeout=3m', revision);
  await poll(async () => (await sizes()).every(({ size, inUse }) => size > 1.5 * inUse), {
    timeoutMs: 120_000,
  });
}

const etcdctl = (pod: string, ...args: string[]) =>
  kubectl('exec', pod, '-c', 'etcd', '--', 'etcdctl', ...args);

/** Bytes of each file. */
async function sizes(): Promise<{ readonly size: number; readonly inUse: number }[]> {
  const said = await etcdctl(`${at.name}-0`, 'endpoint', 'status', '--cluster', '-w', 'json');
  return [...said.matchAll(/"dbSize":(\d+).*?"dbSizeInUse":(\d+)/g)].map(([, size, inUse]) => ({
    size: Number(size),
    inUse: Number(inUse),
  }));
}

async function times(): Promise<string[]> {
  const pods = await podsOf(world(), at.namespace, at.name);
  return pods.map(({ metadata }) => metadata.annotations?.[ANNOTATION_DEFRAGMENTED] ?? '');
}

async function expectSmall(): Promise<void> {
  for (const { size, inUse } of await sizes()) expect(size).toBeLessThan(1.3 * inUse);
}

test('all members, on request', async () => {
  await fragment();
  const { verdict } = await drill(
    'defragment: on request',
    async () => {
      expect(await page.type('kubectl etcd defragment example --yes --wait', ours)).toContain('defragmented');
    },
    RATE,
  );
  expect(verdict.longestStallMs).toBeLessThan(5_000);
  await expectSmall();
  expect(await page.type('kubectl etcd status example', ours)).toContain(`${at.name}-0`);
  expect(await page.type('kubectl get events', ours)).toContain('MiB before');
  const { lastOperation } = (await readCluster(world(), at.namespace, at.name))?.status ?? {};
  expect(lastOperation).toMatchObject({ type: 'defragmentMembers', outcome: 'Succeeded' });
});

test('by hand, to compare', async () => {
  await fragment();
  await drill(
    'defragment: by hand with etcdctl',
    async () => {
      const { member } = await leaderOf(world(), at);
      const names = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
      for (const name of [...names.filter(each => each !== member), member])
        await etcdctl(name, 'defrag', '--command-timeout=10m');
    },
    RATE,
  );
  await expectSmall();
});

test('one member, which has nothing to free', async () => {
  const before = await times();
  await page.type('kubectl etcd defragment example example-1 --yes --wait', ours);
  const changed = (await times()).filter((time, index) => time !== before[index]);
  expect(changed).toHaveLength(1);
});

test('by schedule, the operators killed while the first member is being defragmented', async () => {
  await fragment();
  await drill(
    'defragment: by schedule, under kills',
    async () => {
      await cluster.apply({
        size: 3,
        ...(SPEC as object),
        maintenance: { defragment: { schedule: '* * * * *' } },
      });
      const isBegun = async () =>
        (await podsOf(world(), at.namespace, at.name)).some(({ metadata }) =>
          metadata.annotations?.['etcd.database.coreos.com/maintenance']?.includes('defragmentation'),
        );
      await poll(isBegun, { timeoutMs: 180_000, intervalMs: 20 });
      expect(killOperators(world())).toBeGreaterThan(0);
      await poll(async () => (await sizes()).every(({ size, inUse }) => size < 1.3 * inUse), {
        timeoutMs: 240_000,
        intervalMs: 1_000,
      });
    },
    RATE,
  );
  await awaitRunning(world(), at);
});

test('no command of the page is left', () => {
  expect([...page.untried]).toEqual([]);
});
