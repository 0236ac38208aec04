/**
 * Signals to the workflow of a cluster as the older `tctl` sends them: the request SignalWorkflowExecution with what was typed as payloads of
 * `json/plain`. Each message, with what a person could have typed, is taken or refused with a reason, and the workflow continues.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf } from '../worlds/histories.ts';
import { Script } from '../worlds/scripted-activities.ts';
import { ANA, BOB, quoted, sendTyped, TYPED } from '../worlds/typed-signals.ts';
import { type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const send = (workflowId: string, signalName: string, typed: readonly string[]) =>
  sendTyped(bench, workflowId, signalName, typed);

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
  const looked = script.workflowStates.length;
  await entity.changed();
  await until(() => script.workflowStates.length > looked);
  await entity.quiet();
  expect(faultsOf(await entity.histories())).toEqual([]);
}

describe('pause', () => {
  it.each(TYPED)('takes %s', async (_, typed, paused) => {
    const { entity, script } = await resting();
    await send(entity.id, 'pause', typed);
    await until(async () => (await entity.status()).paused !== undefined);
    expect((await entity.status()).paused).toEqual(paused);
    await expectAlive(entity, script);
    expect(script.workflowStates.at(-1)?.paused).toMatchObject(paused);
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
    const looked = script.workflowStates.length;
    await send(entity.id, name, typed);
    await until(() => script.workflowStates.length > looked);
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
