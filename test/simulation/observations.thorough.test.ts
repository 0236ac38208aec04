import { describe, expect, it } from 'vitest';
import { judgeObservations } from './observations.ts';

/** Faults that wait for their mends: whoever mends one takes it off. */
const AWAITED = [
  'nobody confirmed that',
  'not every member is known by its name',
  'retireMember: \\S+ is a member',
  'its volume is of another',
  'is to be kept',
  'nothing proves that its data is lost',
  // The report renders pods of a specification that cannot be rendered.
  'EtcdCluster shop/example: spec',
  'not a version',
  'of the cluster before is still there',
  'says that the cluster has lived',
];

/** Others are looked for with `npm run simulate -- --observations`. */
const SEEDS = [1, 879_122_789];

describe('the planner', () => {
  it.each(SEEDS)('does nothing that the oracle forbids, whatever it sees: seed %d', seed => {
    const about = new RegExp(`^(?!.*(?:${AWAITED.join('|')}))`);
    const { failure } = judgeObservations(4_000, seed, { about });
    expect(failure?.text, `replay: npm run simulate -- --observations 4000 --seed ${seed}`).toBeUndefined();
  });
});
