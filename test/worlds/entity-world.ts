/** The least that an entity can be, and a world that answers it in any order. Throws when it does what none may do. */
import assert from 'node:assert/strict';
import {
  type Entity,
  type EntityEffect,
  type EntityEvent,
  type Kind,
  newEntity,
  type Rules,
} from '../../src/workflows/engine/entity.ts';
import { isDue } from '../../src/workflows/engine/due.ts';
import { entityReducer } from '../../src/workflows/engine/entity-reducer.ts';
import type { Facts } from '../../src/workflows/engine/machine.ts';

export interface Plain extends Kind {
  readonly People: { readonly said: number; readonly failedUntil: number };
  readonly Actor: { readonly said: number };
  readonly Assessment: 'gone' | 'rest' | 'operate';
  readonly Decision: 'operate';
  readonly Running: 'operation';
  readonly Ending: 'done' | 'undone' | 'failed';
  readonly Message: 'said';
  readonly Signal: { readonly said: number };
}

export const BACK_OFF = { firstMs: 1_000, maxMs: 60_000 };

/** The least that a kind can be. */
export function plain(
  options: Partial<Pick<Rules<Plain>, 'looksWhileOperating' | 'checksBy' | 'slot' | 'repeats' | 'undone'>>,
): Rules<Plain> {
  return {
    backoff: BACK_OFF,
    slot: 'child',
    checksBy: 'signal',
    ...options,
    actor: ({ said }) => ({ said }),
    onPass: ({ people }) => ({ people }),
    next: ({ assessment }, now) =>
      assessment === 'operate'
        ? { kind: 'operate', decision: 'operate', running: 'operation' }
        : assessment === 'gone'
          ? { kind: 'gone' }
          : { kind: 'rest', until: now + 30_000 },
    isHeldBack: () => true,
    control: ({ said }) => ({ said }),
    onMessage: ({ people, running }) => {
      const next = { ...people, said: people.said + 1 };
      return { people: next, dirty: true, signal: running && { said: next.said } };
    },
    isFailure: ending => ending === 'failed',
    onEnded: ({ people }, ending, retryAt) =>
      ending === 'failed' ? { ...people, failedUntil: retryAt } : people,
  };
}

/** Temporal and the world, as far as an entity sees them: what it asked for and was not answered yet. */
export class EntityWorld {
  readonly rules: Rules<Plain>;
  entity: Entity<Plain> = newEntity<Plain>({ people: { said: 0, failedUntil: 0 } });
  now = 1_000_000;
  history: Facts['history'] = 'short';
  handlersFinished = true;
  looks = 0;
  performs = 0;
  tells = 0;
  starting = false;
  /** An operation is in the slot, of this run or of a former one. */
  inSlot = false;
  own = false;
  /** A change came, and no look began since. */
  owed = true;
  runs = 1;
  started = 0;
  lastFailureAt: number | undefined;
  ended = false;

  constructor(rules: Rules<Plain>) {
    this.rules = rules;
    this.take({ kind: 'begin' });
  }

  get facts(): Facts {
    return {
      now: this.now,
      history: this.history,
      handlersFinished: this.handlersFinished,
      mayPause: () => true,
      mayFollow: () => true,
      mayPace: () => true,
      mayHandBack: () => true,
    };
  }

  take(event: EntityEvent<Plain>): void {
    if (this.ended) return;
    if (event.kind === 'changed' || event.kind === 'message') this.owed = true;
    const before = this.entity;
    const [entity, effects] = entityReducer(this.rules)(before, event, this.facts);
    assert.deepEqual(entityReducer(this.rules)(before, event, this.facts), [entity, effects]);
    this.entity = entity;
    for (const effect of effects) this.#execute(effect);
    assert.equal(this.entity.isLooking, this.looks > 0);
    assert.equal(this.entity.pendingSignals, this.tells);
  }

  /** Everything that is due at this moment is done, as a driver does it. */
  settle(): void {
    for (let turn = 0; isDue(this.rules, this.entity, this.facts) && !this.ended; turn += 1) {
      assert.ok(turn < 5, 'it comes to rest');
      this.take({ kind: 'turn' });
    }
  }

