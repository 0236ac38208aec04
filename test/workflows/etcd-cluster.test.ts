/** The loop of a cluster's workflow. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { abort, answerToAbort, ask, pause, resume, resync } from '../../src/workflows/cluster/state.ts';
import { ClusterLoop, planning, PUT_BACK, REST } from '../worlds/cluster-loop.ts';

const STEP = { kind: 'restartMember' };
const ANA = { by: 'ana' };
const request = { id: 1, kind: 'restart', target: '', by: 'ana' } as const;

describe('passes whose tries are used up', () => {
  const failed = { failedPass: 'no rights' };

  it('are reported, with since when, and made again after a growing back-off', async () => {
    const loop = await new ClusterLoop().begin();
    const since = loop.now();
    for (const [times, seconds] of [5, 10, 20, 40, 60, 60].entries()) {
      loop.time += 70_000;
      await loop.answer(failed);
      expect(loop.failures.at(-1)).toEqual({ message: 'no rights', since, times: times + 1 });
      await loop.advance(seconds * 1_000 - 1);
      expect(loop.isPassing).toBe(false);
      await loop.advance(1);
      expect(loop.isPassing).toBe(true);
    }
    await loop.answer(REST);
    expect(loop.state.passFailing).toBeUndefined();
  });

  it('are made again at once when something changed, and nobody is asked for an operation meanwhile', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(failed);
    await loop.say(state => pause(state, { by: 'ana', at: 1 }));
    expect(loop.isPassing).toBe(true);
    expect(loop.workflowStates.at(-1)?.paused).toEqual({ by: 'ana', at: 1 });
    expect(loop.begun).toEqual([]);
  });

  it('leave the run free to continue as new, which goes on with the back-off', async () => {
    const loop = await new ClusterLoop().begin();
    loop.length = 'long';
    await loop.answer(failed);
    expect(loop.end).toBe('continueAsNew');
    const next = await new ClusterLoop(loop.carried).begin();
    await next.answer(failed);
    expect(next.failures).toMatchObject([{ times: 2 }]);
  });
});

describe('what users ask for', () => {
  const paused = { by: 'ana', at: 1 };

  it('while an operation is under way is mirrored in the status, once', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    await loop.say(state => pause(state, paused));
    await loop.say(state => void (state.changed = true));
    expect(loop.recorded).toEqual([{ paused }]);
    await loop.say(state => abort(state, ANA));
    expect(loop.recorded.at(-1)).toEqual({
      paused,
      aborted: { operation: 'repairCluster', generation: 1, by: 'ana' },
    });
    expect(loop.recorded).toHaveLength(2);
  });

  it('by EtcdRequest is judged during a step that takes longer than a minute, and otherwise by the passes between steps', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    await loop.say(state => void (state.changed = true));
    await loop.advance(59_000);
    expect(loop.recorded).toEqual([]);
    loop.recording = { ends: true, holding: { pause: 'a-uid' } };
    await loop.advance(1_000);
    expect(loop.recorded).toEqual([{}]);
    expect(loop.asks).toEqual([{ kind: 'handOver' }]);
    expect(loop.state.assessment?.holding).toEqual({ pause: 'a-uid' });
    // Nothing has changed since.
    await loop.advance(600_000);
    expect(loop.recorded).toHaveLength(1);
    // A message ends the pause, which does not come back when this run is terminated.
    loop.recording = { ends: false };
    await loop.say(state => resume(state));
    expect(loop.state.spent).toEqual(['a-uid']);
    expect(loop.recorded).toHaveLength(2);
    expect(loop.isOperating).toBe(true);
    await loop.finish({ outcome: 'handedBack' });
    expect(loop.isPassing).toBe(true);
  });

  it('by EtcdRequest and is aborted by a message is recorded as aborted at once', async () => {
    const loop = await new ClusterLoop().begin();
    const asked = { id: 'a-uid', kind: 'restart', target: '', by: 'bob' } as const;
    const work = planning(STEP, { operation: 'rolloutCluster' });
    await loop.answer({ ...work, holding: { requests: [asked] } });
    await loop.say(state => abort(state, ANA));
    expect(loop.state.spent).toEqual(['a-uid']);
    expect(loop.recorded).toEqual([{}]);
    expect(loop.asks).toEqual([{ kind: 'abort', request: ANA }]);
  });

  it('by EtcdRequest is judged in time also when so much changes that runs are shorter than a minute', async () => {
    const first = await new ClusterLoop().begin();
    await first.answer(planning(STEP));
    await first.advance(40_000);
    first.length = 'veryLong';
    await first.say(state => void (state.changed = true));
    expect(first.end).toBe('continueAsNew');
    const next = new ClusterLoop(first.carried);
    next.time = first.time;
    next.taken = true;
    await next.begin();
    await next.advance(19_000);
    expect(next.recorded).toEqual([]);
    await next.advance(1_000);
    expect(next.recorded).toEqual([{}]);
  });

  it('is recorded again after a minute when that failed', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    loop.recording = undefined;
    await loop.say(state => pause(state, paused));
    expect(loop.recorded).toHaveLength(1);
    await loop.advance(59_000);
    expect(loop.recorded).toHaveLength(1);
    loop.recording = { ends: false };
    await loop.advance(600_000);
    expect(loop.recorded).toEqual([{ paused }, { paused }]);
  });

  it('is taken over by the first pass of a run that begins anew, and by no other', async () => {
    const loop = await new ClusterLoop().begin();
    const approval = { id: -1, operation: 'x', ids: ['y'], by: 'ana', expiresAt: 9e12 };
    expect(loop.workflowStates.at(-1)).toMatchObject({
      takesOver: { pause: true, abort: true, requests: true },
    });
    await loop.answer({ ...REST, takenOver: { paused, approvals: [approval] } });
    expect(loop.state).toMatchObject({ paused, approvals: [approval] });
    await loop.say(state => void (state.changed = true));
    expect(loop.workflowStates.at(-1)).toMatchObject({ paused, approvals: [approval] });
    expect(loop.workflowStates.at(-1)?.takesOver).toBeUndefined();
    const next = await new ClusterLoop(loop.carried).begin();
    expect(next.workflowStates.at(-1)?.takesOver).toBeUndefined();
  });

  it('is not taken over where a user has ended it, or asked for something else, before the first pass', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.say(state => resume(state));
    await loop.say(state => resync(state));
    const aborted = { operation: 'x', generation: 1 };
    await loop.answer({ ...REST, takenOver: { paused, aborted } });
    expect([loop.state.paused, loop.state.aborted]).toEqual([undefined, undefined]);
    const other = await new ClusterLoop().begin();
    await other.say(state => pause(state, { by: 'bob', at: 2 }));
    await other.answer({ ...REST, takenOver: { paused } });
    expect(other.state.paused).toEqual({ by: 'bob', at: 2 });
  });

  it('is still to be taken over when the first pass has failed and the run continued as new', async () => {
    const loop = await new ClusterLoop().begin();
    loop.length = 'long';
    await loop.answer({ failedPass: 'no rights' });
    const next = await new ClusterLoop(loop.carried).begin();
    expect(next.workflowStates.at(-1)).toMatchObject({ takesOver: { pause: true, abort: true } });
  });
});

describe('the workflow of a cluster', () => {
  it('makes a pass, and waits until something changed or the next pass is due', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(REST);
    expect(loop.isPassing).toBe(false);
    await loop.advance(599_000);
    expect(loop.isPassing).toBe(false);
    await loop.advance(1_000);
    expect(loop.isPassing).toBe(true);
    await loop.answer(REST);
    await loop.say(state => void (state.changed = true));
    expect(loop.isPassing).toBe(true);
  });

  it('makes another pass after one during which something changed', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.say(state => void (state.changed = true));
    await loop.answer(REST);
    expect(loop.isPassing).toBe(true);
  });

  it('carries out what a pass plans, and makes a pass when that has ended', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    expect(loop.begun).toMatchObject([{ work: { step: STEP } }]);
    expect(loop.state.running).toEqual({ operation: 'repairCluster', generation: 1 });
    await loop.finish({ runId: 'a run' });
    expect(loop.isPassing).toBe(true);
    expect(loop.workflowStates.at(-1)?.ran).toEqual({ operation: 'repairCluster', runId: 'a run' });
  });

  it('ends when the resource is gone, and everybody was answered', async () => {
    const loop = await new ClusterLoop().begin();
    loop.answered = false;
    await loop.answer({ ...REST, decision: { kind: 'gone' } });
    expect(loop.end).toBeUndefined();
    expect(loop.state.gone).toBe(true);
    loop.answered = true;
    await loop.settle();
    expect(loop.end).toBe('gone');
  });

  it('ends when its operation has seen that the resource is gone', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    await loop.finish({ assessment: { ...REST, decision: { kind: 'gone' } } });
    expect(loop.end).toBe('gone');
  });

  it('retries an operation that failed after a growing back-off, or at once after a resync', async () => {
    const loop = await new ClusterLoop().begin();
    for (const seconds of [5, 10, 20]) {
      await loop.answer(planning(STEP));
      await loop.finish({ outcome: 'failed', message: 'no', step: 'restartMember' });
      expect(loop.workflowStates.at(-1)?.failed).toMatchObject({ message: 'no', step: 'restartMember' });
      await loop.answer(REST);
      expect(loop.wakesAt).toBe(loop.time + seconds * 1_000);
      await loop.advance(seconds * 1_000);
      expect(loop.workflowStates.at(-1)?.failed).toBeUndefined();
    }
    await loop.answer(planning(STEP));
    await loop.finish({ outcome: 'failed', message: 'no' });
    await loop.answer(REST);
    await loop.say(resync);
    expect(loop.workflowStates.at(-1)?.failed).toBeUndefined();
    await loop.answer(planning(STEP));
    await loop.finish({ outcome: 'failed', message: 'no' });
    await loop.answer(REST);
    expect(loop.wakesAt).toBe(loop.time + 5_000);
  });
});

describe('what a person asks for', () => {
  it('while an operation is under way has that hand over after its step: a pass plans with it', async () => {
    for (const message of [pause, ask] as const) {
      const loop = await new ClusterLoop().begin();
      await loop.answer(planning(STEP));
      await loop.say(state => (message === pause ? pause(state, ANA) : ask(state, request)));
      expect(loop.asks).toEqual([{ kind: 'handOver' }]);
      await loop.finish({ outcome: 'handedBack' });
      expect(loop.workflowStates.at(-1)).toMatchObject(
        message === pause ? { paused: ANA } : { requests: [request] },
      );
    }
  });

  it('during a pass has another one made before anything is begun', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.say(state => pause(state, ANA));
    await loop.answer(planning(STEP));
    expect(loop.begun).toEqual([]);
    expect(loop.workflowStates.at(-1)?.paused).toEqual(ANA);
  });

  it('after a pause is asked of no operation when it only resumes or retries', async () => {
    const loop = await new ClusterLoop({ paused: ANA }).begin();
    await loop.answer(planning(STEP));
    await loop.say(resume);
    await loop.say(resync);
    expect(loop.asks).toEqual([]);
    await loop.finish();
    expect(loop.workflowStates.at(-1)).toEqual({ mayRepair: 'all' });
  });

  it('to abort ends the operation, and is remembered', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP, { subject: 'a restore' }));
    await loop.say(state => abort(state, ANA));
    expect(loop.asks).toEqual([{ kind: 'abort', request: ANA }]);
    await loop.finish({ outcome: 'aborted', by: ANA });
    const aborted = { operation: 'repairCluster', generation: 1, subject: 'a restore', by: 'ana' };
    expect(loop.workflowStates.at(-1)?.aborted).toEqual(aborted);
  });

  it('to abort is forgotten when the operation had ended by itself', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    await loop.say(state => abort(state, ANA));
    await loop.finish();
    expect(loop.workflowStates.at(-1)?.aborted).toBeUndefined();
  });

  it('to abort is kept when the step under way fails', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    await loop.say(state => abort(state, ANA));
    await loop.finish({ outcome: 'failed', message: 'no' });
    expect(loop.workflowStates.at(-1)?.aborted).toEqual({
      operation: 'repairCluster',
      generation: 1,
      by: 'ana',
    });
  });

  it('to abort takes back the oldest of several requests, which is the one that is carried out', async () => {
    const older = { id: 'uid-1', kind: 'restart', target: 'example-1', by: 'bob', at: 1 } as const;
    const newer = { ...request, target: 'example-2', at: 2 };
    const loop = await new ClusterLoop({ requests: [newer] }).begin();
    const plans = planning(STEP, { operation: 'rolloutCluster' });
    await loop.answer({ ...plans, holding: { requests: [older] } });
    await loop.say(state => abort(state, ANA));
    await loop.finish({ operation: 'rolloutCluster', outcome: 'aborted', by: ANA });
    expect(loop.workflowStates.at(-1)).toMatchObject({ requests: [newer], spent: ['uid-1'] });
  });

  it('to abort an operation that waits keeps it from going on', async () => {
    const loop = await new ClusterLoop().begin();
    const waits = { kind: 'blocked', operation: 'upgradeCluster', nextPassSeconds: 600, plan: [] };
    await loop.answer({ ...REST, decision: waits as never });
    expect(answerToAbort(loop.state)).toMatch(/^upgradeCluster does not run until/);
    await loop.say(state => abort(state, ANA));
    expect(loop.workflowStates.at(-1)?.aborted).toEqual({
      operation: 'upgradeCluster',
      generation: 1,
      by: 'ana',
    });
  });

  it('to abort what was requested takes the request back', async () => {
    const loop = await new ClusterLoop({ requests: [request] }).begin();
    await loop.answer(planning(STEP, { operation: 'rolloutCluster' }));
    await loop.say(state => abort(state, ANA));
    await loop.finish({ operation: 'rolloutCluster', outcome: 'aborted', by: ANA });
    expect(loop.workflowStates.at(-1)).toEqual({ mayRepair: 'all' });
  });

  it('as an approval is used up by the operation that says so', async () => {
    const approval = { id: 7, operation: 'repairCluster', ids: ['a'], by: 'ana', expiresAt: 9e12 };
    const loop = await new ClusterLoop({ approvals: [approval] }).begin();
    await loop.answer(planning(STEP, { approval: 7 }));
    expect(loop.begun[0]?.workflowState.approvals).toEqual([approval]);
    await loop.finish({ used: [7] });
    expect(loop.workflowStates.at(-1)?.approvals).toBeUndefined();
  });
});

describe('an operation that another run started', () => {
  it('is asked to report its end, and awaited', async () => {
    const loop = new ClusterLoop();
    loop.taken = true;
    await loop.begin();
    await loop.answer(planning(STEP));
    expect(loop.asks).toEqual([{ kind: 'follow' }]);
    await loop.advance(60_000);
    expect(loop.asks).toEqual([{ kind: 'follow' }, { kind: 'follow' }]);
    expect(loop.isPassing).toBe(false);
    await loop.say(state => {
      state.reported = { operation: 'repairCluster', outcome: 'failed', message: 'no' };
    });
    expect(loop.workflowStates.at(-1)?.failed).toMatchObject({ message: 'no' });
  });

  it('is asked once a minute however often something changes', async () => {
    const loop = new ClusterLoop();
    loop.taken = true;
    await loop.begin();
    await loop.answer(planning(STEP));
    const begun = loop.time;
    const asked: number[] = [];
    while (loop.time < begun + 300_000) {
      const { length } = loop.asks;
      await loop.advance(5_000);
      await loop.say(state => void (state.changed = true));
      await loop.advance(5_000);
      if (loop.asks.length > length) asked.push((loop.time - begun) / 1_000);
    }
    expect(asked).toEqual([60, 120, 180, 240, 300]);
  });

  it('is followed no more when it does not exist', async () => {
    const loop = new ClusterLoop();
    loop.taken = true;
    await loop.begin();
    await loop.answer(planning(STEP));
    loop.taken = false;
    await loop.advance(60_000);
    expect(loop.isPassing).toBe(true);
    expect(loop.state.running).toBeUndefined();
  });

  it('and that somebody aborted stays aborted when it does not exist any more', async () => {
    const loop = new ClusterLoop();
    loop.taken = true;
    await loop.begin();
    await loop.answer(planning(STEP));
    loop.taken = false;
    await loop.say(state => abort(state, ANA));
    expect(loop.isPassing).toBe(true);
    expect(loop.workflowStates.at(-1)?.aborted).toMatchObject({ operation: 'repairCluster', by: 'ana' });
  });

  it('is paused and aborted by this run', async () => {
    const loop = new ClusterLoop();
    loop.taken = true;
    await loop.begin();
    await loop.answer(planning(STEP));
    await loop.say(state => abort(state, ANA));
    expect(loop.asks.at(-1)).toEqual({ kind: 'abort', request: ANA });
  });
});

describe('a run with a long history', () => {
  it('continues as new when it waits, unless a message is not answered', async () => {
    const loop = await new ClusterLoop().begin();
    loop.length = 'long';
    loop.answered = false;
    await loop.answer(REST);
    expect(loop.end).toBeUndefined();
    loop.answered = true;
    await loop.settle();
    expect(loop.end).toBe('continueAsNew');
  });

  it('continues as new after its operation', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    loop.length = 'long';
    await loop.settle();
    expect(loop.end).toBeUndefined();
    await loop.finish();
    expect(loop.end).toBe('continueAsNew');
  });

  it('leaves its operation to the next run when it is very long', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(planning(STEP));
    loop.length = 'veryLong';
    await loop.settle();
    expect(loop.end).toBe('continueAsNew');
    const next = new ClusterLoop(loop.carried);
    next.taken = true;
    await next.begin();
    expect(next.state.assessment).toEqual(planning(STEP));
    expect(next.asks).toEqual([{ kind: 'follow' }]);
    expect(next.isPassing).toBe(false);
  });

  it('continues as new when it was cancelled, so that it can be cancelled again', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.answer(REST);
    await loop.say(state => void (state.cancelled = true));
    expect(loop.end).toBe('continueAsNew');
  });
});

describe('a pass', () => {
  it('may repair by itself while nothing is under way', async () => {
    const loop = await new ClusterLoop().begin();
    expect(await loop.pass(REST)).toBe('all');
    expect(await loop.pass(REST)).toBe('all');
  });

  it('may put the same back three times, and then waits as an operation would', async () => {
    const loop = await new ClusterLoop().begin();
    const repaired = { ...REST, repaired: PUT_BACK };
    const may = [];
    for (let times = 0; times < 4; times += 1) may.push(await loop.pass(repaired));
    expect(may).toEqual(['all', 'all', 'all', 'missing']);
    expect(await loop.pass(planning())).toBe('missing');
    expect(loop.begun).toEqual([]);
    await loop.advance(loop.wakesAt - loop.time);
    expect(await loop.pass(repaired)).toBe('all');
  });

  it('may create what is missing as often as it is', async () => {
    const loop = await new ClusterLoop().begin();
    const created = { ...REST, repaired: { kind: 'ensureObjects', objects: ['clientService'] } } as const;
    for (let times = 0; times < 5; times += 1) expect(await loop.pass(created)).toBe('all');
  });

  it('waits in proportion after one that took long', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.pass({ ...REST, repaired: PUT_BACK }, 3_000);
    expect(await loop.pass(REST)).toBe('missing');
    loop.time += 60_000;
    expect(await loop.pass(REST)).toBe('all');
  });

  it('leaves to an operation what had to be done again at once', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.pass({ ...planning(), repaired: PUT_BACK });
    expect(loop.begun).toHaveLength(1);
    expect(loop.state.repeats).toMatchObject({ times: 2, undone: 1 });
    await loop.finish();
    await loop.answer(REST);
    expect(await loop.pass(REST)).toBe('all');
  });

  it('leaves the fifth to an operation when each took long and had to be done again at once', async () => {
    const loop = await new ClusterLoop().begin();
    for (let times = 1; times <= 4; times += 1) {
      expect(await loop.pass({ ...planning(), repaired: PUT_BACK }, 3_000)).toBe('all');
      expect(loop.state.repeats).toMatchObject({ undone: times });
      expect(loop.begun).toEqual([]);
      await loop.advance(loop.wakesAt - loop.time);
    }
    expect(await loop.pass(planning(), 3_000)).toBe('missing');
    expect(loop.begun).toHaveLength(1);
  });

  it('leaves what has failed to an operation, whose success ends the back-off', async () => {
    const loop = await new ClusterLoop().begin();
    await loop.pass(planning());
    await loop.finish({ outcome: 'failed', step: 'ensureObjects', message: 'no' });
    await loop.answer(REST);
    await loop.advance(200_000);
    expect(await loop.pass(planning())).toBeUndefined();
    await loop.finish();
    await loop.answer(REST);
    expect(await loop.pass(REST)).toBe('all');
  });

  it('may repair by itself again two minutes later', async () => {
    const loop = await new ClusterLoop().begin();
    for (let times = 0; times < 4; times += 1) await loop.pass({ ...REST, repaired: PUT_BACK });
    loop.time += 120_000;
    expect(await loop.pass(REST)).toBe('all');
  });
});

/** Every pass finds that the work was undone. Answers when each operation was begun, in seconds, and when one counted as failed. */
async function undone({
  seconds,
  lasts = 1,
  generation = () => 1,
  handsBack = false,
  step = PUT_BACK,
}: {
  readonly seconds: number;
  readonly lasts?: number;
  readonly generation?: (second: number) => number;
  readonly handsBack?: boolean;
  readonly step?: { readonly kind: string };
}) {
  const loop = new ClusterLoop();
  const start = loop.time;
  const failed: number[] = [];
  await loop.begin();
  while (loop.time < start + seconds * 1_000) {
    const second = (loop.time - start) / 1_000;
    if (loop.isPassing) await loop.answer({ ...planning(step), generation: generation(second) });
    else if (loop.isOperating) {
      await loop.advance(lasts * 1_000);
      await loop.finish(handsBack ? { outcome: 'handedBack', message: 'again and again' } : {});
      if (loop.workflowStates.at(-1)?.failed !== undefined) {
        failed.push((loop.time - start) / 1_000);
        await loop.answer(REST);
      }
    } else await loop.advance(1_000);
  }
  return { loop, failed, begun: loop.begun.map(({ at }) => (at - start) / 1_000) };
}

