import { describe, expect, it } from 'vitest';
import { Turns } from '../../../src/activities/backup/turns.ts';

let clock = 0;
function turnsOf(slots: number, perStore: number): Turns {
  clock = 0;
  return new Turns({ slots, perStore, now: () => clock });
}

const MANY = 1_000;
const run = (begunAt: number) => ({ id: `run-${begunAt}`, begunAt });

describe('the turns at a store', () => {
  it('are so many; whoever comes then is told how many there are, and how many wait before it', () => {
    const turns = turnsOf(100, 2);
    expect(turns.take('one', run(1)).kind).toBe('turn');
    expect(turns.take('one', run(2)).kind).toBe('turn');
    expect(turns.take('one', run(3))).toMatchObject({ kind: 'wait', inUse: 2, before: 0 });
    expect(turns.take('one', run(4))).toMatchObject({ kind: 'wait', inUse: 2, before: 1 });
    expect(turns.take('other', run(5)).kind).toBe('turn');
  });

  it('leave a slot for the next store, however many hang', () => {
    const turns = turnsOf(20, 20);
    for (const store of ['one', 'two', 'three', 'four'])
      for (let index = 0; index < 20; index += 1) turns.take(store, run(index));
    expect(turns.take('five', run(1)).kind).toBe('turn');
  });

  it('work with a single slot', () => {
    const turns = turnsOf(1, 8);
    const first = turns.take('one', run(1));
    expect(turns.take('one', run(2)).kind).toBe('wait');
    if (first.kind === 'turn') first.end();
    expect(turns.take('one', run(2)).kind).toBe('turn');
  });

  it('come to those that waited the longest before those that come later', () => {
    const turns = turnsOf(100, 1);
    const first = turns.take('one', run(1));
    for (let begunAt = 2; begunAt < 10; begunAt += 1) turns.take('one', run(begunAt));
    if (first.kind === 'turn') first.end();
    expect(turns.take('one', run(20)).kind).toBe('wait');
    expect(turns.take('one', run(2)).kind).toBe('turn');
  });

  it('are not kept for one that comes no more', () => {
    const turns = turnsOf(100, 1);
    const first = turns.take('one', run(1));
    for (let begunAt = 2; begunAt < 10; begunAt += 1) turns.take('one', run(begunAt));
    if (first.kind === 'turn') first.end();
    clock += 400_000;
    expect(turns.take('one', run(20)).kind).toBe('turn');
  });

  it('are given back once, whatever happens to who had them', () => {
    const turns = turnsOf(100, 1);
    const first = turns.take('one', run(1));
    if (first.kind === 'turn') for (const end of [first.end, first.end]) end();
    expect(turns.take('one', run(2)).kind).toBe('turn');
    expect(turns.take('one', run(3)).kind).toBe('wait');
  });

  it('that are given back unused say nothing of how long others take', () => {
    const turns = turnsOf(100, 1);
    for (let index = 0; index < 50; index += 1) turns.join('one').giveBack();
    turns.join('one');
    expect(turns.take('one', run(1))).toMatchObject({ kind: 'wait', seconds: 5 });
  });

  it('are counted of those that go on with what they began, too', () => {
    const turns = turnsOf(100, 1);
    const going = turns.join('one');
    expect(turns.take('one', run(1)).kind).toBe('wait');
    going.end();
    expect(turns.take('one', run(1)).kind).toBe('turn');
  });
});

it('a thousand backups of one store come again so seldom that a replica hardly notices, and all get their turn', () => {
  const turns = turnsOf(20, 8);
  const due = new Map<number, number[]>();
  const at = (second: number) => due.get(second) ?? due.set(second, []).get(second) ?? [];
  const ends = new Map<number, (() => void)[]>();
  at(0).push(...Array.from({ length: MANY }, (_, index) => index));
  let done = 0;
  let asked = 0;
  let second = 0;
  for (; done < MANY && second < 20_000; second += 1) {
    clock = second * 1_000;
    for (const end of ends.get(second) ?? []) {
      end();
      done += 1;
    }
    for (const index of due.get(second) ?? []) {
      asked += 1;
      const answer = turns.take('one', run(index));
      if (answer.kind === 'wait') at(second + answer.seconds).push(index);
      else ends.set(second + 5, [...(ends.get(second + 5) ?? []), answer.end]);
    }
  }
  expect(done).toBe(MANY);
  // Eight at a time of five seconds each; a place may be free until the next one comes again.
  expect(second).toBeLessThan((2 * 5 * MANY) / 8);
  expect(asked / second).toBeLessThan(40);
});
