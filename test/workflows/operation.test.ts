/** The loop of an operation of a cluster, and that of an operation of a backup. */
import { describe, expect, it } from 'vitest';
import type { Assessment, BackupAssessment } from '../../src/activities/index.ts';
import { runBackupOperation } from '../../src/workflows/backup/operation.ts';
import type { BackupWork } from '../../src/workflows/backup/state.ts';
import {
  abortOperation,
  type Ended,
  noUserRequests,
  runOperation,
  type StepOutcome,
  type Work,
} from '../../src/workflows/operation.ts';
import type { FailedPass, PassFailure } from '../../src/workflows/passes.ts';
import { planning, PUT_BACK, REST } from '../worlds/cluster-loop.ts';
import { LoopHost } from '../worlds/loop-host.ts';

const done: StepOutcome = { kind: 'done', hasWaited: false };
const waited: StepOutcome = { kind: 'done', hasWaited: true };
const changed: StepOutcome = { kind: 'changed', message: 'the world moved' };
const timing = { startToCloseSeconds: 1, scheduleToCloseSeconds: 1, heartbeatSeconds: 1 };

const planned = (...kinds: readonly string[]): Assessment =>
  planning({ kind: kinds[0] ?? '' }, { plan: kinds.map(kind => ({ kind, summary: kind })) as Work['plan'] });
const workOf = ({ decision }: Assessment): Work => decision as Work;
/** A step, and those that follow it without a pass between them. */
const chain = (...kinds: readonly string[]): Work => ({
  ...workOf(planned(...kinds)),
  following: kinds.slice(1).map(kind => ({ step: { kind } as never, timing })),
});

interface Story {
  readonly first?: Work;
  /** The outcome of each step, by its number; the last one goes on for ever. */
  readonly steps?: readonly StepOutcome[];
  /** What each pass answers, in the same way. */
  readonly passes?: readonly (Assessment | FailedPass)[];
  /** During the step of this number. */
  readonly during?: Readonly<Record<number, (asked: ReturnType<typeof noUserRequests>) => void>>;
  /** How long each step takes, in milliseconds. */
  readonly lasts?: number;
  readonly history?: LoopHost['length'];
}

/** Runs an operation to its end, of which the clock goes on whenever it waits. */
async function play({
  first = workOf(planned('a')),
  steps = [done],
  passes = [REST],
  during = {},
  lasts = 0,
  history = 'short',
}: Story) {
  const host = new LoopHost();
  host.length = history;
  const asked = noUserRequests();
  const did: string[] = [];
  const failures: PassFailure[] = [];
  const pauses: number[] = [];
  let [performed, passed] = [0, 0];
  let ended: Ended | undefined;
  during[0]?.(asked);
  void runOperation(first, asked, {
    now: host.now,
    wait: host.wait,
    history: host.history,
    reportFailing: async failure => void failures.push(failure),
    perform: async ({ step }) => {
      did.push(step.kind);
      performed += 1;
      during[performed]?.(asked);
      host.time += lasts;
      return steps[Math.min(performed, steps.length) - 1] ?? done;
    },
    pass: async () => {
      did.push('pass');
      passed += 1;
      return passes[Math.min(passed, passes.length) - 1] ?? REST;
    },
  }).then(end => (ended = end));
  await host.settle();
  for (let rounds = 0; ended === undefined && rounds < 20; rounds += 1) {
    const ms = host.wakesAt - host.time;
    if (!Number.isFinite(ms)) break;
    pauses.push(ms);
    await host.advance(ms);
  }
  return { did, ended, pauses, failures };
}

