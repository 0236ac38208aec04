/** The loops of the workflows of backups and restores. */
import { describe, expect, it } from 'vitest';
import type {
  BackupWorkflowState,
  BackupAssessment,
  RestoreWorkflowState,
  RestoreAssessment,
} from '../../src/activities/index.ts';
import {
  abort,
  type BackupEnding,
  type BackupWork,
  carriedBackup,
  newBackup,
  requestBackup,
} from '../../src/workflows/backup/state.ts';
import { runBackup } from '../../src/workflows/etcd-backup.ts';
import { carriedRestore, newRestore, resync, runRestore } from '../../src/workflows/etcd-restore.ts';
import type { RunEnd } from '../../src/workflows/host.ts';
import type { StepOutcome } from '../../src/workflows/operation.ts';
import type { FailedPass, PassFailure } from '../../src/workflows/passes.ts';
import type { Ask } from '../../src/workflows/slot.ts';
import { LoopHost } from '../worlds/loop-host.ts';

const timing = { startToCloseSeconds: 1, scheduleToCloseSeconds: 1, heartbeatSeconds: 1 };
const ANA = { by: 'ana' };

describe('the workflow of a backup', () => {
  const operate = (operation: BackupWork['operation'], step: object = {}): BackupAssessment => ({
    decision: { kind: 'operate', operation, step, timing, summary: '' } as unknown as BackupWork,
    summary: undefined,
  });
  const idle: BackupAssessment = { decision: { kind: 'idle', nextPassSeconds: 60 }, summary: undefined };

  async function begun(first: BackupAssessment) {
    const host = new LoopHost();
    const state = newBackup();
    const workflowStates: BackupWorkflowState[] = [];
    const asks: Ask[] = [];
    const failures: PassFailure[] = [];
    const world = {
      next: first as BackupAssessment | FailedPass,
      started: 0,
      startedBeside: 0,
      finishBeside: (() => {}) as (ending: BackupEnding) => void,
      end: undefined as RunEnd | undefined,
      finish: (() => {}) as (ending: BackupEnding) => void,
    };
    void runBackup(state, {
      ...{ now: host.now, history: host.history, isEachAnswered: host.isEachAnswered, wait: host.wait },
      show: () => {},
      reportFailing: async failure => void failures.push(failure),
      pass: async workflowState => (workflowStates.push(workflowState), world.next),
      start: async () => {
        world.started += 1;
        return { result: new Promise(resolve => (world.finish = resolve)) };
      },
      startBeside: async () => {
        world.startedBeside += 1;
        return { result: new Promise(resolve => (world.finishBeside = resolve)) };
      },
      ask: async ask => (asks.push(ask), true),
    }).then(end => (world.end = end));
    await host.settle();
    const say = async (message: (of: typeof state) => void) => {
      message(state);
      await host.settle();
    };
    return { host, state, workflowStates, asks, failures, world, say };
  }

  describe('the second store', () => {
    const beside = operate('copyBackups').decision as BackupWork;

    it('is seen to beside everything else, however long that takes, and never twice at once', async () => {
      const { world, say } = await begun({ ...operate('takeBackup'), beside });
      expect([world.started, world.startedBeside]).toEqual([1, 1]);
      world.next = { ...idle, beside };
      world.finish({ operation: 'takeBackup', outcome: 'ended' });
      await say(state => void (state.changed = true));
      // It hangs, and the next backup begins all the same.
      world.next = { ...operate('takeBackup'), beside };
      await say(state => void (state.changed = true));
      expect([world.started, world.startedBeside]).toEqual([2, 1]);
    });

    it('is looked at again when what was begun there has ended', async () => {
      const { world, workflowStates, host } = await begun({ ...idle, beside });
      const passes = workflowStates.length;
      world.next = idle;
      world.finishBeside({ operation: 'copyBackups', outcome: 'ended' });
      await host.settle();
      expect(workflowStates.length).toBe(passes + 1);
      expect(world.startedBeside).toBe(1);
    });

    it('is seen to five times a minute at most, should nothing come of it', async () => {
      const { world, host, say } = await begun({ ...idle, beside });
      for (let round = 0; round < 9; round += 1) {
        world.finishBeside({ operation: 'copyBackups', outcome: 'ended' });
        await host.settle();
        await host.settle();
      }
      expect(world.startedBeside).toBe(5);
      await host.advance(61_000);
      await say(state => void (state.changed = true));
      expect(world.startedBeside).toBe(6);
    });

    it('is left alone for five minutes after a fault of the operator', async () => {
      const { world, host, say } = await begun({ ...idle, beside });
      world.finishBeside({ operation: 'copyBackups', outcome: 'failed', message: 'a fault' });
      await host.settle();
      await say(state => void (state.changed = true));
      expect(world.startedBeside).toBe(1);
      await host.advance(301_000);
      await say(state => void (state.changed = true));
      expect(world.startedBeside).toBe(2);
    });
  });

  it('reports a pass whose tries are used up, and makes another one after a while, or when something changed', async () => {
    const { host, workflowStates, failures, world, say } = await begun(idle);
    world.next = { failedPass: 'no rights' };
    await host.advance(60_000);
    expect(failures).toMatchObject([{ message: 'no rights', times: 1 }]);
    await host.advance(5_000);
    expect(failures).toMatchObject([{ times: 1 }, { times: 2 }]);
    world.next = operate('takeBackup');
    await say(state => void (state.changed = true));
    expect([workflowStates.length, world.started]).toEqual([4, 1]);
    world.next = { failedPass: 'no rights' };
    await say(state => void (state.changed = true));
    expect(failures).toHaveLength(3);
    // The end of the operation is seen all the same.
    world.next = idle;
    world.finish({ operation: 'takeBackup', outcome: 'ended' });
    await host.settle();
    expect(workflowStates).toHaveLength(6);
  });

  it('goes on making passes while an operation is under way, and begins no other', async () => {
    const { workflowStates, world, say } = await begun(operate('takeBackup'));
    await say(state => void (state.changed = true));
    expect([workflowStates.length, world.started]).toEqual([2, 1]);
  });

  it('ends the operation when the resource is deleted', async () => {
    const { asks, world, say } = await begun(operate('takeBackup'));
    world.next = operate('releaseBackup');
    await say(state => void (state.changed = true));
    expect(asks).toEqual([{ kind: 'abort', request: { by: 'deletion of the resource' } }]);
    world.finish({ operation: 'takeBackup', outcome: 'aborted' });
    await say(() => {});
    expect(world.started).toBe(2);
  });

  it('ends the operation when a person aborts it, and remembers who did', async () => {
    const { workflowStates, asks, host, world, say } = await begun(operate('takeBackup'));
    await say(state => abort(state, ANA));
    expect(asks).toEqual([{ kind: 'abort', request: ANA }]);
    world.next = idle;
    world.finish({ operation: 'takeBackup', outcome: 'aborted', startedAt: 'then', by: ANA });
    await host.settle();
    expect(workflowStates.at(-1)?.aborted).toEqual({ by: 'ana', startedAt: 'then' });
  });

  it('forgets a request when the operation that records it has begun', async () => {
    const { workflowStates, world, say } = await begun(idle);
    world.next = operate('takeBackup', { requestedBy: 'ana' });
    await say(state => requestBackup(state, ANA));
    expect(workflowStates.at(-1)?.requested).toEqual(ANA);
    await say(state => void (state.changed = true));
    expect(workflowStates.at(-1)?.requested).toBeUndefined();
  });

  it('tries to let a resource go again after a back-off, or when something changed', async () => {
    const { host, world, say } = await begun(operate('releaseBackup'));
    world.finish({ operation: 'releaseBackup', outcome: 'failed', message: 'no' });
    await host.settle();
    expect(world.started).toBe(1);
    await host.advance(10_000);
    expect(world.started).toBe(2);
    world.finish({ operation: 'releaseBackup', outcome: 'failed', message: 'no' });
    await host.settle();
    expect(world.started).toBe(2);
    await say(state => void (state.changed = true));
    expect(world.started).toBe(3);
  });

  it('hands the back-off to the run that continues it', async () => {
    const { host, state, world } = await begun(operate('releaseBackup'));
    world.finish({ operation: 'releaseBackup', outcome: 'failed', message: 'no' });
    await host.settle();
    host.length = 'long';
    await host.settle();
    expect(world.end).toBe('continueAsNew');
    expect(carriedBackup(state).retryAt).toBe(host.time + 10_000);
  });

  it('ends when the resource is gone', async () => {
    expect((await begun({ ...idle, decision: { kind: 'gone' } })).world.end).toBe('gone');
  });
});

