/** When a member counts as one that does not come up with its new version. */
import { expect, test } from 'vitest';
import { failedMember } from '../../src/planner/upgrade/failure.ts';
import type { Goal } from '../../src/planner/upgrade/goal.ts';
import type { PodFacts } from '../../src/planner/observation.ts';
import { aPod, aRunningCluster, LONG_AGO, namesOf, NOW } from '../support/builders.ts';

const HOP: Goal = { kind: 'go', from: '3.6.15', to: '3.6.16', after: [], notes: [] };
const upgraded: Partial<PodFacts> = {
  version: '3.6.16',
  imageReplacedAt: Date.parse(LONG_AGO),
  ready: false,
};

test.each([
  ['does not get ready', upgraded, 'example-1'],
  ['was upgraded a minute ago', { ...upgraded, imageReplacedAt: Date.parse(NOW) - 60_000 }, undefined],
  ['was ready, and its node is not heard of any more', { ...upgraded, unheard: true as const }, undefined],
  ['crashes', { ...upgraded, trouble: { reason: 'CrashLoopBackOff', message: '' } }, 'example-1'],
  ['no node takes', { ...upgraded, trouble: { reason: 'Unschedulable', message: '' } }, undefined],
  ['runs the old version still', { ...upgraded, version: '3.6.15' }, undefined],
])('a member that %s', (_, given, expected) => {
  const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-1' ? given : {}) }));
  const probes = {};
  expect(failedMember(aRunningCluster({ pods, probes }), HOP)?.name).toBe(expected);
});
