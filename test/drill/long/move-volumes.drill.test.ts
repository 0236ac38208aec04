/**
 * Members that move to other volumes, as docs/operations/move-volumes.md has it, of a cluster that is written to: to a class that does not exist, to another one
 * while both operators are killed, to a smaller size while Temporal is wiped, and an abort.
 */
import { beforeAll, expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { awaitCondition, claimsOf, readCluster } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const PATIENCE_MS = 300_000;
const cluster = drilledCluster('drill-move-volumes', 3, {
  storage: {
    volumeClaimTemplate: {
      spec: { storageClassName: 'standard', resources: { requests: { storage: '2Gi' } } },
    },
  },
});
const { at, drill, world } = cluster;
let page: Runbook;

beforeAll(() => void (page = new Runbook(world(), at.namespace, 'operations/move-volumes.md')));

/** The commands of the page are about a cluster of another name, and other classes and sizes. */
const ours =
  (storageClass = 'sized', size = '1Gi') =>
  (command: string) =>
    command
      .replaceAll('example', at.name)
      .replaceAll('fast', storageClass)
      .replaceAll('moved.yaml', '/tmp/move-volumes.yaml')
      .replace('"storage":"2Gi"', `"storage":"${size}"`);

const statusNow = async () => (await readCluster(world(), at.namespace, at.name))?.status ?? {};
const members = async () => ((await statusNow()).members?.details ?? []).map(({ name }) => name);
const conditionNow = async (type: string) =>
  (await statusNow()).conditions?.find(condition => condition.type === type);

/** Class and size of the claim of every member. */
async function volumes(): Promise<string[]> {
  const names = await members();
  return (await claimsOf(world(), at.namespace, at.name))
    .filter(({ metadata }) => names.includes(metadata.name))
    .map(claim => {
      const spec = claim['spec'] as {
        storageClassName: string;
        resources: { requests: { storage: string } };
      };
      return `${spec.storageClassName} ${spec.resources.requests.storage}`;
    });
}

/** Every member is another one than before, on such a volume, and each that went was replaced by one operation. */
async function expectMoved(before: readonly string[], volume: string): Promise<void> {
  await poll(async () => (await statusNow()).operation === undefined, { timeoutMs: PATIENCE_MS });
  expect(await volumes()).toEqual([volume, volume, volume]);
  expect((await members()).filter(name => before.includes(name))).toEqual([]);
  const { history = [], replacements = [], storage } = await statusNow();
  expect(history[0]).toMatchObject({ type: 'replaceMember', outcome: 'Succeeded' });
  expect(history[0]?.why).toContain('spec.storage asks for other volumes');
  expect(replacements).toEqual([]);
  expect(`${storage?.storageClassName} ${storage?.size}`).toBe(volume);
  // Of those that went nothing is left.
  await poll(
    async () =>
      (await claimsOf(world(), at.namespace, at.name)).every(
        ({ metadata }) => !before.includes(metadata.name),
      ),
    { timeoutMs: PATIENCE_MS },
  );
}

/** The step under way is one of these. */
const isAbout = (step: RegExp) => async () => step.test((await statusNow()).operation?.step ?? '');
const joins = isAbout(/promote it$/);

test('to a class that does not exist: no member is touched, and it is said', async () => {
  const before = await members();
  await drill('move: to no class', async () => {
    await page.type(
      '--type merge -p \\\n  \'{"spec":{"storage":{"volumeClaimTemplate":{"spec":{"storageClassName"',
      ours('nowhere'),
    );
    const said = await poll(
      async () => {
        const { message = '' } = (await conditionNow('Progressing')) ?? {};
        return message.includes('StorageClass nowhere does not exist') && message;
      },
      { timeoutMs: PATIENCE_MS },
    );
    expect(said).toContain('no member is replaced');
    expect(await members()).toEqual(before);
    await cluster.apply({ size: 3, ...storageOf('standard', '2Gi') });
  });
  await awaitCondition(world(), at, { type: 'VolumesReplaced', timeoutMs: PATIENCE_MS });
  expect(await members()).toEqual(before);
});

function storageOf(storageClassName: string, storage: string) {
  return {
    storage: { volumeClaimTemplate: { spec: { storageClassName, resources: { requests: { storage } } } } },
  };
}

test('to another class, planned first, and both operators killed while the first learner joins', async () => {
  const before = await members();
  const { member: leader } = await leaderOf(world(), at);
  await page.type('kubectl get etcd example -o yaml', ours());
  const planned = await page.type('kubectl etcd plan example -f', ours());
  for (const name of before) expect(planned).toMatch(new RegExp(`remove ${name} `));
  expect(planned.indexOf(`remove ${leader} `)).toBe(
    Math.max(...before.map(name => planned.indexOf(`remove ${name} `))),
  );
  const { verdict } = await drill(
    'move: to another class, operators killed',
    async () => {
      await page.type(
        '--type merge -p \\\n  \'{"spec":{"storage":{"volumeClaimTemplate":{"spec":{"storageClassName"',
        ours(),
      );
      await poll(joins, { timeoutMs: PATIENCE_MS, intervalMs: 50 });
      expect(await page.type('VolumesReplaced")].message', ours())).toMatch(
        /3 of 3 members are to be replaced, one at a time; .*StorageClass standard, and spec.storage asks for sized/,
      );
      expect(killOperators(world())).toBeGreaterThan(0);
      await page.type('kubectl wait etcd example', ours());
    },
    { size: 3, lost: 3 },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  await expectMoved(before, 'sized 2Gi');
});

test('to a smaller size, Temporal wiped in the middle', async () => {
  const before = await members();
  await drill(
    'move: to a smaller size, Temporal wiped',
    async () => {
      await page.type('{"requests":{"storage":"2Gi"}}', ours());
      await poll(isAbout(/^stop /), { timeoutMs: PATIENCE_MS, intervalMs: 50 });
      await world().stack.temporal.wipe();
      await awaitCondition(world(), at, { type: 'VolumesReplaced', timeoutMs: PATIENCE_MS });
    },
    { size: 3, lost: 3, silent: true },
  );
  await expectMoved(before, 'sized 1Gi');
});

test('paused, resumed and aborted in the middle: the learner goes, and who has not moved stays', async () => {
  const before = await members();
  await drill(
    'move: paused and aborted',
    async () => {
      await cluster.apply({ size: 3, ...storageOf('standard', '1Gi') });
      await poll(joins, { timeoutMs: PATIENCE_MS, intervalMs: 50 });
      await page.type('kubectl etcd pause example', ours());
      await awaitCondition(world(), at, { type: 'Paused', timeoutMs: PATIENCE_MS });
      await page.type('kubectl etcd resume example', ours());
      await poll(async () => (await conditionNow('Paused'))?.status !== 'True', { timeoutMs: PATIENCE_MS });
      await poll(joins, { timeoutMs: PATIENCE_MS, intervalMs: 50 });
      await page.type('kubectl etcd abort example', ours());
      await poll(async () => (await statusNow()).lastOperation?.outcome === 'Aborted', {
        timeoutMs: PATIENCE_MS,
      });
      expect((await conditionNow('Progressing'))?.message).toContain('was aborted by');
      await cluster.apply({ size: 3, ...storageOf('sized', '1Gi') });
    },
    { size: 3, lost: 'any' },
  );
  await awaitCondition(world(), at, { type: 'VolumesReplaced', timeoutMs: PATIENCE_MS });
  expect(await volumes()).toEqual(['sized 1Gi', 'sized 1Gi', 'sized 1Gi']);
  expect((await members()).filter(name => before.includes(name)).length).toBeGreaterThan(0);
});

test('no command of the page is left', () => {
  expect([...page.untried]).toEqual([]);
});
