/** A person's consent on its way through the real workflows on a real Temporal server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approvedRepair, CONSENT, CREATION, REPAIR, refused, Script } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 120_000);
afterAll(() => bench.stop());

const APPROVAL = { ...CONSENT, by: 'ana', reason: 'the disk was swapped' };

describe('approve', () => {
  it('permits exactly one step, and the next one waits again', async () => {
    const script = approvedRepair();
    const entity = await bench.follow(script);
    await until(async () => (await entity.plan()).approve !== undefined);
    expect(await entity.plan()).toMatchObject({
      next: 'waiting: a person is asked',
      blocked: { reason: 'AwaitingApproval' },
      approve: CONSENT,
    });
    const release = script.hold('restartMember');
    expect(await entity.update('approve', APPROVAL)).toMatch(
      /^repairCluster of 8e9e05c5 is approved; the approval is valid for one use/,
    );
    await until(() => script.started.length === 1);
    expect((await entity.status()).approvals).toMatchObject([{ by: 'ana', reason: 'the disk was swapped' }]);
    release();
    await until(() => script.performed.length === 1);
    await until(async () => (await entity.status()).approvals === undefined);
    await entity.quiet();
    expect(script.performed).toHaveLength(1);
    expect(script.workflowStates.at(-1)).toEqual({});
  });

  it('is what is searched for, until it was given for every step', async () => {
    const script = approvedRepair();
    script.remaining = script.remaining.slice(0, 1);
    const entity = await bench.follow(script);
    const waiting = `WorkflowId = '${entity.id}' AND EtcdAttention = 'AwaitingApproval'`;
    await until(async () => (await bench.client.workflow.count(waiting)).count === 1);
    await entity.update('approve', APPROVAL);
    await until(() => script.performed.length === 1);
    await until(async () => !('EtcdAttention' in (await entity.searchAttributes())));
    const calm = `WorkflowId = '${entity.id}' AND EtcdAttention IS NULL`;
    await until(async () => (await bench.client.workflow.count(calm)).count === 1);
  });

  it('is used up by a step that failed, too: its effect is not known', async () => {
    const script = approvedRepair();
    script.fail('restartMember', [refused('the connection broke')]);
    const entity = await bench.follow(script);
    await entity.handle.signal('approve', APPROVAL);
    await until(() => script.workflowStates.at(-1)?.failed !== undefined);
    expect(script.workflowStates.at(-1)?.approvals).toBeUndefined();
  });

  it('is refused when nothing waits for it, or for something else', async () => {
    const script = approvedRepair();
    const entity = await bench.follow(script);
    await expect(entity.update('approve', { ...APPROVAL, ids: ['another'] })).rejects.toThrow(
      `nothing waits for this approval: the plan needs ${JSON.stringify(CONSENT)}`,
    );
    await expect(entity.update('approve', { ...APPROVAL, operation: 'upgradeCluster' })).rejects.toThrow(
      'nothing waits for this approval',
    );
    await expect(entity.update('approve', { ...APPROVAL, by: '' })).rejects.toThrow(
      '"by" must name the person who approves',
    );
    script.remaining = [];
    await entity.changed();
    await until(async () => (await entity.plan()).next.startsWith('nothing to do'));
    await expect(entity.update('approve', APPROVAL)).rejects.toThrow('the plan needs no approval');
    expect(script.performed).toEqual([]);
  });

  it('as a signal is kept until something waits for it, and an invalid one is shown as refused', async () => {
    const script = new Script();
    script.plan('createCluster', CREATION);
    const entity = await bench.follow(script);
    await until(() => script.remaining.length === 0);
    for (const nonsense of [null, 'yes', { by: 'ana' }, { ...CONSENT, by: 'ana', expiresInSeconds: -1 }])
      await entity.handle.signal('approve', nonsense);
    await until(async () => (await entity.status()).refused !== undefined);
    expect((await entity.status()).approvals).toBeUndefined();
    await entity.handle.signal('approve', APPROVAL);
    await until(async () => (await entity.status()).approvals?.length === 1);
    script.performed.length = 0;
    script.plan('repairCluster', REPAIR);
    script.consent = CONSENT;
    await entity.changed();
    await until(() => script.performed.length === 1);
    await until(async () => (await entity.status()).approvals === undefined);
  });
});