  #execute(effect: EntityEffect<Plain>): void {
    switch (effect.kind) {
      case 'look':
        assert.equal(this.looks, 0, 'one look at a time');
        this.looks += 1;
        this.owed = false;
        return;
      case 'start':
        assert.ok(!this.starting && !this.own, 'one operation at a time');
        this.#doesNotHurry();
        this.starting = true;
        return;
      case 'perform':
        assert.equal(this.performs, 0, 'one step at a time');
        this.#doesNotHurry();
        this.performs += 1;
        return;
      case 'signal':
        this.tells += 1;
        return;
      case 'continueAsNew':
        return this.#nextRun(effect);
      case 'end':
        assert.deepEqual([this.looks, this.tells, this.handlersFinished], [0, 0, true]);
        this.ended = true;
        return;
      case 'show':
    }
  }

  /** What failed is not tried again before its time, unless something changed. */
  #doesNotHurry(): void {
    this.started += 1;
    const { retryAt } = this.entity;
    assert.ok(retryAt === undefined || this.now >= retryAt, 'not before its time');
  }

  #nextRun({ carried }: Extract<EntityEffect<Plain>, { kind: 'continueAsNew' }>): void {
    assert.ok(this.handlersFinished, 'every message was answered');
    const inFlight = [this.looks, this.performs, this.tells, Number(this.starting)];
    assert.deepEqual(inFlight, [0, 0, 0, 0], 'nothing is in flight');
    assert.deepEqual(carried.people, this.entity.people, 'what was said is carried over');
    this.entity = newEntity<Plain>(structuredClone(carried));
    this.history = 'short';
    this.runs += 1;
    // The next run follows it: only its messages and the slot tell of it.
    this.own = false;
    this.take({ kind: 'begin' });
  }

  readonly moves: Readonly<Record<string, (n: number) => void>> = {
    change: () => this.take({ kind: 'changed' }),
    say: () => this.take({ kind: 'message', message: 'said' }),
    cancel: () => this.take({ kind: 'cancelled' }),
    wait: n => {
      this.now += n * 997;
      const { wakeAt } = this.entity;
      if (wakeAt !== undefined && wakeAt <= this.now) this.take({ kind: 'timer' });
    },
    lateTimer: () => this.take({ kind: 'timer' }),
    grow: n => (this.history = (['short', 'long', 'veryLong'] as const)[n % 3] ?? 'short'),
    hang: n => (this.handlersFinished = n % 2 === 0),
    answerLook: n => {
      if (this.looks === 0) return;
      this.looks -= 1;
      const assessment = (['rest', 'operate', 'operate', 'rest', 'gone'] as const)[n % 5] ?? 'rest';
      this.take({ kind: 'looked', assessment });
    },
    answerStart: () => {
      if (!this.starting) return;
      this.starting = false;
      const isTaken = this.inSlot;
      this.inSlot = true;
      this.own = !isTaken;
      this.take({ kind: isTaken ? 'slotTaken' : 'started' });
    },
    deliver: () => {
      if (this.tells === 0) return;
      this.tells -= 1;
      this.take({ kind: 'signalled', delivered: this.inSlot });
    },
    report: () => {
      if (this.inSlot) this.take({ kind: 'reported', assessment: 'operate' });
    },
    endOperation: n => {
      const ending = (['failed', 'done', 'undone'] as const)[n % 3] ?? 'done';
      if (this.performs > 0) {
        this.performs -= 1;
        this.take({ kind: 'ended', ending });
      } else if (this.inSlot) {
        this.inSlot = false;
        // It tells; whoever awaits it also has its result.
        const assessment = ending === 'undone' ? 'operate' : undefined;
        if (n % 7 !== 0) this.take({ kind: 'reported', ending, assessment });
        if (!this.own) return;
        this.own = false;
        this.take({ kind: 'ended', ending, assessment });
      }
    },
  };
}
