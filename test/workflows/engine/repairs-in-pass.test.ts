/** When the workflow of a cluster lets a pass repair by itself, and how it counts what the pass has repaired. */
import { describe, expect, it } from 'vitest';
import type { Actor, Assessment } from '../../../src/activities/index.ts';
import { type Entity, newEntity } from '../../../src/workflows/engine/entity.ts';
import { entityReducer } from '../../../src/workflows/engine/entity-reducer.ts';
import { NOTHING_ASKED } from '../../../src/workflows/cluster/people.ts';
import { type ClusterKind, clusterRules } from '../../../src/workflows/cluster/rules.ts';

const START = 1_000_000;
const REST: Assessment = {
  decision: { kind: 'idle', nextLookSeconds: 600 },
  generation: 1,
  summary: undefined,
};
const step = { kind: 'applyObjects', objects: [{ object: 'clientService', because: 'ports' }] } as const;
const timing = { startToCloseSeconds: 1, scheduleToCloseSeconds: 1, heartbeatSeconds: 1 };
const AGAIN = {
  ...REST,
  decision: { kind: 'operate', operation: 'repairCluster', step, timing, plan: [] },
} as const satisfies Assessment;

class World {
  entity: Entity<ClusterKind> = newEntity<ClusterKind>({ people: NOTHING_ASKED });
  now = START;
  readonly started: number[] = [];
  #actor: Actor | undefined;

  take(event: Parameters<ReturnType<typeof entityReducer<ClusterKind>>>[1]): void {
    const facts = {
      now: this.now,
      history: 'short',
      handlersFinished: true,
      mayPause: () => true,
      mayPace: () => true,
      mayFollow: () => true,
      mayHandBack: () => true,
    } as const;
    const [entity, effects] = entityReducer(clusterRules)(this.entity, event, facts);
    this.entity = entity;
    for (const effect of effects) {
      if (effect.kind === 'look') this.#actor = effect.actor;
      if (effect.kind === 'start') this.started.push(this.now);
    }
  }

  /** Something changed: what the pass that follows may do, which takes so long and answers this. */
  pass(assessment: Assessment, lasts = 100): Actor['mayRepair'] {
    this.take({ kind: this.entity.passes === 0 && !this.entity.isLooking ? 'begin' : 'changed' });
    if (!this.entity.isLooking) this.take({ kind: 'turn' });
    const mayRepair = this.#actor?.mayRepair;
    this.now += lasts;
    this.take({ kind: 'looked', assessment });
    return mayRepair;
  }
}

describe('a pass of a cluster', () => {
  it('may repair by itself while nothing is under way', () => {
    const world = new World();
    expect(world.pass(REST)).toBe('all');
    expect(world.pass(REST)).toBe('all');
  });

  it('may not while an operation is under way, and none is made meanwhile', () => {
    expect(clusterRules.actor(NOTHING_ASKED, 'nothing')).toEqual({});
    const following = newEntity<ClusterKind>({
      people: NOTHING_ASKED,
      running: { operation: 'repairCluster', generation: 1 },
    });
    const next = new World();
    next.entity = following;
    next.take({ kind: 'begin' });
    next.take({ kind: 'changed' });
    next.take({ kind: 'turn' });
    expect(next.entity.isLooking).toBe(false);
  });

  it('may put the same back three times, and then waits as an operation would', () => {
    const world = new World();
    const repaired = { ...REST, repaired: step };
    expect([1, 2, 3, 4].map(() => world.pass(repaired))).toEqual(['all', 'all', 'all', 'missing']);
    expect(world.pass(AGAIN)).toBe('missing');
    expect(world.started).toEqual([]);
    expect(world.entity.phase).toBe('resting');
    expect(world.entity.wakeAt).toBeGreaterThan(world.now);
    world.now = world.entity.wakeAt ?? 0;
    expect(world.pass(repaired)).toBe('all');
  });

  it('may create what is missing as often as it is', () => {
    const world = new World();
    const created = { ...REST, repaired: { kind: 'ensureObjects', objects: ['clientService'] } } as const;
    expect([1, 2, 3, 4, 5].map(() => world.pass(created))).toEqual(Array(5).fill('all'));
  });

  it('waits in proportion after one that took long', () => {
    const world = new World();
    world.pass({ ...REST, repaired: step }, 3_000);
    expect(world.pass(REST)).toBe('missing');
    world.now += 60_000;
    expect(world.pass(REST)).toBe('all');
  });

  it('leaves to an operation what had to be done again at once', () => {
    const world = new World();
    world.pass({ ...AGAIN, repaired: step });
    expect(world.started).toHaveLength(1);
    expect(world.entity.repeats).toMatchObject({ times: 2, undone: 1 });
    world.take({ kind: 'started' });
    world.take({ kind: 'ended', ending: { operation: 'repairCluster', outcome: 'ended' } });
    // The pass that follows the operation.
    world.take({ kind: 'looked', assessment: REST });
    expect(world.pass(REST)).toBe('all');
  });

  it('leaves the fifth to an operation when each took long and had to be done again at once, and waits before each', () => {
    const world = new World();
    const undone = { ...AGAIN, repaired: step };
    for (let times = 1; times <= 4; times += 1) {
      expect(world.pass(undone, 3_000)).toBe('all');
      expect(world.entity.repeats).toMatchObject({ undone: times });
      expect(world.started).toEqual([]);
      expect(world.entity.wakeAt).toBeGreaterThan(world.now);
      world.now = world.entity.wakeAt ?? 0;
    }
    expect(world.pass(AGAIN, 3_000)).toBe('missing');
    expect(world.started).toHaveLength(1);
  });

  it('leaves what has failed to an operation, whose success ends the back-off', () => {
    const world = new World();
    world.pass(AGAIN);
    expect(world.started).toHaveLength(1);
    world.take({ kind: 'started' });
    const failed = {
      operation: 'repairCluster',
      outcome: 'failed',
      step: 'ensureObjects',
      message: 'no',
    } as const;
    world.take({ kind: 'ended', ending: failed });
    expect(world.entity.failures).toBe(1);
    world.take({ kind: 'looked', assessment: REST });
    world.now += 200_000;
    expect(world.pass(AGAIN)).toBeUndefined();
    world.take({ kind: 'started' });
    world.take({ kind: 'ended', ending: { operation: 'repairCluster', outcome: 'ended' } });
    world.take({ kind: 'looked', assessment: REST });
    expect(world.entity.failures).toBe(0);
    expect(world.pass(REST)).toBe('all');
  });

  it('may repair by itself again two minutes later', () => {
    const world = new World();
    const repaired = { ...REST, repaired: step };
    for (let times = 0; times < 4; times += 1) world.pass(repaired);
    world.now += 120_000;
    expect(world.pass(repaired)).toBe('all');
  });
});
