/** docs/operations/intervene.md as it is written: each of its lines is typed, and what is said beside it comes about. */
import { beforeAll, expect, test } from 'vitest';
import type { PlanAnswer, StatusAnswer } from '../../../src/workflows/messages/cluster.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { leaderOf, runDrill } from '../../stack/drill/drill.ts';
import { Handbook } from '../../stack/drill/handbook.ts';
import { awaitCondition, awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

/** The page calls its cluster so. */
const at = { namespace: 'drill-intervene', name: 'example' };
const WAIT = { timeoutMs: 180_000 };
let world: World;
let handbook: Handbook;

useNamespace(at.namespace, opened => void (world = opened));

beforeAll(async () => {
  // Nothing is replaced without a person.
  const repair = { replaceAfterSeconds: 20, maxReplacementsPerHour: 0 };
  await world.kube.apply(
    manifest(at.namespace, at.name, { size: 3, version: '3.6.16', pod: ASKING_FOR_CPU, repair }),
  );
  await awaitRunning(world, at);
  handbook = new Handbook(world, at.namespace, 'operations/intervene.md');
});

async function condition(type: string) {
  const cluster = await readCluster(world, at.namespace, at.name);
  return cluster?.status?.conditions?.find(one => one.type === type);
}

async function pods(): Promise<{ readonly name: string; readonly uid: string }[]> {
  const found = await podsOf(world, at.namespace, at.name);
  return found.map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }));
}

const leader = async (): Promise<string> => (await leaderOf(world, at)).member;
const status = (): Promise<StatusAnswer> => handbook.ask('--name status');
const planned = (): Promise<PlanAnswer> => handbook.ask('query -w $W --name plan');

/** Waits until somebody waits for what was asked for, or nobody does. */
async function awaitRequests(are: 'there' | 'gone'): Promise<void> {
  await poll(async () => ((await status()).requests === undefined) === (are === 'gone'), {
    ...WAIT,
    otherwise: async () => JSON.stringify(await status()),
  });
}

test('what is, and what comes next', async () => {
  expect((await status()).cluster).toMatchObject({ membersReady: 3 });
  await poll(async () => (await planned()).next.includes('nothing to do'));
});

test('a pause holds what is asked for, an abort takes that back, and it continues', async () => {
  const before = await pods();
  await handbook.type('signal -w $W --name pause');
  const paused = await awaitCondition(world, at, { type: 'Paused' });
  expect(paused.status?.conditions?.find(({ type }) => type === 'Paused')?.message).toContain('ana');
  await handbook.type('--name restart');
  await awaitRequests('there');
  await handbook.type('--name abort');
  await awaitRequests('gone');
  await handbook.type('--name resume');
  await poll(async () => (await condition('Paused'))?.status !== 'True');
  await handbook.type('--name resync');
  await poll(async () => (await condition('Progressing'))?.reason === 'AsSpecified');
  expect(await handbook.type('update execute -w $W --name pause')).toMatch(/paused/i);
  await awaitCondition(world, at, { type: 'Paused' });
  await handbook.type('--name resume');
  await poll(async () => (await condition('Paused'))?.status !== 'True');
  expect(await pods()).toEqual(before);
});

test('another member leads', async () => {
  const elsewhere = (line: string) => line.replace('example-2', 'example-0');
  if ((await leader()) === 'example-2') await handbook.type('--name moveLeader', elsewhere);
  await poll(async () => (await leader()) !== 'example-2', WAIT);
  await handbook.type('--name moveLeader');
  await poll(async () => (await leader()) === 'example-2', WAIT);
});

test('every member is restarted', async () => {
  const before = (await pods()).map(({ uid }) => uid);
  await handbook.type('--name restart');
  await poll(async () => (await pods()).every(({ uid }) => !before.includes(uid)), WAIT);
  await awaitRequests('gone');
  await awaitCondition(world, at, { type: 'Healthy' });
});

test('a member is replaced', async () => {
  await handbook.type('--name replaceMember');
  await poll(async () => !(await pods()).some(({ name }) => name === 'example-1'), WAIT);
  await awaitRequests('gone');
  await awaitCondition(world, at, { type: 'Healthy' });
  expect(await pods()).toHaveLength(3);
});

/** The id of the member that the plan asks a person about. */
async function waitsFor(): Promise<string> {
  const approve = await poll(async () => (await planned()).approve, {
    ...WAIT,
    otherwise: async () => JSON.stringify(await planned()),
  });
  expect(approve).toMatchObject({ operation: 'replaceMember', ids: [expect.any(String)] });
  return approve.ids[0] ?? '';
}

test.each([
  { how: 'approved of, and the operators killed before it is replaced', kill: true },
  { how: 'approved of by a signal', kill: false },
])('a member that is lost is $how', async ({ how, kill }) => {
  await freshOperators(world, 2);
  const member = await leader();
  await runDrill({ world, at, size: 3, lost: 1, silent: kill, title: `a lost member, ${how}` }, async () => {
    for (const kind of ['pvc', 'pod'])
      await world.stack.kubectl('-n', at.namespace, 'delete', kind, member, '--wait=false');
    const id = await waitsFor();
    expect((await condition('Progressing'))?.reason).toBe('AwaitingApproval');
    await poll(async () => (await handbook.type('workflow list')).includes(at.name));
    const approve = (commands: string) => commands.replaceAll('8e9e05c5', id);
    if (!kill) return void (await handbook.type('signal -w $W --name approve', approve));
    const reported = await handbook.typeBlock('update execute -w $W --name approve', approve);
    expect(reported).toContain(`replaceMember of ${id} is approved`);
    expect(killOperators(world)).toBeGreaterThan(0);
  });
  const { replacements } = (await readCluster(world, at.namespace, at.name))?.status ?? {};
  expect(replacements?.map(replaced => replaced.member)).toContain(member);
  // Used up: a second loss would have to be approved of again.
  await poll(async () => (await status()).approvals === undefined);
});

test('no line of the page is left out', () => {
  expect([...handbook.untried]).toEqual([]);
});
