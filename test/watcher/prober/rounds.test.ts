import { expect, test } from 'vitest';
import { Rounds, type Turn } from '../../../src/watcher/prober/rounds.ts';
import { defaultTimings } from '../../../src/watcher/options.ts';

interface Member extends Turn {
  readonly number: number;
  /** When it was asked. */
  readonly times: number[];
  /** Never answers. */
  hangs: boolean;
}

/** So many members in virtual time; each answers before the next tick, but for those that hang. */
class Fleet {
  readonly members: Member[] = [];
  readonly rounds = new Rounds<Member>(defaultTimings);
  now = 0;
  /** The most asks that were begun in one tick. */
  burst = 0;
  asks = 0;

  constructor(size: number) {
    for (let number = 0; number < size; number += 1) this.add(number);
  }

  add(number: number): void {
    const member = { number, times: [], hangs: false, askedAt: Number.NEGATIVE_INFINITY, isAsked: false };
    this.members.push(member);
    this.rounds.add(member, this.now);
  }

  run(milliseconds: number, onAsk: (member: Member) => void = () => {}): void {
    const end = this.now + milliseconds;
    for (;;) {
      const wait = this.rounds.waitMs(this.now);
      if (wait === undefined || this.now + wait > end) break;
      this.now += wait;
      const taken = this.rounds.take(this.now);
      this.burst = Math.max(this.burst, taken.length);
      this.asks += taken.length;
      for (const member of taken) {
        member.times.push(this.now);
        member.isAsked = member.hangs;
        onAsk(member);
      }
    }
    this.now = end;
  }

  /** The longest time between two asks of a member that answers, from a moment on; with the time until now. */
  longestGap(since: number, of = this.members): number {
    const gaps = of
      .filter(({ hangs }) => !hangs)
      .map(({ times }) => {
        const counted = [...times.filter(time => time >= since), this.now];
        return Math.max(...counted.map((time, at) => time - (counted[at - 1] ?? since)));
      });
    return Math.max(...gaps);
  }
}

test.each([
  { size: 1, round: 1_000 },
  { size: 200, round: 1_000 },
  { size: 1_000, round: 2_300 },
  { size: 30_000, round: 12_300 },
])('each of $size members is asked once a round of $round ms, at an even pace', ({ size, round }) => {
  const fleet = new Fleet(size);
  fleet.run(2 * round + 1_000);
  const from = fleet.now;
  fleet.asks = 0;
  fleet.burst = 0;
  fleet.run(5 * round);
  expect(fleet.longestGap(from)).toBeLessThanOrEqual(round * 1.02 + 40);
  expect(fleet.asks).toBeLessThanOrEqual(size * 5.3 + 1);
  // What is due in 20 ms, with the little that a tick may be late.
  expect(fleet.burst).toBeLessThanOrEqual(Math.ceil((size * 50) / round));
});

test('after a start every member has been asked in half a round', () => {
  const fleet = new Fleet(3_000);
  fleet.run(2_100);
  expect(fleet.members.filter(({ times }) => times.length === 0).length).toBe(0);
});

test('members that hang hold only their own places', () => {
  const fleet = new Fleet(3_000);
  fleet.run(10_000);
  for (const member of fleet.members) member.hangs = member.number % 3 === 0;
  const from = fleet.now;
  fleet.run(40_000);
  expect(fleet.longestGap(from)).toBeLessThanOrEqual(4_000);
  expect(fleet.members.filter(({ hangs, times }) => hangs && times.at(-1) === undefined)).toEqual([]);
});

test('however many are to be asked again, and however many come and go, the others keep their pace', () => {
  const fleet = new Fleet(3_000);
  fleet.run(10_000);
  const from = fleet.now;
  fleet.asks = 0;
  const stays = fleet.members.filter(({ number }) => number % 3 !== 0);
  let next = 3_000;
  // A third never ceases to be in doubt; each second a hundred of the last third are replaced.
  for (let second = 0; second < 20; second += 1) {
    fleet.run(1_000, member => {
      if (member.number % 3 === 1) fleet.rounds.askAgain(member, fleet.now);
    });
    for (const member of fleet.members
      .filter(({ number }) => number % 3 === 0)
      .slice(second * 50, second * 50 + 50)) {
      fleet.rounds.delete(member);
      member.hangs = true;
    }
    for (let added = 0; added < 50; added += 1) fleet.add((next += 3));
  }
  expect(fleet.longestGap(from, stays)).toBeLessThanOrEqual(5_000);
  // Nobody is asked twice for one doubt, and all the doubts cost no more than the rounds.
  expect(fleet.asks).toBeLessThanOrEqual((20_000 / 3_800) * 3_000 * 2.1);
});

test('a member in doubt is asked a second later, and one whose connection has ended at once', () => {
  const fleet = new Fleet(30_000);
  fleet.run(30_000);
  const [doubted, ended] = [fleet.members[0], fleet.members[1]];
  if (doubted === undefined || ended === undefined) throw new Error('there are 30,000');
  doubted.askedAt = fleet.now;
  fleet.rounds.askAgain(doubted, fleet.now);
  fleet.rounds.hasten(ended);
  const from = fleet.now;
  fleet.run(1_100);
  expect((ended.times.at(-1) ?? 0) - from).toBeLessThanOrEqual(40);
  expect((doubted.times.at(-1) ?? 0) - from).toBeGreaterThanOrEqual(1_000);
});

test('a process that stood still does not ask everybody at once when it goes on', () => {
  const fleet = new Fleet(3_000);
  fleet.run(10_000);
  fleet.burst = 0;
  fleet.now += 60_000;
  fleet.run(1_000);
  // A tenth of a second's worth.
  expect(fleet.burst).toBeLessThanOrEqual(100);
});

test('members that are gone are not asked, and without any there is nothing to wait for', () => {
  const fleet = new Fleet(3);
  fleet.run(5_000);
  for (const member of fleet.members) {
    fleet.rounds.hasten(member);
    fleet.rounds.askAgain(member, fleet.now);
    fleet.rounds.delete(member);
    fleet.rounds.hasten(member);
  }
  fleet.asks = 0;
  expect(fleet.rounds.waitMs(fleet.now)).toBeUndefined();
  expect(fleet.rounds.take(fleet.now + 5_000)).toEqual([]);
  fleet.add(4);
  fleet.run(5_000);
  expect(fleet.asks).toBeGreaterThanOrEqual(4);
});
