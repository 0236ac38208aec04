/** Operations: the real workflows on a real Temporal server, over activities that follow a script. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ending } from '../../src/workflows/cluster/state.ts';
import { CREATION, DELETION, moved, refused, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { continued, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
});
afterAll(() => bench.stop());

const KINDS = CREATION.map(step => step.kind);

function creation(): Script {
  const script = new Script();
  script.plan('createCluster', CREATION);
  return script;
}

describe('an operation', () => {
  it('is performed step by step, each with its summary, and replays from any point', async () => {
    const script = creation();
    // Without a cache every workflow task replays the whole history: any step that is not deterministic would fail.
    const entity = await bench.follow(script, { maxCachedWorkflows: 0 });
    const result = (await entity.ended()) as Ending;
    expect(script.performed).toEqual(KINDS);
    expect(result).toMatchObject({ outcome: 'ended', assessment: { decision: { kind: 'idle' } } });
    const { type, status, runId } = await entity.operation.describe();
    // The passes of the operation, and those of the entity after it, know the run that status is to name.
    const ran = { operation: 'createCluster', runId };
    const [first, ...later] = script.runs;
    expect(first).toBeUndefined();
    expect(later.slice(0, KINDS.length)).toEqual(Array(KINDS.length).fill(ran));
    const looked = script.runs.length;
    await entity.changed();
    await until(() => script.runs.length > looked);
    expect(script.runs.at(-1)).toEqual(ran);
    expect({ type, status: status.name }).toEqual({ type: 'createCluster', status: 'COMPLETED' });
    expect(await entity.summaries('operation')).toEqual([
      'record incarnation example-5d1c7f20-1 with example-0, example-1, example-2',
      ...Array(1).fill(`reconcile shop/${entity.name}`),
      'create Services, claims and pods of example-0, example-1, example-2',
      `reconcile shop/${entity.name}`,
      'wait until example-0, example-1, example-2 elect a leader',
      `reconcile shop/${entity.name}`,
      'record cluster id c0ffee',
      `reconcile shop/${entity.name}`,
      'create the client Service',
      `reconcile shop/${entity.name}`,
      'wait until example-0, example-1, example-2 are ready',
      `reconcile shop/${entity.name}`,
    ]);
    const waits = (): Promise<string[]> => entity.summaries('entity', 'timers');
    await until(async () => (await waits()).length > 0);
    expect(new Set(await waits())).toEqual(new Set(['next reconciliation, if nothing changes before']));
  });

  it('ends when another one comes first', async () => {
    const script = creation();
    const release = script.hold('awaitQuorum');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('awaitQuorum'));
    script.plan('deleteCluster', DELETION);
    release();
    await until(() => script.gone);
    expect(script.performed.filter(kind => kind !== 'awaitQuorum')).toEqual([
      'recordIncarnation',
      'bootstrapMembers',
      ...DELETION.map(step => step.kind),
    ]);
    await entity.handle.result();
    expect((await entity.operation.describe()).type).toBe('deleteCluster');
  });

  it('retries a step that fails temporarily, within the same operation', async () => {
    const script = creation();
    script.fail('recordClusterId', [new Error('connection reset'), new Error('connection reset')]);
    const entity = await bench.follow(script);
    await entity.ended();
    expect(script.performed).toEqual(KINDS);
    expect(script.workflowStates.some(workflowState => workflowState.failed !== undefined)).toBe(false);
  });

  it('gets a new plan when a precondition has changed', async () => {
    const script = creation();
    script.fail('recordClusterId', [
      moved('no quorum answers any more'),
      moved('no quorum answers any more'),
    ]);
    const entity = await bench.follow(script);
    expect(await entity.ended()).toMatchObject({ outcome: 'ended' });
    expect(script.started.filter(kind => kind === 'recordClusterId')).toHaveLength(3);
    expect(script.performed).toEqual(KINDS);
  });

  it('fails when the precondition of the same plan has changed again and again, and shows the message', async () => {
    const script = creation();
    script.fail('recordClusterId', Array(5).fill(moved('no quorum of cluster c0ffee answers any more')));
    const entity = await bench.follow(script);
    expect(await entity.ended()).toMatchObject({
      outcome: 'failed',
      message: 'no quorum of cluster c0ffee answers any more',
    });
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    expect(script.started.filter(kind => kind === 'recordClusterId')).toHaveLength(5);
  });
});

describe('a step that takes no effect', () => {
  it('is not repeated without end: it fails, with the description of the plan', async () => {
    const script = creation();
    script.stubborn.add('ensureObjects');
    const entity = await bench.follow(script);
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    expect(script.workflowStates.at(-1)?.failed?.message).toBe(
      '"create the client Service" was performed 5 times without reaching its goal',
    );
    expect(script.started.filter(kind => kind === 'ensureObjects')).toHaveLength(5);
    script.stubborn.clear();
    await entity.handle.signal('resync');
    await until(() => script.remaining.length === 0);
  });

  it('may be repeated without limit when it waits each time as long as a step may', async () => {
    const script = creation();
    script.stubborn.add('awaitQuorum');
    const entity = await bench.follow(script);
    await until(() => script.started.filter(kind => kind === 'awaitQuorum').length > 8);
    script.stubborn.clear();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    expect(await entity.operation.result()).toMatchObject({ outcome: 'ended' });
    expect(script.workflowStates.some(workflowState => workflowState.failed !== undefined)).toBe(false);
  });
});

describe('a step whose time runs out', () => {
  it('is shown with the last error of its attempts', async () => {
    const script = creation();
    script.timing = { startToCloseSeconds: 2, scheduleToCloseSeconds: 4 };
    let attempts = 0;
    const { promise: hangs, resolve: release } = Promise.withResolvers<void>();
    script.behaviours.set('recordIncarnation', () => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('etcdserver: request timed out')) : hangs;
    });
    const entity = await bench.follow(script);
    const ending = await entity.ended();
    release();
    const message =
      'etcdserver: request timed out (the attempt after this error did not end within its time of 4 s)';
    expect(ending).toMatchObject({ outcome: 'failed', message });
    await until(() => script.workflowStates.at(-1)?.failed?.message === message);
  });

  it('says so when no attempt reported an error', async () => {
    const script = creation();
    script.timing = { startToCloseSeconds: 1, scheduleToCloseSeconds: 2 };
    const release = script.hold('recordIncarnation');
    const entity = await bench.follow(script);
    const ending = await entity.ended();
    release();
    const message = expect.stringMatching(
      /^it did not end within its time of 2 s, and no attempt reported an error/,
    );
    expect(ending).toMatchObject({ outcome: 'failed', message });
  });
});

describe('a step that fails for good', () => {
  it('is shown as failed and retried after a growing back-off', async () => {
    const script = creation();
    script.fail('ensureObjects', [refused('services is forbidden'), refused('services is forbidden')]);
    const entity = await bench.follow(script);
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    const shown = Date.now();
    expect(script.workflowStates.at(-1)?.failed).toMatchObject({
      operation: 'createCluster',
      message: 'services is forbidden',
    });
    expect(await entity.handle.query('plan')).toMatchObject({
      steps: ['create the client Service', 'wait until example-0, example-1, example-2 are ready'],
      blocked: { reason: 'StepFailed', message: 'it is StepFailed' },
    });
    await until(() => script.performed.length === KINDS.length);
    expect(script.performed).toEqual(KINDS);
    // 5 s after the first failure, 10 s after the second; not the ten minutes until the next regular look.
    expect(Date.now() - shown).toBeGreaterThan(14_000);
    expect(Date.now() - shown).toBeLessThan(30_000);
  });

  it('is retried at once on resync', async () => {
    const script = creation();
    script.fail('ensureObjects', Array(3).fill(refused('services is forbidden')));
    const entity = await bench.follow(script);
    for (let failures = 1; failures <= 3; failures += 1) {
      await until(() => script.workflowStates.at(-1)?.failed !== undefined);
      const before = script.workflowStates.length;
      await entity.handle.signal('resync', { by: 'me' });
      await until(() => script.workflowStates.length > before);
      expect(script.workflowStates[before]).toEqual({});
    }
    await until(() => script.remaining.length === 0);
    expect(script.performed).toEqual(KINDS);
  });

  it('does not hold back another operation', async () => {
    const script = creation();
    script.fail('ensureObjects', Array(9).fill(refused('services is forbidden')));
    const entity = await bench.follow(script);
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    script.plan('deleteCluster', DELETION);
    await entity.changed();
    await entity.handle.result();
    expect(script.gone).toBe(true);
  });
});

describe('pause', () => {
  it('reaches a running operation, which stops before its next step until resume', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.handle.signal('pause', { by: 'me', reason: 'to have a look' });
    await until(async () => (await entity.status()).paused !== undefined);
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'handedBack' });
    await until(async () => (await entity.plan()).blocked?.reason === 'Paused');
    await entity.quiet();
    await entity.changed();
    await entity.quiet();
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
    expect(script.workflowStates.at(-1)).toMatchObject({ paused: { by: 'me', reason: 'to have a look' } });
    await entity.handle.signal('resume', { by: 'me' });
    await until(() => script.remaining.length === 0);
    expect(script.performed).toEqual(KINDS);
  });

  it('before the first step prevents it', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    expect(await entity.handle.executeUpdate('pause', { args: [{ by: 'me' }] })).toBe(
      'paused: no further step is performed',
    );
    script.plan('createCluster', CREATION);
    await entity.changed();
    await until(() => script.decide(script.workflowStates.at(-1) ?? {}).kind === 'blocked');
    await entity.quiet();
    expect(script.started).toEqual([]);
    await expect(entity.operation.describe()).rejects.toThrow('not found');
    expect(await entity.handle.executeUpdate('resume', { args: [{ by: 'me' }] })).toBe('resumed');
    await until(() => script.remaining.length === 0);
  });

  it('is not lost at any moment of an operation', async () => {
    for (let delay = 0; delay <= 240; delay += 40) {
      const script = new Script();
      // An operation without end: only a pause that arrives can stop it.
      script.plan('repairCluster', Array.from({ length: 150 }, () => REPAIR).flat());
      const entity = await bench.follow(script);
      await new Promise(resolve => setTimeout(resolve, delay));
      await entity.handle.signal('pause', { by: 'me' });
      await until(() => script.workflowStates.at(-1)?.paused !== undefined);
      await entity.quiet();
      const { length } = script.performed;
      await entity.changed();
      await entity.quiet();
      expect(script.performed).toHaveLength(length);
    }
  });
});

describe('abort', () => {
  it('is remembered with its subject, where that can be requested again', async () => {
    const script = creation();
    script.subject = 'the uid of what was asked for';
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.handle.executeUpdate('abort', { args: [{ by: 'me' }] });
    release();
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect(script.workflowStates.at(-1)?.aborted).toMatchObject({
      operation: 'createCluster',
      generation: 1,
      subject: script.subject,
      by: 'me',
    });
  });

  it('ends the operation at its next step; it starts again on resync or another specification', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    expect(await entity.handle.executeUpdate('abort', { args: [{ by: 'me', reason: 'a typo' }] })).toBe(
      'createCluster ends at its next step',
    );
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'aborted', by: { by: 'me', reason: 'a typo' } });
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    await entity.changed();
    await entity.quiet();
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
    expect(script.workflowStates.at(-1)).toMatchObject({
      aborted: { operation: 'createCluster', generation: 1, by: 'me', reason: 'a typo' },
    });

    const again = script.hold('awaitQuorum');
    await entity.handle.signal('resync');
    await until(() => script.started.includes('awaitQuorum'));
    await entity.handle.signal('abort', { by: 'me' });
    await until(async () => (await entity.status()).operation === 'createCluster');
    again();
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    await entity.quiet();
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers', 'awaitQuorum']);
    script.generation = 2;
    await entity.changed();
    await until(() => script.remaining.length === 0);
    expect(script.performed).toEqual(KINDS);
  });

  it('without an operation answers so and is not remembered', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    expect(await entity.handle.executeUpdate('abort', { args: [{ by: 'me' }] })).toBe(
      'nothing to abort: no operation is running',
    );
    await entity.handle.signal('abort', { by: 'me' });
    script.plan('createCluster', CREATION);
    await entity.changed();
    await until(() => script.remaining.length === 0);
  });

  it('can be asked for by cancelling the operation in the UI', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.operation.cancel();
    release();
    expect(await entity.ended()).toMatchObject({
      outcome: 'aborted',
      by: { by: 'cancellation of the workflow' },
    });
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
  });

  it('by cancelling the operation in the UI is seen by a run that follows it', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await continued(entity);
    // It was asked to report its end.
    await until(async () => (await entity.operationControls()) > 0);
    await entity.operation.cancel();
    release();
    await until(async () => (await entity.status()).operation === undefined);
    await entity.quiet();
    expect(script.workflowStates.at(-1)?.aborted).toMatchObject({ by: 'cancellation of the workflow' });
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
  });
});
