/** The catalogue of steps: what holds for every row. */
import { expect, it } from 'vitest';
import { STEPS, type StepKind } from '../../../src/planner/model/step-catalogue.ts';

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
  expect(slow.toSorted()).toEqual(['compareKeys', 'defragmentMember', 'fillVolume']);
  expect(slow.every(kind => STEPS[kind].timing.isTransfer)).toBe(true);
});
