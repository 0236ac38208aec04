/** The entity of a resource: how it lives through everything that users and failures do to its workflows. */
import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREATION, DELETION, REPAIR, refused, Script } from '../worlds/scripted-activities.ts';
import { type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

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

describe('a pass whose tries are used up', () => {
  it('is reported by the workflow of the resource, which tries again, and takes back what it said in Temporal', async () => {
    const script = new Script();
    let failure: string | undefined = 'no rights';
    script.beforePass = async () => {
      if (failure !== undefined) throw refused(failure);
    };
    const entity = await bench.follow(script);
    await until(() => script.reported.length === 1);
    expect(script.reported[0]).toMatchObject({ kind: 'EtcdCluster', message: 'no rights', times: 1 });
    await until(async () => (await entity.searchAttributes())['EtcdAttention'] === 'PassFails');
    failure = undefined;
    await until(() => script.workflowStates.length === 1);
    await until(async () => (await entity.searchAttributes())['EtcdAttention'] === undefined);
    expect(script.reported).toHaveLength(1);
  });

  it('is reported by an operation, which goes on when one succeeds', async () => {
    const script = creation();
    const entity = await bench.follow(script);
    script.behaviours.set('bootstrapMembers', async () => {
      let isFirst = true;
      script.beforePass = async () => {
        if (isFirst) {
          isFirst = false;
          throw refused('no rights');
        }
      };
    });
    await until(() => script.reported.length === 1);
    expect(script.reported[0]).toMatchObject({ kind: 'EtcdCluster', message: 'no rights' });
    expect(await entity.ended()).toMatchObject({ outcome: 'ended' });
    expect(script.performed).toEqual(KINDS);
  });
});

describe('an operation that outlived the run of its entity', () => {
  async function orphaned(script: Script): Promise<{ entity: Entity; release: () => void; runId: string }> {
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    const { runId } = await entity.operation.describe();
    await entity.handle.terminate('by a person who wanted to help');
    await entity.changed();
    await until(async () => (await entity.status()).operation === 'createCluster');
    return { entity, release, runId };
  }

  it('is awaited: no second one is started, and its end is reported', async () => {
    const script = creation();
    const { entity, release, runId } = await orphaned(script);
    await entity.changed();
    expect((await entity.operation.describe()).runId).toBe(runId);
    release();
    await until(async () => (await entity.operation.describe()).status.name === 'COMPLETED');
    const ended = Date.now();
    await until(async () => (await entity.status()).operation === undefined);
    // Signaled, not found by polling every fifteen seconds.
    expect(Date.now() - ended).toBeLessThan(5_000);
    await entity.quiet();
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.performed).toEqual(KINDS);
    expect(await entity.eventTypes()).toContain('startChildWorkflowExecutionFailedEventAttributes');
  });

  it('is paused through the new run', async () => {
    const script = creation();
    const { entity, release } = await orphaned(script);
    await entity.handle.signal('pause', { by: 'me' });
    await until(async () => (await entity.operationControls('handOver')) > 0);
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'handedBack' });
    await until(() => script.workflowStates.at(-1)?.paused !== undefined);
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
  });

  it('is aborted through the new run, which remembers it', async () => {
    const script = creation();
    const { entity, release, runId } = await orphaned(script);
    await entity.handle.signal('abort', { by: 'me', reason: 'a typo' });
    await until(async () => (await entity.operationControls('abort')) > 0);
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'aborted' });
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    await entity.quiet();
    expect(script.workflowStates.at(-1)).toMatchObject({
      aborted: { operation: 'createCluster', generation: 1, by: 'me', reason: 'a typo' },
    });
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers']);
  });

  it('is shown as failed by the new run', async () => {
    const script = creation();
    const { entity, release } = await orphaned(script);
    script.fail('awaitQuorum', [refused('pods is forbidden')]);
    release();
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    expect(script.workflowStates.at(-1)?.failed).toMatchObject({ message: 'pods is forbidden' });
    await entity.handle.signal('resync');
    await until(() => script.remaining.length === 0);
  });
});

