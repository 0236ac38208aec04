import { describe, expect, it } from 'vitest';
import { BackupTurns, secondsToWait } from '../../../src/activities/backup/turns.ts';
import type { Limiter } from '../../../src/kube/limiter.ts';

const taken = (turns: Limiter, store: string): number =>
  Array.from({ length: 100 }, () => turns.tryTake(store)).filter(release => release !== undefined).length;

describe('the turns at a node', () => {
  it('give one store half of them, and leave one for the next however many hang', () => {
    const node = new BackupTurns({ slots: 20, perStore: 8, perNode: 8 }).at('one');
    expect([taken(node, 's3://hangs'), taken(node, 's3://hangs-too')]).toEqual([4, 2]);
    expect(node.tryTake('s3://works')).toBeDefined();
  });

  it('do not count what is read from another node', () => {
    const turns = new BackupTurns({ slots: 20, perStore: 8, perNode: 1 });
    expect([taken(turns.at('one'), 's3://backups'), taken(turns.at('two'), 's3://backups')]).toEqual([1, 1]);
  });

  it('are kept while a snapshot has one, and forgotten after that', () => {
    const turns = new BackupTurns({ slots: 20, perStore: 8, perNode: 8 });
    const used = turns.at('used');
    used.join('s3://backups');
    const idle = turns.at('idle');
    idle.join('s3://backups')();
    turns.at('new');
    expect(turns.at('used')).toBe(used);
    expect(turns.at('idle')).not.toBe(idle);
  });
});

it('a thousand backups of one store all get their turn, and come again seldom', () => {
  const { stores } = new BackupTurns({ slots: 20, perStore: 8, perNode: 8 });
  let seed = 1;
  const chance = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const at = new Map<number, (() => void)[]>();
  const later = (second: number, run: () => void): unknown =>
    at.set(second, [...(at.get(second) ?? []), run]);
  let [second, done, asked] = [0, 0, 0];
  const attempt = (): void => {
    asked += 1;
    const release = stores.tryTake('one');
    if (release === undefined) later(second + secondsToWait(second, chance()), attempt);
    else later(second + 5, () => void [release(), (done += 1)]);
  };
  for (let index = 0; index < 1_000; index += 1) attempt();
  for (; done < 1_000 && second < 20_000; second += 1) for (const run of at.get(second) ?? []) run();
  expect(done).toBe(1_000);
  // Eight at a time of five seconds each; a place may be free until the next one comes again.
  expect(second).toBeLessThan((2 * 5 * 1_000) / 8);
  expect(asked / second).toBeLessThan(40);
});

it('copies use half of the slots at most, and one always', () => {
  const { copies } = new BackupTurns({ slots: 6, perStore: 8, perNode: 8 });
  const held = ['a', 'b', 'c', 'd', 'e'].map(store => copies.tryTake(store)).filter(Boolean);
  expect(held).toHaveLength(3);
  expect(new BackupTurns({ slots: 1, perStore: 8, perNode: 8 }).copies.tryTake('a')).toBeDefined();
});
