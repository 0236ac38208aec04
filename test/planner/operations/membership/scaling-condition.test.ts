import { describe, expect, it } from 'vitest';
import { scaleCluster } from '../../../../src/planner/operations/membership/index.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import { aCluster, aRunningCluster, aRunningStatus, OURS } from '../../../worlds/builders.ts';

/** Five members run, and so many are asked for. */
function running(size: number) {
  const minAvailable = size > 5 ? 5 : 4;
  return aRunningCluster(
    {
      cluster: aCluster({ spec: { size }, status: aRunningStatus(5) }),
      disruptionBudget: { ...OURS, minAvailable },
    },
    5,
  );
}

describe('the condition Scaling', () => {
  it.each([
    { size: 3, first: 'stopMember', reason: 'ScalingDown' },
    { size: 7, first: 'addLearner', reason: 'ScalingUp' },
  ])('says $reason from 5 to $size, also while $first is the next step', ({ size, first, reason }) => {
    const observation = running(size);
    const decision = plan(observation, {});
    if (decision.kind !== 'operate') throw new Error(`nothing is done: ${JSON.stringify(decision)}`);
    expect(decision.step.kind).toBe(first);
    expect(scaleCluster.conditions?.(situationOf(observation), decision)).toMatchObject([
      { type: 'Scaling', reason, message: `Current cluster size: 5, desired cluster size: ${size}` },
    ]);
  });
});