describe('the entity', () => {
  it('continues when its operation is terminated, and shows that', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.operation.terminate('by a person who wanted to help');
    release();
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    expect(script.workflowStates.at(-1)?.failed?.message).toBe(
      'the workflow of createCluster ended without a result: it was terminated',
    );
    expect((await entity.handle.describe()).status.name).toBe('RUNNING');
    await until(() => script.remaining.length === 0);
    expect(new Set(script.performed)).toEqual(new Set(KINDS));
  });

  it('continues when it is cancelled: its operation is aborted', async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.handle.cancel();
    await until(async () => (await entity.operationControls()) > 0);
    release();
    expect(await entity.ended()).toMatchObject({
      outcome: 'aborted',
      by: { by: 'cancellation of the workflow' },
    });
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect((await entity.handle.describe()).status.name).toBe('RUNNING');

    // The run that was cancelled gives way to one that can be cancelled, and that notifies its operations, again.
    const again = script.hold('awaitQuorum');
    await entity.handle.signal('resync');
    await until(() => script.started.includes('awaitQuorum'));
    const operation = await entity.operation.describe();
    await entity.handle.cancel();
    await until(async () => (await entity.operationControls()) > 0);
    again();
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect(script.performed).toEqual(['recordIncarnation', 'bootstrapMembers', 'awaitQuorum']);
    expect((await entity.operation.describe()).runId).toBe(operation.runId);
  });

  it('still passes a pause to its operation after it was cancelled', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    // With nothing to abort this does nothing but mark the run as cancelled.
    await entity.handle.cancel();
    await entity.quiet();
    const release = script.hold('restartMember');
    script.plan('repairCluster', REPAIR);
    await entity.changed();
    await until(() => script.started.includes('restartMember'));
    await entity.handle.signal('pause', { by: 'me' });
    await until(async () => (await entity.operationControls()) > 0);
    release();
    await until(() => script.workflowStates.at(-1)?.paused !== undefined);
    await entity.quiet();
    expect(script.performed).toEqual(['restartMember']);
  });

  it('continues when a pass fails permanently: it makes another one', async () => {
    const script = new Script();
    const failures = [ApplicationFailure.nonRetryable('a bug')];
    script.beforePass = async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    };
    const entity = await bench.follow(script);
    await until(() => script.workflowStates.length > 0);
    expect((await entity.handle.describe()).status.name).toBe('RUNNING');
  });

  it('ends when the resource is gone', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    script.gone = true;
    await entity.changed();
    await entity.handle.result();
    expect((await entity.handle.describe()).status.name).toBe('COMPLETED');
  });

  it('ends when its operation finds that the resource is gone', async () => {
    const script = new Script();
    script.plan('deleteCluster', DELETION);
    const entity = await bench.follow(script);
    await entity.handle.result();
    expect(script.performed).toEqual(DELETION.map(step => step.kind));
    expect((await entity.operation.describe()).status.name).toBe('COMPLETED');
  });

  it('starts from a new observation when a change is signalled after its end', async () => {
    const script = creation();
    script.gone = true;
    const entity = await bench.follow(script);
    await entity.handle.result();
    script.gone = false;
    await entity.changed();
    await until(() => script.remaining.length === 0);
    expect(script.performed).toEqual(KINDS);
  });
});