const waitsOf = (begun: readonly number[], lasts: number) =>
  begun.slice(1).map((at, index) => at - (begun[index] ?? 0) - lasts);

describe('what is undone again and again', () => {
  it('is put back at once three times, and then ever more seldom, up to each thirty seconds', async () => {
    const { begun } = await undone({ seconds: 200 });
    expect(begun.slice(0, 3)).toEqual([0, 1, 2]);
    expect(waitsOf(begun, 0).slice(2, 8)).toEqual([2, 4, 8, 16, 30, 30]);
  });

  it('is put back at once after another specification', async () => {
    const { begun } = await undone({ seconds: 70, generation: second => (second < 60 ? 1 : 2) });
    const [first = 0, ...further] = begun.filter(at => at >= 60);
    expect(further.slice(0, 2)).toEqual([first + 1, first + 2]);
  });

  it('waits in proportion to how long it took, whatever is put back', async () => {
    for (const [lasts, waits] of [
      [1, 0],
      [2, 20],
      [9, 60],
    ] as const) {
      const { begun } = await undone({ seconds: 300, lasts, generation: second => second });
      expect(waitsOf(begun, lasts).slice(0, 3)).toEqual([waits, waits, waits]);
    }
  });

  it('does not wait when it is anything but shared objects', async () => {
    const { begun } = await undone({ seconds: 10, step: STEP });
    expect(begun).toHaveLength(10);
  });

  it('has failed when operations handed it back five times in a row, and is counted anew then', async () => {
    const { failed, begun } = await undone({ seconds: 400, lasts: 2, handsBack: true });
    expect(failed[0]).toBe((begun[4] ?? 0) + 2);
    expect((await undone({ seconds: 400, lasts: 2 })).failed).toEqual([]);
  });

  it('waits also in the next run, and when somebody says something', async () => {
    const { loop } = await undone({ seconds: 60 });
    const next = await new ClusterLoop(loop.carried).begin();
    next.time = loop.time;
    await next.answer(planning());
    expect(next.begun).toEqual([]);
    await next.say(resync);
    await next.answer(planning());
    expect(next.begun).toHaveLength(1);
  });
});

