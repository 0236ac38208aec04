import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Chaos } from './chaos.ts';
import { MUTATIONS } from './mutations.ts';
import { downgradeScenarios } from './scenarios-of-downgrades.ts';
import { upgradeScenarios } from './scenarios-of-upgrades.ts';
import { play } from './scenarios.ts';
import { simulate } from './simulate.ts';

/** Seeds that once failed, and what they showed. `most`: ticks, a little more than it took. */
const KEPT = [
  { seed: 3011, most: 5_000, showed: 'a learner that was cut off from the only voter was promoted' },
  {
    seed: 3013,
    most: 5_000,
    showed: 'a claim without labels was taken for none when a lost status was rebuilt',
  },
  {
    seed: 1047,
    most: 3_000,
    showed: 'the name of a removed member was given again after its status was wiped',
  },
  {
    seed: 1_000_055,
    most: 12_000,
    showed: 'a cluster id that only a quorum reported was forgotten with the status that was lost again',
  },
  { seed: 7_026, most: 3_000, showed: 'a learner whose node was gone with its volume was waited for' },
] as const;

describe('simulated worlds', () => {
  it.each(KEPT)('seed $seed holds: $showed', async ({ seed, most }) => {
    expect((await simulate(seed, { most })).failure).toBeUndefined();
  });

  it('hold for a random seed', async () => {
    const seed = randomInt(1_000_000);
    const { failure } = await simulate(seed, { most: 1_500 });
    expect(failure, `replay: npm run simulate -- --seed ${seed} --steps 1`).toBeUndefined();
  });

  it('are the same for the same seed', async () => {
    const [one, other] = [await simulate(7, { most: 300 }), await simulate(7, { most: 300 })];
    expect(one.story).toEqual(other.story);
    expect(one.story.length).toBeGreaterThan(10);
  });
});

/** Those that show a guard are played beside it (mutations.long.test.ts). */
const ABOUT_VERSIONS = { ...upgradeScenarios, ...downgradeScenarios };
const UNGUARDED = (Object.keys(ABOUT_VERSIONS) as (keyof typeof ABOUT_VERSIONS)[]).filter(name =>
  MUTATIONS.every(({ scenario }) => scenario !== name),
);

describe('scenarios of upgrades', () => {
  it.each(UNGUARDED)('%s', { timeout: 60_000 }, async name => {
    expect(await play(name, 1)).toBeUndefined();
  });
});

describe('faults', () => {
  it('happen at the same time and with the same chance when others are left out', () => {
    const of = (only: ReadonlySet<number> | undefined) => {
      const chaos = new Chaos(5, only);
      return Array.from({ length: 2_000 }, (_, tick) => {
        const fault = chaos.tick();
        return fault === undefined ? [] : [[tick, fault.ordinal, fault.name, fault.random.next()]];
      }).flat();
    };
    const all = of(undefined);
    expect(of(new Set([3, 9]))).toEqual(all.filter(([, ordinal]) => ordinal === 3 || ordinal === 9));
  });
});