describe('the workflow of a restore', () => {
  const seeing = (decision: RestoreAssessment['decision'], more = {}): RestoreAssessment => ({
    decision,
    summary: { phase: 'Validating' },
    ...more,
  });
  const examine = seeing({ kind: 'operate', step: { kind: 'examineBackup' }, timing, summary: '' } as never);
  const cluster = { namespace: 'shop', name: 'example', uid: 'uid' };

  async function begun(first: RestoreAssessment, outcome: StepOutcome = { kind: 'done', hasWaited: false }) {
    const host = new LoopHost();
    const state = newRestore();
    const workflowStates: RestoreWorkflowState[] = [];
    const failures: PassFailure[] = [];
    const world = {
      next: first as RestoreAssessment | FailedPass,
      after: seeing({ kind: 'waiting' }),
      performed: 0,
      woken: 0,
      end: undefined as RunEnd | undefined,
    };
    void runRestore(state, {
      ...{ now: host.now, history: host.history, isEachAnswered: host.isEachAnswered, wait: host.wait },
      show: () => {},
      reportFailing: async failure => void failures.push(failure),
      pass: async workflowState => (workflowStates.push(workflowState), world.next),
      perform: async () => {
        world.performed += 1;
        if (outcome.kind === 'done') world.next = world.after;
        return outcome;
      },
      wake: async () => void (world.woken += 1),
    }).then(end => (world.end = end));
    await host.settle();
    return { host, state, workflowStates, failures, world };
  }

  it('examines the backup, follows the workflow of the cluster, and ends with the restore', async () => {
    const { host, workflowStates, world } = await begun(examine);
    expect([world.performed, workflowStates.length]).toEqual([1, 2]);
    await host.advance(5_000);
    expect(workflowStates).toHaveLength(3);
    world.next = seeing({ kind: 'ended' });
    await host.advance(5_000);
    expect(world.end).toBe('gone');
  });

  it('shows a failure at once, and tries again after a growing back-off', async () => {
    const { host, workflowStates, world } = await begun(examine, { kind: 'failed', message: 'no' });
    expect(workflowStates.at(-1)).toEqual({ failed: { message: 'no' } });
    for (const seconds of [10, 20]) {
      const { performed } = world;
      await host.advance(seconds * 1_000 - 1);
      expect(world.performed).toBe(performed);
      await host.advance(1);
      expect(world.performed).toBe(performed + 1);
    }
  });

  it('hands the back-off to the run that continues it', async () => {
    const { host, state, world } = await begun(examine, { kind: 'failed', message: 'no' });
    host.length = 'long';
    await host.settle();
    expect(world.end).toBe('continueAsNew');
    expect(carriedRestore(state).retryAt).toBe(host.time + 10_000);
  });

  it('examines a refused backup again once after a resync', async () => {
    const refused = seeing({ kind: 'refused', reason: 'NotConfirmed', message: '' } as never);
    const { host, state, workflowStates } = await begun(refused);
    resync(state);
    await host.settle();
    state.changed = true;
    await host.settle();
    expect(workflowStates).toEqual([{}, { again: true }, {}]);
  });

  it('reports a pass whose tries are used up, and asks for another examination again', async () => {
    const refused = seeing({ kind: 'refused', reason: 'NotConfirmed', message: '' } as never);
    const { host, state, workflowStates, failures, world } = await begun(refused);
    world.next = { failedPass: 'no rights' };
    resync(state);
    await host.settle();
    expect(failures).toMatchObject([{ message: 'no rights', times: 1 }]);
    world.next = refused;
    await host.advance(5_000);
    expect(workflowStates).toEqual([{}, { again: true }, { again: true }]);
  });

  it('wakes the workflow of the cluster once for each reason', async () => {
    const { host, world } = await begun(
      seeing({ kind: 'blocked', reason: 'X', message: '' } as never, { cluster }),
    );
    await host.advance(30_000);
    expect(world.woken).toBe(1);
    world.next = seeing({ kind: 'ended' }, { cluster });
    await host.advance(30_000);
    expect(world.woken).toBe(2);
  });
});