describe('an operation', () => {
  it('performs steps with passes between them, and ends when the plan is another one', async () => {
    const { did, ended } = await play({ passes: [planned('b'), REST] });
    expect(did).toEqual(['a', 'pass', 'b', 'pass']);
    expect(ended).toEqual({ outcome: 'ended', assessment: REST });
    const other = planning({ kind: 'c' }, { operation: 'deleteCluster' });
    expect((await play({ passes: [other] })).ended).toEqual({ outcome: 'ended', assessment: other });
  });

  it('reports a pass whose tries are used up, and makes another one before it goes on', async () => {
    const failed = { failedPass: 'no rights' };
    const passes = [failed, failed, planned('b'), REST];
    const { did, ended, pauses, failures } = await play({ passes });
    expect(did).toEqual(['a', 'pass', 'pass', 'pass', 'b', 'pass']);
    expect(ended).toEqual({ outcome: 'ended', assessment: REST });
    expect(pauses).toEqual([5_000, 10_000]);
    expect(failures).toMatchObject([{ message: 'no rights', times: 1 }, { times: 2 }]);
  });

  it('ends without a pass when it is aborted or asked to hand over while passes fail, or its history is long', async () => {
    const passes = [{ failedPass: 'no rights' }];
    const abort = (asked: ReturnType<typeof noUserRequests>) => abortOperation(asked, { by: 'ana' });
    expect((await play({ passes, during: { 1: abort } })).ended).toEqual({
      outcome: 'aborted',
      by: { by: 'ana' },
    });
    expect((await play({ passes, history: 'long' })).ended).toEqual({ outcome: 'handedBack' });
  });

  it('performs what was planned to follow without a pass, until something is in the way', async () => {
    const first = { ...chain('a', 'b', 'c'), approval: 7 };
    const steps = async (...outcomes: StepOutcome[]) => (await play({ first, steps: outcomes })).did;
    expect(await play({ first })).toMatchObject({
      did: ['a', 'b', 'c'],
      ended: { outcome: 'ended', used: [7] },
    });
    expect(await steps(done, waited)).toEqual(['a', 'b', 'pass']);
    expect(await steps(done, { ...done, isHeldUp: true } as StepOutcome)).toEqual(['a', 'b', 'pass']);
    expect(await steps(done, changed)).toEqual(['a', 'b', 'pass']);
    expect(await steps(done, { kind: 'failed', message: 'no' })).toEqual(['a', 'b']);
  });

  it('makes a pass after what followed, when the plan goes on', async () => {
    const first = { ...chain('a', 'b'), plan: workOf(planned('a', 'b', 'c')).plan };
    expect((await play({ first })).did).toEqual(['a', 'b', 'pass']);
  });

  it('fails with its step, and when a precondition has changed five times', async () => {
    const failed = await play({ steps: [{ kind: 'failed', message: 'no' }] });
    expect(failed.ended).toEqual({ outcome: 'failed', message: 'no', step: 'a' });
    const moved = await play({ steps: [changed], passes: [planned('a')] });
    expect(moved.did.filter(step => step === 'a')).toHaveLength(5);
    expect(moved.ended).toEqual({ outcome: 'failed', message: 'the world moved', step: 'a' });
    const once = await play({ steps: [changed, changed, done], passes: [planned('a'), planned('b'), REST] });
    expect(once.ended?.outcome).toBe('ended');
  });

  it('fails when a step is done five times and still planned, each time after a longer pause', async () => {
    const { ended, pauses } = await play({ passes: [planned('a')] });
    expect(ended?.message).toBe('"a" was performed 5 times without reaching its goal');
    expect(pauses).toEqual([1_000, 2_000, 3_000, 4_000]);
    const held = { ...done, isHeldUp: true } as StepOutcome;
    const again = await play({
      first: chain('a', 'b'),
      steps: [done, held],
      passes: [{ ...REST, decision: chain('a', 'b') }],
    });
    expect(again.ended).toMatchObject({ outcome: 'failed' });
  });

  it('repeats a step that has waited as often as it is planned', async () => {
    const passes = [...Array<Assessment>(9).fill(planned('a')), REST];
    expect(await play({ steps: [waited], passes })).toMatchObject({
      ended: { outcome: 'ended' },
      pauses: [],
    });
  });

  it('hands back what puts shared objects back when that has to be done again and took long', async () => {
    const story = { first: workOf(planning()), passes: [planning()] };
    const { ended } = await play({ ...story, lasts: 1_001 });
    expect(ended).toMatchObject({ outcome: 'handedBack', step: PUT_BACK.kind });
    expect(ended?.message).toContain('again and again');
    expect((await play({ ...story, lasts: 100 })).ended?.outcome).toBe('failed');
    expect((await play({ passes: [planned('a')], lasts: 1_001 })).ended?.outcome).toBe('failed');
  });

  it('is aborted at the next step, and ends as usual when there is none', async () => {
    const during = { 1: (asked: ReturnType<typeof noUserRequests>) => abortOperation(asked, { by: 'ana' }) };
    const { did, ended } = await play({ during, passes: [planned('b')] });
    expect(did).toEqual(['a', 'pass']);
    expect(ended).toMatchObject({ outcome: 'aborted', by: { by: 'ana' } });
    expect((await play({ during })).ended?.outcome).toBe('ended');
    expect((await play({ during, first: chain('a', 'b'), passes: [planned('b')] })).did).toEqual([
      'a',
      'pass',
    ]);
    expect((await play({ during: { 0: during[1] } })).did).toEqual([]);
  });

  it('is aborted when what is left of it only waits, and not when something else does', async () => {
    const during = { 1: (asked: ReturnType<typeof noUserRequests>) => abortOperation(asked, { by: 'ana' }) };
    const waiting = (operation: string): Assessment => ({
      ...REST,
      decision: {
        kind: 'blocked',
        operation,
        reason: 'x',
        message: '',
        nextPassSeconds: 1,
        plan: [],
      } as never,
    });
    expect((await play({ during, passes: [waiting('repairCluster')] })).ended).toMatchObject({
      outcome: 'aborted',
      by: { by: 'ana' },
    });
    expect((await play({ during, passes: [waiting('upgradeCluster')] })).ended?.outcome).toBe('ended');
    expect((await play({ passes: [waiting('repairCluster')] })).ended?.outcome).toBe('ended');
  });

  it('keeps the first abort', async () => {
    const during = {
      1: (asked: ReturnType<typeof noUserRequests>) => {
        abortOperation(asked, { by: 'ana' });
        abortOperation(asked, { by: 'bob' });
      },
    };
    expect((await play({ during, passes: [planned('b')] })).ended?.by).toEqual({ by: 'ana' });
  });

  it('hands over after the step under way, and before its first one', async () => {
    const handOver = (asked: ReturnType<typeof noUserRequests>) => void (asked.handOver = true);
    const { did, ended } = await play({ during: { 1: handOver }, first: chain('a', 'b') });
    expect(did).toEqual(['a']);
    expect(ended).toEqual({ outcome: 'handedBack' });
    expect((await play({ during: { 0: handOver } })).did).toEqual([]);
  });

  it('hands over with a long history, unless it is aborted', async () => {
    const story = { passes: [planned('b')], history: 'veryLong' } as const;
    expect((await play(story)).ended?.outcome).toBe('handedBack');
    const during = { 1: (asked: ReturnType<typeof noUserRequests>) => abortOperation(asked, {}) };
    expect((await play({ ...story, during })).ended?.outcome).toBe('aborted');
  });

  it('uses up an approval with its step, but not when the precondition of the step has changed', async () => {
    const first = { ...workOf(planned('a')), approval: 7 };
    const used = async (outcome: StepOutcome) => (await play({ first, steps: [outcome] })).ended?.used;
    expect(await used(done)).toEqual([7]);
    expect(await used({ kind: 'failed', message: '' })).toEqual([7]);
    expect(await used(changed)).toBeUndefined();
  });
});

