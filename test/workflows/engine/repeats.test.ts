import { describe, expect, it } from 'vitest';
import {
  type Carried,
  type Entity,
  type EntityEvent,
  newEntity,
} from '../../../src/workflows/engine/entity.ts';
import { entityReducer } from '../../../src/workflows/engine/entity-reducer.ts';
import { pacedUntil } from '../../../src/workflows/engine/repeats.ts';
import { NOTHING_ASKED } from '../../../src/workflows/cluster/people.ts';
import { clusterRules } from '../../../src/workflows/cluster/rules.ts';
import { type Plain, plain } from '../../worlds/entity-world.ts';

const START = 1_000_000;

/** An entity whose every pass finds that its work was undone. Answers when each operation was begun, in seconds. */
function undone({
  seconds,
  lasts = 1,
  ending = 'done',
  mayPause = true,
  mayPace = true,
  of = () => 'applyObjects',
  sees,
  isDisturbed = false,
}: {
  readonly seconds: number;
  /** How long an operation takes, in seconds. */
  readonly lasts?: number;
  readonly ending?: Plain['Ending'];
  readonly mayPause?: boolean;
  readonly mayPace?: boolean;
  /** What is mended, by when, in seconds. */
  readonly of?: (second: number) => string;
  /** What the operation saw at its end. */
  readonly sees?: Plain['Assessment'];
  /** Something changes while an operation is under way. */
  readonly isDisturbed?: boolean;
}) {
  const reduce = entityReducer(
    plain({
      repeats: () => of((now - START) / 1_000),
      undone: handed => (handed === 'undone' ? 'failed' : undefined),
    }),
  );
  const failed: number[] = [];
  const begun: number[] = [];
  let looks = 0;
  let entity: Entity<Plain> = newEntity<Plain>({ people: { said: 0, failedUntil: 0 } });
  let now = START;
  let asked = 0;
  let carried: Carried<Plain> | undefined;
  let history: 'short' | 'long' = 'short';
  const take = (event: EntityEvent<Plain>): void => {
    const facts = {
      now,
      history,
      handlersFinished: true,
      mayPause: () => (asked++, mayPause),
      mayFollow: () => true,
      mayPace: () => (asked++, mayPace),
      mayHandBack: () => true,
    };
    const [next, effects] = reduce(entity, event, facts);
    entity = next;
    for (const { kind } of effects) {
      if (kind === 'start') begun.push((now - START) / 1_000);
      if (kind === 'look') looks += 1;
    }
    const last = effects.find(effect => effect.kind === 'continueAsNew');
    if (last !== undefined) carried = last.carried;
  };
  take({ kind: 'begin' });
  for (; now < START + seconds * 1_000; now += 1_000) {
    if (entity.phase === 'operating' && now >= START + ((begun.at(-1) ?? 0) + lasts) * 1_000) {
      const { failures } = entity;
      if (isDisturbed) take({ kind: 'changed' });
      take({ kind: 'ended', ending, assessment: sees });
      if (entity.failures > failures) failed.push((now - START) / 1_000);
    }
    if (entity.phase === 'resting' && now >= (entity.wakeAt ?? Number.POSITIVE_INFINITY)) {
      take({ kind: 'timer' });
      take({ kind: 'turn' });
    }
    if (entity.phase === 'looking') take({ kind: 'looked', assessment: 'operate' });
    if (entity.phase === 'starting') take({ kind: 'started' });
  }
  return {
    begun,
    failed,
    looks: () => looks,
    asked: () => asked,
    /** Ends the run, and goes on with the next. */
    nextRun: () => {
      history = 'long';
      take({ kind: 'changed' });
      take({ kind: 'turn' });
      if (carried === undefined) throw new Error('it did not continue as new');
      entity = newEntity<Plain>(structuredClone(carried));
      history = 'short';
      take({ kind: 'begin' });
      take({ kind: 'looked', assessment: 'operate' });
      return entity;
    },
    say: () => {
      take({ kind: 'message', message: 'said' });
      take({ kind: 'turn' });
      take({ kind: 'looked', assessment: 'operate' });
      return entity;
    },
  };
}

describe('what of a cluster is undone again and again', () => {
  const repeats = (kind: string, generation: number) =>
    clusterRules.repeats?.({ step: { kind } } as never, { generation } as never);

  it('is what is mended of shared objects, for one specification', () => {
    expect(repeats('applyObjects', 3)).toBeDefined();
    expect(repeats('applyObjects', 3)).toBe(repeats('applyObjects', 3));
    expect(repeats('applyObjects', 4)).not.toBe(repeats('applyObjects', 3));
  });

  it('is nothing else', () => {
    expect(repeats('restartMember', 3)).toBeUndefined();
    expect(repeats('ensureObjects', 3)).toBeUndefined();
  });
});

