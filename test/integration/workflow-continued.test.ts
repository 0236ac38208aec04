/** Runs that continue as new: nothing that somebody said is lost, and what is under way goes on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONSENT, REPAIR, Script } from '../worlds/scripted-activities.ts';
import { poll } from '../stack/poll.ts';
import { type Entity, until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
});
afterAll(() => bench.stop());

/** Wakes the entity until another run of it goes on. */
async function continued(entity: Entity): Promise<void> {
  const { runId } = await entity.handle.describe();
  const wake = async () => {
    await Promise.all(Array.from({ length: 5 }, () => entity.changed()));
    return (await entity.handle.describe()).runId !== runId;
  };
  await poll(wake, { timeoutMs: 60_000, intervalMs: 25 });
}

describe('a run that continues as new', () => {
  it('answers the updates that arrive just then', async () => {
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

  it('keeps approvals, requests, what was refused and the numbers that they are given', async () => {
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

  it('writes nothing for search that stands there already', async () => {
    const script = new Script();
    const entity = await bench.follow(script);
    await continued(entity);
    await entity.quiet();
    expect(await entity.eventTypes()).not.toContain('upsertWorkflowSearchAttributesEventAttributes');
    expect(await entity.searchAttributes()).toMatchObject({ EtcdPhase: 'Running' });
  });
});

describe('a run that continues as new while an operation is under way', () => {
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

  it('hands it to the next run: that answers for it at once, and sees it end', async () => {
    const { entity, script, release, runId } = await restoring();
    await continued(entity);
    expect(await entity.status()).toMatchObject({
      operation: 'restoreCluster',
      cluster: { phase: 'Creating' },
    });
    expect(await entity.currentDetails()).toContain('**restoreCluster**');
    const passes = script.actors.length;
    release();
    await until(() => script.remaining.length === 0);
    await until(async () => (await entity.status()).operation === undefined);
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.actors.length).toBeGreaterThan(passes);
    expect(await entity.operation.result()).toMatchObject({ outcome: 'ended' });
  });

  it('hands it to the next run, through which it is aborted, and that is remembered', async () => {
    const { entity, script, release, runId } = await restoring();
    await continued(entity);
    const by = { by: 'me', reason: 'a typo' };
    expect(await entity.update('abort', by)).toBe('restoreCluster ends at its next step');
    await continued(entity);
    release();
    expect(await entity.ended()).toMatchObject({ outcome: 'aborted', by });
    await until(() => script.actors.at(-1)?.aborted !== undefined);
    expect(script.actors.at(-1)?.aborted).toEqual({ operation: 'restoreCluster', generation: 1, ...by });
    await entity.quiet();
    expect((await entity.operation.describe()).runId).toBe(runId);
    expect(script.performed).toEqual(['fillVolume']);
  });

  it('hands it a pause that came before', async () => {
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

describe('an operation whose history grew long', () => {
  it('gives way at a step and goes on as another run, until all is done', async () => {
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
    expect((await entity.eventTypes('operation')).length).toBeLessThan(200);
    expect((await entity.eventTypes()).length).toBeLessThan(300);
  });

  it('does not forget an abort that comes while it gives way', async () => {
    const script = new Script();
    script.plan('repairCluster', Array.from({ length: 40 }, () => REPAIR).flat());
    const entity = await bench.follow(script);
    for (let aborts = 0; aborts < 6; aborts += 1) {
      // At another moment each time, among them that at which one run of the operation follows the other.
      await until(
        async () => (await entity.eventTypes('operation').catch(() => [])).length > 100 + aborts * 10,
      );
      await entity.handle.signal('abort', { by: `${aborts}` });
      await until(() => script.actors.at(-1)?.aborted !== undefined);
      await entity.quiet();
      expect(script.actors.at(-1)?.aborted).toMatchObject({ operation: 'repairCluster', by: `${aborts}` });
      const { length } = script.performed;
      await entity.changed();
      await entity.quiet();
      expect(script.performed).toHaveLength(length);
      await entity.handle.signal('resync');
      await until(() => script.performed.length > length);
    }
  });
});