describe('messages', () => {
  it('show the state and the plan while an operation is running', async () => {
    const script = creation();
    const release = script.hold('awaitQuorum');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('awaitQuorum'));
    const steps = [
      'wait until example-0, example-1, example-2 elect a leader',
      'record cluster id c0ffee',
      'create the client Service',
      'wait until example-0, example-1, example-2 are ready',
    ];
    expect(await entity.plan()).toMatchObject({
      next: `createCluster is under way: send this query to ${entity.operation.workflowId} for the steps that are left of these`,
      operation: 'createCluster',
    });
    expect(await entity.operation.query('plan')).toMatchObject({ operation: 'createCluster', steps });
    expect(await entity.operation.query('status')).toMatchObject({ cluster: { phase: 'Creating' } });
    expect(await entity.status()).toMatchObject({
      operation: 'createCluster',
      cluster: { phase: 'Creating', membersReady: 0 },
    });
    const { currentDetails } = await entity.operation.query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    );
    expect(currentDetails).toContain(
      '1. wait until example-0, example-1, example-2 elect a leader\n2. record',
    );
    release();
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    expect(await entity.plan()).toMatchObject({ steps: [] });
    expect(await entity.status()).toMatchObject({ cluster: { phase: 'Running', membersReady: 3 } });
  });

  it('are found by name and description, and unknown ones change nothing', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    const passes = script.workflowStates.length;
    await entity.handle.signal('explode', { now: true });
    await entity.quiet();
    expect(script.workflowStates).toHaveLength(passes);
    expect((await entity.handle.describe()).status.name).toBe('RUNNING');
    const metadata = await entity.metadata();
    const named = (metadata.definition?.signalDefinitions ?? []).map(({ name }) => name);
    expect(named).toEqual(expect.arrayContaining(['abort', 'changed', 'pause', 'resume', 'resync']));
    expect(await entity.handle.query('status')).toMatchObject({ cluster: { phase: 'Running' } });
  });

  it('contain who asked and why, cut to a length that the status can show', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.handle.signal('pause', { by: 'x'.repeat(5_000), reason: 7, extra: 'ignored' });
    await until(() => script.workflowStates.at(-1)?.paused !== undefined);
    expect(script.workflowStates.at(-1)).toMatchObject({ paused: { by: 'x'.repeat(512), reason: '7' } });
    await entity.handle.signal('pause');
    await until(async () => (await entity.status()).paused?.by === undefined);
    expect((await entity.status()).paused).toEqual({});
    await entity.handle.signal('pause', null);
    await entity.handle.signal('resume', null);
    await until(async () => (await entity.status()).paused === undefined);
  });

  it('leave the search attributes up to date', async () => {
    const script = creation();
    const release = script.hold('awaitMembers');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('awaitMembers'));
    await until(async () => (await entity.searchAttributes())['EtcdOperation'] === 'createCluster');
    expect(await entity.searchAttributes()).toMatchObject({ EtcdPhase: 'Creating', EtcdHealthy: false });
    release();
    await until(async () => (await entity.searchAttributes())['EtcdPhase'] === 'Running');
    expect(await entity.searchAttributes()).toMatchObject({
      EtcdPhase: 'Running',
      EtcdOperation: 'none',
      EtcdVersion: '3.6.16',
      EtcdHealthy: true,
      EtcdPaused: false,
      EtcdMembersReady: 3,
    });
    await entity.handle.signal('pause', { by: 'me' });
    // A run that continued as new keeps its attributes.
    const running = `WorkflowId = '${entity.id}' AND ExecutionStatus = 'Running'`;
    const query = `${running} AND EtcdPaused = true AND EtcdPhase = 'Running'`;
    await until(async () => (await bench.client.workflow.count(query)).count === 1);
  });
});

describe('a long history', () => {
  it('is continued as new without losing a message or what users asked for', {
    timeout: 180_000,
  }, async () => {
    const script = creation();
    const release = script.hold('bootstrapMembers');
    const entity = await bench.follow(script);
    const { runId } = await entity.handle.describe();
    await until(() => script.started.includes('bootstrapMembers'));
    await entity.handle.signal('abort', { by: 'me' });
    release();
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    let round = 0;
    // Signals come in bursts, so that some of them meet the very task that continues as new.
    for (; round < 60 && (await entity.handle.describe()).runId === runId; round += 1) {
      const burst = Array.from({ length: 40 }, () => entity.changed());
      const pause = entity.handle.signal('pause', { by: 'me', reason: `round ${round}` });
      await Promise.all([...burst, pause]);
      await until(async () => (await entity.status()).paused?.reason === `round ${round}`);
    }
    expect((await entity.handle.describe()).runId).not.toBe(runId);
    expect((await entity.status()).paused).toEqual({ by: 'me', reason: `round ${round - 1}` });
    const passes = script.workflowStates.length;
    await entity.changed();
    await until(() => script.workflowStates.length > passes);
    expect(script.workflowStates.at(-1)).toMatchObject({
      paused: { by: 'me', reason: `round ${round - 1}` },
      aborted: { operation: 'createCluster', generation: 1, by: 'me' },
    });
    await entity.handle.signal('resume');
    await entity.handle.signal('resync');
    await until(() => script.remaining.length === 0);
    expect(script.performed).toEqual(KINDS);
  });
});