it('one thing is done at a time, and no change is lost, whatever comes in whatever order', async () => {
  const moves: Readonly<Record<string, (loop: ClusterLoop, n: number) => Promise<void>>> = {
    change: loop => loop.say(state => void (state.changed = true)),
    pause: loop => loop.say(state => pause(state, ANA)),
    resume: loop => loop.say(resume),
    abort: loop => loop.say(state => abort(state, ANA)),
    cancel: loop => loop.say(state => void (state.cancelled = true)),
    wait: (loop, n) => loop.advance(n * 997),
    grow: async (loop, n) => {
      loop.length = (['short', 'long', 'veryLong'] as const)[n % 3] ?? 'short';
      await loop.settle();
    },
    hang: async (loop, n) => {
      loop.answered = n % 2 === 0;
      await loop.settle();
    },
    answer: async (loop, n) => {
      const answers = [
        REST,
        planning(),
        planning(STEP),
        REST,
        { ...REST, decision: { kind: 'gone' } },
      ] as const;
      if (loop.isPassing) await loop.answer(answers[n % 5] ?? REST);
    },
    finish: async (loop, n) => {
      const outcome = (['failed', 'ended', 'handedBack', 'aborted'] as const)[n % 4] ?? 'ended';
      if (loop.isOperating) await loop.finish({ outcome });
    },
  };
  const story = fc.array(fc.tuple(fc.constantFrom(...Object.keys(moves)), fc.nat(100)), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(story, async told => {
      const loop = await new ClusterLoop().begin();
      for (const [move, n] of told) await moves[move]?.(loop, n);
      if (loop.end !== undefined) return;
      loop.answered = true;
      const passes = loop.workflowStates.length + (loop.isPassing ? 0 : 1);
      await loop.say(state => void (state.changed = true));
      for (
        let round = 0;
        round < 20 && loop.end === undefined && loop.workflowStates.length < passes + 1;
        round += 1
      ) {
        await moves['answer']?.(loop, 0);
        await moves['finish']?.(loop, 1);
      }
      expect(loop.end !== undefined || loop.workflowStates.length >= passes).toBe(true);
    }),
    { numRuns: 150 },
  );
});