describe('an operation of a backup', () => {
  const work = (kind: string, operation: BackupWork['operation'] = 'takeBackup') =>
    ({ kind: 'operate', operation, step: { kind, startedAt: 'then' }, timing, summary: kind }) as BackupWork;
  const seeing = (decision: BackupAssessment['decision']): BackupAssessment => ({
    decision,
    summary: undefined,
  });
  const idle = seeing({ kind: 'idle', nextPassSeconds: 60 });

  async function backUp(
    first: BackupWork,
    outcomes: StepOutcome[],
    passes: (BackupAssessment | FailedPass)[],
  ) {
    const asked = noUserRequests();
    const did: string[] = [];
    const ending = await runBackupOperation(
      first,
      asked,
      Object.assign(new LoopHost(), {
        reportFailing: async () => {},
        pass: async () => (did.push('pass'), passes.shift() ?? idle),
        perform: async ({ step }: BackupWork) => {
          did.push(step.kind);
          const outcome = outcomes.shift() ?? done;
          if (outcome.kind === 'interrupted') abortOperation(asked, { by: 'ana' });
          return outcome;
        },
      }),
    );
    return { did, ending };
  }

  it('performs its steps with passes between them, and begins no other run', async () => {
    const { did, ending } = await backUp(work('a'), [], [seeing(work('b')), seeing(work('beginBackup'))]);
    expect(did).toEqual(['a', 'pass', 'b', 'pass']);
    expect(ending).toEqual({ operation: 'takeBackup', outcome: 'ended', startedAt: 'then' });
  });

  it('is aborted in the middle of a step', async () => {
    const { did, ending } = await backUp(work('a'), [{ kind: 'interrupted', message: '' }], []);
    expect(did).toEqual(['a']);
    expect(ending).toMatchObject({ outcome: 'aborted', by: { by: 'ana' } });
  });

  it('fails with its step, and is over with one that is all of it', async () => {
    const failed = await backUp(work('a'), [{ kind: 'failed', message: 'no' }], []);
    expect(failed.ending).toMatchObject({ outcome: 'failed', message: 'no' });
    expect((await backUp(work('prune', 'pruneBackups'), [], [])).did).toEqual(['prune']);
  });
});
