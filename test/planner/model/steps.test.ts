/** The catalogue of steps: what holds for every row. */
import { expect, it } from 'vitest';
import { plan } from '../../../src/planner/plan.ts';
import { STEPS, type StepKind } from '../../../src/planner/model/step-catalogue.ts';
import { aCluster, aRunningCluster } from '../../worlds/builders.ts';

const KINDS = Object.keys(STEPS) as StepKind[];

it.each(KINDS)(
  '%s: a silent worker is noticed before an attempt ends, and an attempt before all of them',
  kind => {
    const { startToCloseSeconds, scheduleToCloseSeconds, heartbeatSeconds } = STEPS[kind].timing;
    expect(heartbeatSeconds).toBeGreaterThan(1);
    expect(startToCloseSeconds).toBeGreaterThan(heartbeatSeconds);
    expect(scheduleToCloseSeconds).toBeGreaterThan(startToCloseSeconds);
  },
);

it('users are notified within a minute of a step that keeps failing, unless it moves data', () => {
  const slow = KINDS.filter(kind => STEPS[kind].timing.scheduleToCloseSeconds > 60);
  expect(slow.toSorted()).toEqual(['compactHistory', 'compareKeys', 'defragmentMember', 'fillVolume']);
  expect(slow.every(kind => STEPS[kind].timing.isTransfer)).toBe(true);
});

it('a member that is still to be added is shown without an id', () => {
  const status = aRunningCluster().cluster.status;
  const decision = plan(aRunningCluster({ cluster: aCluster({ spec: { size: 5 }, status }) }), {});
  const summaries = 'plan' in decision ? decision.plan.map(({ summary }) => summary) : [];
  expect(summaries).toContain('wait until example-3 has caught up, then promote it');
});
