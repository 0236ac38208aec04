/** What users ask for, on its way through the real workflows on a real Temporal server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CREATION, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const ASKED = { member: 'example-1', by: 'ana', reason: 'its node is retired' };
const REQUEST = {
  id: 1,
  kind: 'replaceMember',
  target: 'example-1',
  by: 'ana',
  reason: 'its node is retired',
  at: expect.any(Number) as number,
};

describe('a request', () => {
  it('is accepted by an update, passed to the planner with its ids, and forgotten when it is done', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
    expect(await entity.update('replaceMember', ASKED)).toBe('accepted');
    await until(() => script.workflowStates.at(-1)?.requests?.[0]?.ids !== undefined);
    expect(script.workflowStates.at(-1)).toEqual({ requests: [{ ...REQUEST, ids: ['8e9e05c5'] }] });
    expect((await entity.status()).requests).toEqual([{ ...REQUEST, ids: ['8e9e05c5'] }]);
    // What it is about is settled once.
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['another'], message: 'accepted' });
    await entity.changed();
    await entity.quiet();
    expect((await entity.status()).requests).toEqual([{ ...REQUEST, ids: ['8e9e05c5'] }]);
    await expect(entity.update('replaceMember', ASKED)).rejects.toThrow(
      'ana has already sent the same request',
    );
    script.judge = ({ id }) => ({ id, outcome: 'done', message: 'replaced' });
    await entity.changed();
    await until(async () => (await entity.status()).requests === undefined);
  });

  it('is refused with a reason: by the planner, or because it does not say who asks for what', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    script.judge = ({ id }) => ({ id, outcome: 'refused', message: 'example-1 is no member' });
    await expect(entity.update('replaceMember', ASKED)).rejects.toThrow('example-1 is no member');
    await expect(entity.update('moveLeader', { to: 'example-1' })).rejects.toThrow(
      '"by" must name the person who asks',
    );
    await expect(entity.update('moveLeader', { by: 'ana' })).rejects.toThrow('"to" is missing');
    await expect(entity.update('restart', { by: 'ana', member: 7 })).rejects.toThrow('must be the name');
    for (const nonsense of [null, 'now', 7, { member: {} }]) await entity.handle.signal('restart', nonsense);
    await until(async () => (await entity.status()).refused?.startsWith('restart: "by"') === true);
    expect((await entity.status()).requests).toBeUndefined();
  });

  it('reaches a running operation, whose abort revokes it', async () => {
    const script = new Script();
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
    script.plan('replaceMember', REPAIR);
    const release = script.hold('restartMember');
    const entity = await bench.follow(script);
    await until(() => script.started.length > 0);
    await entity.handle.signal('replaceMember', ASKED);
    await until(async () => (await entity.operationControls()) > 0);
    await entity.handle.signal('abort', { by: 'ana' });
    await until(async () => (await entity.operationControls()) > 1);
    release();
    await until(async () => (await entity.status()).requests === undefined);
    await until(() => script.remaining.length === 0);
    // The request is gone; what is planned without it is done.
    expect(script.workflowStates.at(-1)).toEqual({});
  });

  it('that waits is revoked by an abort, whose answer names it', async () => {
    const script = new Script();
    script.plan('createCluster', CREATION);
    const entity = await bench.follow(script);
    await until(() => script.remaining.length === 0);
    await entity.quiet();
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['uid'], message: 'accepted' });
    await entity.update('restart', { by: 'ana' });
    expect(await entity.update('abort', { by: 'ana' })).toBe('revoked: restart');
    expect(await entity.update('abort', { by: 'ana' })).toBe('nothing to abort: no operation is running');
    expect((await entity.status()).requests).toBeUndefined();
  });

  it('that waits for an approval is stopped by an abort', async () => {
    const script = new Script();
    script.plan('repairCluster', REPAIR);
    script.consent = { operation: 'repairCluster', ids: ['8e9e05c5'] };
    const entity = await bench.follow(script);
    await until(async () => (await entity.plan()).approve !== undefined);
    expect(await entity.update('abort', { by: 'ana' })).toMatch(/^repairCluster does not run until/);
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect(script.workflowStates.at(-1)?.aborted).toMatchObject({
      operation: 'repairCluster',
      generation: 1,
      by: 'ana',
    });
  });
});
