/** What nobody means to send: workflows of a real Temporal server go on, and what was sent before and after still holds. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { CREATION, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

/** As another SDK, an encrypting proxy, or a person with the command line sends it. */
async function send(workflowId: string, signalName: string, encoding: string, data: string): Promise<void> {
  await bench.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    input: { payloads: [{ metadata: { encoding: Buffer.from(encoding) }, data: Buffer.from(data) }] },
  });
}

describe('the workflow of a cluster continues', () => {
  it.each([
    ['of an unknown encoding', 'changed', 'binary/unknown', 'x'],
    ['that is encrypted', 'pause', 'binary/encrypted', 'x'],
    ['that is not the JSON that it says', 'resync', 'json/plain', '{"by":'],
    ['of a reserved name', '__temporal_anything', 'json/plain', '{}'],
    ['of a name that nobody knows, unreadable', 'puase', 'binary/unknown', 'x'],
  ])('after a signal %s', async (_, signal, encoding, data) => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    await send(entity.id, signal, encoding, data);
    await entity.handle.signal('resume');
    const looked = script.workflowStates.length;
    await entity.changed();
    await until(() => script.workflowStates.length > looked);
    script.plan('createCluster', CREATION);
    await entity.changed();
    await until(() => script.remaining.length === 0);
  });

  it('after a forged signal of an operation', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await entity.quiet();
    const forged = [
      null,
      7,
      { outcome: 'ended' },
      { operation: 'createCluster', outcome: 'ended', used: 7 },
      { operation: 'createCluster', outcome: 'ended', assessment: {} },
      { operation: 'createCluster', outcome: 'failed' },
    ];
    for (const sent of forged) await entity.handle.signal('ended', sent);
    await entity.quiet();
    expect((await entity.plan()).next).toMatch(/^nothing to do/);
    script.plan('createCluster', CREATION);
    await entity.changed();
    await until(() => script.remaining.length === 0);
  });

  it('and so does its operation, after a forged signal of an entity', async () => {
    const script = new Script();
    script.plan('repairCluster', REPAIR);
    const release = script.hold('restartMember');
    const entity = await bench.follow(script);
    await until(() => script.started.length > 0);
    for (const sent of [null, { approvals: 7 }, 'x'])
      for (const name of ['follow', 'handOver', 'control']) await entity.operation.signal(name, sent);
    await send(entity.operation.workflowId, 'follow', 'binary/unknown', 'x');
    await send(entity.operation.workflowId, '__temporal_anything', 'json/plain', '{}');
    release();
    await until(() => script.remaining.length === 0);
    expect(await entity.ended()).toMatchObject({ outcome: 'ended' });
  });

  it('after a pass that was completed manually with an invalid result', async () => {
    const script = new Script();
    let release = (): void => {};
    const held = new Promise<void>(resolve => (release = resolve));
    script.beforePass = () => held;
    const entity = await bench.follow(script);
    const pending = async () => (await entity.handle.describe()).raw.pendingActivities?.[0]?.activityId ?? '';
    await until(async () => (await pending()) !== '');
    await bench.client.activity.complete({ workflowId: entity.id, activityId: await pending() }, 'done');
    script.beforePass = async () => {};
    release();
    await until(async () => (await entity.plan()).next.startsWith('nothing to do'));
  });

  it('and answers queries whose arguments cannot be decoded', async () => {
    const entity = await bench.follow(new Script());
    await entity.quiet();
    const { queryResult } = await bench.client.workflowService.queryWorkflow({
      namespace: 'default',
      execution: { workflowId: entity.id },
      query: {
        queryType: 'plan',
        queryArgs: { payloads: [{ metadata: { encoding: Buffer.from('binary/unknown') } }] },
      },
    });
    const data = queryResult?.payloads?.[0]?.data ?? new Uint8Array();
    expect(JSON.parse(Buffer.from(data).toString())).toMatchObject({ steps: [] });
  });
});

describe('the workflow of a backup continues', () => {
  it('after an empty signal stopped its run manually', async () => {
    const entity = await BackupEntity.on(bench);
    const release = entity.world.holdSnapshots();
    await entity.changed();
    await until(() => entity.world.snapshots > 0);
    await entity.operation.signal('abort');
    await entity.came('Aborted');
    release();
    expect(entity.world.objects).toEqual([]);
  });

  it('after a forged signal that a run has ended', async () => {
    const entity = await BackupEntity.on(bench);
    const release = entity.world.holdSnapshots();
    await entity.changed();
    await until(() => entity.world.snapshots > 0);
    for (const sent of [null, 7, {}, { operation: 'takeBackup' }]) await entity.handle.signal('ended', sent);
    await send(entity.id, 'ended', 'binary/unknown', 'x');
    release();
    await entity.came('Succeeded');
    expect(entity.world.objects).toHaveLength(1);
  });
});
