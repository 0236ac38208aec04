import { describe, expect, it } from 'vitest';
import { RefusedNamespaces } from '../../../src/activities/backup/refused-namespaces.ts';

const MINUTE = 60_000;

describe('a namespace that refuses is passed over', () => {
  /** What is said of one that is refused at each of these times, in minutes. */
  function saidOf(...minutes: readonly number[]): readonly boolean[] {
    let now = 0;
    const namespaces = new RefusedNamespaces(() => now);
    return minutes.map(minute => {
      now = minute * MINUTE;
      return namespaces.refused('closed');
    });
  }

  it('from the sixth ask on, ten minutes after the first at the soonest', () => {
    expect(saidOf(0, 2, 4, 6, 8, 10, 10.1, 60)).toEqual([
      false,
      false,
      false,
      false,
      false,
      true,
      true,
      true,
    ]);
  });

  it('not sooner by asking more often', () => {
    const everySecond = saidOf(...Array.from({ length: 599 }, (_, second) => second / 60));
    expect(everySecond).not.toContain(true);
  });

  it('not because two moments lie far apart', () => {
    expect(saidOf(0, 0.1, 0.2, 60, 60.1, 60.2)).not.toContain(true);
  });

  it('no more once it has answered, and each for itself', () => {
    let now = 0;
    const namespaces = new RefusedNamespaces(() => now);
    const refuse = (namespace: string, times: number) => {
      let said = false;
      for (let time = 0; time < times; time += 1) {
        said = namespaces.refused(namespace);
        now += 2 * MINUTE;
      }
      return said;
    };
    expect(refuse('one', 6)).toBe(true);
    expect(refuse('two', 5)).toBe(false);
    namespaces.answered('one');
    expect(refuse('one', 5)).toBe(false);
    expect(refuse('two', 1)).toBe(true);
  });
});
