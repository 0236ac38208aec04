import { describe, expect, it } from 'vitest';
import { judgeObservations } from './observations.ts';

/** Others are looked for with `npm run simulate -- --observations`. */
const SEEDS = [1, 879_122_789];

describe('the planner', () => {
  it.each(SEEDS)('does nothing that the oracle forbids, whatever it sees: seed %d', seed => {
    const { failure } = judgeObservations(4_000, seed);
    expect(failure?.text, `replay: npm run simulate -- --observations 4000 --seed ${seed}`).toBeUndefined();
  });
});