describe('what is undone again and again', () => {
  it('is mended at once three times, and then ever more seldom, up to each thirty seconds', () => {
    const { begun } = undone({ seconds: 200 });
    expect(begun.slice(0, 3)).toEqual([0, 1, 2]);
    const waits = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
    expect(waits.slice(2, 8)).toEqual([2, 4, 8, 16, 30, 30]);
  });

  it('is begun anew at once when something else is to be mended', () => {
    const { begun } = undone({ seconds: 70, of: second => (second < 60 ? 'first' : 'second') });
    const [first = 0, ...further] = begun.filter(at => at >= 60);
    expect(further.slice(0, 2)).toEqual([first + 1, first + 2]);
  });

  it('is mended at once in a run that an earlier release has begun', () => {
    const { begun } = undone({ seconds: 20, mayPause: false });
    expect(begun).toHaveLength(20);
  });

  it('is asked of the history only where a pause is due', () => {
    expect(undone({ seconds: 3 }).asked()).toBe(0);
  });

  it('waits in proportion to how long it took, whatever is to be mended', () => {
    const of = (second: number) => `of ${second}`;
    const waits = (lasts: number) => {
      const { begun } = undone({ seconds: 300, lasts, of });
      return begun.slice(1, 4).map((at, index) => at - (begun[index] ?? 0) - lasts);
    };
    expect(waits(1)).toEqual([0, 0, 0]);
    expect(waits(2)).toEqual([20, 20, 20]);
    expect(waits(9)).toEqual([60, 60, 60]);
  });

  it('waits for half of that at least, each another time, so that what began together goes on one after the other', () => {
    const waits = (at: number) => (pacedUntil({ of: '', times: 1, at, tookMs: 5_000 }, at) ?? 0) - at - 5_000;
    expect([0, 1, 250, 500, 999].map(waits)).toEqual([60_000, 59_970, 52_500, 45_000, 30_030]);
  });

  it('is not looked at once more when the operation saw at its end that it is to be done again', () => {
    const of = { seconds: 60, lasts: 2, ending: 'undone' } as const;
    const { looks, begun } = undone({ ...of, sees: 'operate' });
    expect(begun.length).toBeGreaterThan(1);
    expect(looks()).toBe(begun.length);
    expect(undone({ ...of, sees: 'operate', isDisturbed: true }).looks()).toBeGreaterThan(looks());
    expect(undone(of).looks()).toBeGreaterThan(looks());
    // As a run of an earlier release has recorded it.
    const earlier = undone({ ...of, sees: 'operate', mayPace: false });
    expect(earlier.looks()).toBeGreaterThan(earlier.begun.length);
  });

  it('is looked at when a person has aborted it meanwhile', () => {
    const by = { kind: 'abort', request: { by: 'ana' } } as never;
    const running = { operation: 'repairCluster', generation: 1 } as never;
    const view = { people: NOTHING_ASKED, running, assessment: undefined };
    expect(clusterRules.onMessage(view, by, START)).toMatchObject({ dirty: true });
    expect(clusterRules.onCancel?.(view)).toMatchObject({ dirty: true });
  });

  it('does not wait so in a run that an earlier release has begun', () => {
    const of = (second: number) => `of ${second}`;
    expect(undone({ seconds: 20, lasts: 2, of, mayPace: false }).begun).toHaveLength(10);
  });

  it('has failed when it had to be done again at once five times in a row, and is counted anew then', () => {
    const { failed, begun } = undone({ seconds: 400, lasts: 2, ending: 'undone' });
    expect(failed[0]).toBe((begun[4] ?? 0) + 2);
    expect(failed[1]).toBe((begun[9] ?? 0) + 2);
    expect(undone({ seconds: 400, lasts: 2 }).failed).toEqual([]);
  });

  it('waits also in the next run of the workflow', () => {
    const world = undone({ seconds: 60 });
    const before = world.begun.length;
    expect(world.nextRun().phase).toBe('resting');
    expect(world.begun).toHaveLength(before);
  });

  it('is looked at all the same when somebody says something', () => {
    const world = undone({ seconds: 60 });
    const before = world.begun.length;
    const { phase, wakeAt } = world.say();
    expect(phase).toBe('resting');
    expect(wakeAt).toBeDefined();
    expect(world.begun).toHaveLength(before);
  });
});
