/** Runs that continue as new: nothing that somebody said is lost, and what is under way continues. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSENT, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { continued, type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
});
afterAll(() => bench.stop());

describe('a run that continues as new', () => {
  it('answers the updates that arrive at that moment', async () => {
    const script = new Script();
    script.judge = ({ id, by }) => ({ id, outcome: 'done', message: `done for ${by}` });
    const entity = await bench.follow(script);
    const runs = new Set<string>();
    for (let round = 0; runs.size < 4; round += 1) {
      expect(round).toBeLessThan(200);
      const [answer, pause] = await Promise.all([
        entity.update('restart', { by: `round ${round}` }),
        entity.update(round % 2 === 0 ? 'pause' : 'resume', { by: 'ana' }),
        entity.changed(),
        entity.changed(),
      ]);
      expect([answer, pause]).toEqual([
        `done for round ${round}`,
        round % 2 === 0 ? 'paused: no further step is performed' : 'resumed',
      ]);
      runs.add((await entity.handle.describe()).runId);
    }
  });

  it('keeps approvals, requests, refusals and their ids', async () => {
    const script = new Script();
    script.judge = ({ id }) => ({ id, outcome: 'accepted', ids: ['8e9e05c5'], message: 'accepted' });
    const entity = await bench.follow(script);
    await entity.handle.signal('approve', { ...CONSENT, by: 'ana' });
    await entity.update('restart', { by: 'ana', member: 'example-1' });
    await entity.handle.signal('moveLeader', { by: 'ana' });
    await until(async () => (await entity.status()).refused !== undefined);
    const { approvals, requests, refused } = await entity.status();
    expect(approvals).toHaveLength(1);
    await continued(entity);
    await until(async () => (await entity.status()).cluster !== undefined);
    expect(await entity.status()).toMatchObject({ approvals, requests, refused });
    await entity.update('replaceMember', { by: 'ana', member: 'example-2' });
    expect((await entity.status()).requests?.map(({ id }) => id)).toEqual([2, 3]);
  });

  it('does not write search attributes that have not changed', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await continued(entity);
    await entity.quiet();
    expect(await entity.presentEventTypes()).not.toContain('upsertWorkflowSearchAttributesEventAttributes');
    expect(await entity.searchAttributes()).toMatchObject({ EtcdPhase: 'Running' });
  });
});

describe('a run that continues as new while an operation is running', () => {
  const restore = { name: 'back', uid: '0b7e6e34-55a2-4d5e-8a53-7c2d3a1f9e10' };
  const seeding = { restore, token: 'example-5d1c7f20-2', member: 'example-3' };

  /** A restore whose volume is being filled, which takes hours. */
  async function restoring(): Promise<{
    entity: Entity;
    script: Script;
    release: () => void;
    runId: string;
  }> {
    const script = new Script();
    script.plan('restoreCluster', [
      { kind: 'fillVolume', ...seeding },
      { kind: 'unpackBackup', ...seeding },
    ]);
    const release = script.hold('fillVolume');
    const entity = await bench.follow(script);
    await until(() => script.started.includes('fillVolume'));
    const { runId } = await entity.operation.describe();
    return { entity, script, release, runId };
  }

  it('passes it to the next run, which shows it at once and sees its end', async () => {
    const { entity, script, release, runId } = await restoring();
    await continued(entity);
    expect(await entity.status()).toMatchObject({
      operation: 'restoreCluster',
      cluster: { phase: 'Creating' },
    });
    expect(await entity.currentDetails()).toContain('**restoreCluster**');
    const passes = script.workflowStates.length;
    release();
    await until(() => script.remaining.length === 0);
    await until(async () => (await entity.status()).operation === undefined);
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.workflowStates.length).toBeGreaterThan(passes);
    expect(await entity.operation.result()).toMatchObject({ outcome: 'ended' });
  });

  it('passes it to the next run, which aborts it and remembers the abort', async () => {
    const { entity, script, release, runId } = await restoring();
    await continued(entity);
    const by = { by: 'me', reason: 'a typo' };
    expect(await entity.update('abort', by)).toBe('restoreCluster ends at its next step');
    await continued(entity);
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'aborted', by });
    await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
    expect(script.workflowStates.at(-1)?.aborted).toMatchObject({
      operation: 'restoreCluster',
      generation: 1,
      ...by,
    });
    await entity.quiet();
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.performed).toEqual(['fillVolume']);
  });

  it('passes an earlier pause to it', async () => {
    const { entity, script, release } = await restoring();
    expect(await entity.update('pause', { by: 'me' })).toContain('paused');
    await continued(entity);
    release();
    await until(async () => (await entity.status()).operation === undefined);
    await entity.quiet();
    expect(script.performed).toEqual(['fillVolume']);
    expect((await entity.status()).paused).toEqual({ by: 'me' });
  });
});

describe('an operation with a long history', () => {
  it('ends between two steps and continues in another run, until all is done', async () => {
    const script = new Script();
    const steps = Array.from({ length: 8 }, () => REPAIR).flat();
    script.plan('repairCluster', steps);
    const entity = await bench.follow(script);
    const runs = new Set<string>();
    await until(async () => {
      const { runId } = await entity.operation.describe().catch(() => ({ runId: '' }));
      runs.add(runId);
      return script.remaining.length === 0;
    });
    await entity.quiet();
    expect(script.performed).toHaveLength(steps.length);
    expect(runs.size).toBeGreaterThan(2);
    expect((await entity.presentEventTypes('operation')).length).toBeLessThan(200);
    expect((await entity.presentEventTypes()).length).toBeLessThan(300);
  });

  it('does not lose an abort that arrives meanwhile', async () => {
    const script = new Script();
    script.plan('repairCluster', Array.from({ length: 40 }, () => REPAIR).flat());
    const entity = await bench.follow(script);
    for (let aborts = 0; aborts < 6; aborts += 1) {
      // At another moment each time, among them that at which one run of the operation follows the other.
      await until(
        async () => (await entity.presentEventTypes('operation').catch(() => [])).length > 100 + aborts * 10,
      );
      await entity.handle.signal('abort', { by: `${aborts}` });
      await until(() => script.workflowStates.at(-1)?.aborted !== undefined);
      await entity.quiet();
      expect(script.workflowStates.at(-1)?.aborted).toMatchObject({
        operation: 'repairCluster',
        by: `${aborts}`,
      });
      const { length } = script.performed;
      await entity.changed();
      await entity.quiet();
      expect(script.performed).toHaveLength(length);
      await entity.handle.signal('resync');
      await until(() => script.performed.length > length);
    }
  });
});
