/**
 * Signals as the older `tctl` sends them: the request SignalWorkflowExecution with what was typed as payloads of `json/plain`. Each
 * message, with what a person could have typed, is taken or refused with a reason, and the workflow goes on.
 */
import { eventTypesOf, historiesOf } from '../worlds/histories.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { Script } from '../worlds/scripted-activities.ts';
import { type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

/** Sends the signal with these texts as its inputs, each as it was typed. */
async function send(workflowId: string, signalName: string, typed: readonly string[]): Promise<void> {
  const metadata = { encoding: Buffer.from('json/plain') };
  await bench.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    identity: 'tctl@host',
    // Without an input tctl sends no payloads at all.
    ...(typed.length > 0 && {
      input: { payloads: typed.map(text => ({ metadata, data: Buffer.from(text) })) },
    }),
  });
}

/** An entity that has nothing to do, whose passes accept every request. */
async function resting(): Promise<{ readonly entity: Entity; readonly script: Script }> {
  const script = new Script();
  script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
  const entity = await bench.follow(script);
  await entity.quiet();
  return { entity, script };
}

/** That it makes passes, answers, and has failed no task. */
async function expectAlive(entity: Entity, script: Script): Promise<void> {
  const looked = script.actors.length;
  await entity.changed();
  await until(() => script.actors.length > looked);
  await entity.quiet();
  expect(await entity.eventTypes()).not.toContain('workflowTaskFailedEventAttributes');
}

const ANA = '{"by":"ana","reason":"maintenance"}';
const BOB = '{"by":"bob","reason":"another"}';
/** JSON in a JSON string, as a shell with other quotes makes it. */
const quoted = (text: string): string => JSON.stringify(text);

describe('pause', () => {
  it.each([
    ['an object', [ANA], { by: 'ana', reason: 'maintenance' }],
    ['two inputs, of which the first counts', [ANA, BOB], { by: 'ana', reason: 'maintenance' }],
    ['no input', [], {}],
    ['a text, which is the reason', ['"maintenance"'], { reason: 'maintenance' }],
    ['JSON in a text, which is the reason', [quoted(ANA)], { reason: ANA }],
    ['what is no JSON', ['maintenance'], {}],
    ['null', ['null'], {}],
  ])('takes %s', async (_, typed, paused) => {
    const { entity, script } = await resting();
    await send(entity.id, 'pause', typed);
    await until(async () => (await entity.status()).paused !== undefined);
    expect((await entity.status()).paused).toEqual(paused);
    await expectAlive(entity, script);
    expect(script.actors.at(-1)?.paused).toEqual(paused);
  });
});

describe.each(['resume', 'resync', 'abort'])('%s', name => {
  it.each([
    ['an object', [ANA]],
    ['two inputs', [ANA, BOB]],
    ['no input', []],
    ['a text', ['"now"']],
    ['JSON in a text', [quoted(ANA)]],
    ['what is no JSON', ['now']],
  ])('takes effect with %s', async (_, typed) => {
    const { entity, script } = await resting();
    await entity.handle.signal('pause', { by: 'ana' });
    await entity.update('restart', { by: 'ana' }).catch(() => undefined);
    await until(async () => (await entity.status()).requests !== undefined);
    await entity.quiet();
    const looked = script.actors.length;
    await send(entity.id, name, typed);
    await until(() => script.actors.length > looked);
    const { paused, requests } = await entity.status();
    expect({ isPaused: paused !== undefined, isRequested: requests !== undefined }).toEqual({
      isPaused: name !== 'resume',
      isRequested: name !== 'abort',
    });
    await expectAlive(entity, script);
  });
});

const APPROVAL = '{"operation":"replaceMember","ids":["8e9e05c5"],"by":"ana"}';

describe('approve', () => {
  it.each([
    ['an object', [APPROVAL]],
    ['two inputs, of which the first counts', [APPROVAL, BOB]],
  ])('takes %s', async (_, typed) => {
    const { entity, script } = await resting();
    await send(entity.id, 'approve', typed);
    await until(async () => (await entity.status()).approvals !== undefined);
    const { approvals, refused } = await entity.status();
    expect(approvals).toMatchObject([{ operation: 'replaceMember', ids: ['8e9e05c5'], by: 'ana' }]);
    expect(refused).toBeUndefined();
    await expectAlive(entity, script);
  });

  it.each([
    ['no input', []],
    ['a text', ['"8e9e05c5"']],
    ['JSON in a text', [quoted(APPROVAL)]],
    ['what is no JSON', ['8e9e05c5']],
    ['a list', [`[${APPROVAL}]`]],
  ])('refuses %s, and says what to send', async (_, typed) => {
    const { entity, script } = await resting();
    await send(entity.id, 'approve', typed);
    await until(async () => (await entity.status()).refused !== undefined);
    const { approvals, refused } = await entity.status();
    expect(refused).toMatch(/^approve: "operation" is missing: send \{"operation":/);
    expect(approvals).toBeUndefined();
    await expectAlive(entity, script);
  });
});

describe.each([
  ['replaceMember', '{"member":"example-1","by":"ana"}', 'example-1'],
  ['moveLeader', '{"to":"example-2","by":"ana"}', 'example-2'],
  ['restart', '{"by":"ana"}', ''],
])('%s', (name, input, target) => {
  it.each([
    ['an object', [input]],
    ['two inputs, of which the first counts', [input, '{"member":"example-0","to":"example-0","by":"bob"}']],
  ])('takes %s', async (_, typed) => {
    const { entity, script } = await resting();
    await send(entity.id, name, typed);
    await until(async () => (await entity.status()).requests !== undefined);
    const { requests, refused } = await entity.status();
    expect(requests).toMatchObject([{ kind: name, target, by: 'ana' }]);
    expect(refused).toBeUndefined();
    await expectAlive(entity, script);
  });

  it.each([
    ['no input', []],
    ['a text', ['"example-1"']],
    ['JSON in a text', [quoted(input)]],
    ['what is no JSON', ['example-1']],
    ['a list', [`[${input}]`]],
  ])('refuses %s, and says what is missing', async (_, typed) => {
    const { entity, script } = await resting();
    await send(entity.id, name, typed);
    await until(async () => (await entity.status()).refused !== undefined);
    const { requests, refused } = await entity.status();
    expect(refused).toMatch(new RegExp(`^${name}: "(by|member|to)" `));
    expect(requests).toBeUndefined();
    await expectAlive(entity, script);
  });
});

describe('the workflow of a backup', () => {
  it.each([
    ['an object', [ANA], 'ana (maintenance)'],
    ['two inputs, of which the first counts', [ANA, BOB], 'ana (maintenance)'],
    ['no input', [], 'somebody'],
    ['a text', ['"now"'], 'somebody (now)'],
    ['JSON in a text', [quoted(ANA)], `somebody (${ANA})`],
    ['what is no JSON', ['now'], 'somebody'],
  ])('takes one backup after the signal backup with %s', async (_, typed, by) => {
    const entity = await BackupEntity.on(bench, { backupPolicy: { backupIntervalInSecond: 3600 } });
    await entity.changed();
    await entity.came('Succeeded');
    await send(entity.id, 'backup', typed);
    await until(() => entity.world.objects.length === 2);
    await entity.quiet();
    expect(entity.world.objects).toHaveLength(2);
    expect(entity.world.status.lastRun).toMatchObject({ outcome: 'Succeeded', requestedBy: by });
    const types = eventTypesOf(await historiesOf(bench.client, entity.id));
    expect(types).not.toContain('workflowTaskFailedEventAttributes');
  });
});
