/** When a member counts as one that does not come up with its new version. */
import { expect, test } from 'vitest';
import { failedMember } from '../../../../src/planner/operations/upgrade/failure.ts';
import { canGoBack } from '../../../../src/planner/operations/upgrade/goal.ts';
import type { Goal } from '../../../../src/planner/model/upgrade-goal.ts';
import type { PodFacts } from '../../../../src/planner/model/observation.ts';
import { aPod, aProbe, aRunningCluster, LONG_AGO, namesOf, NOW } from '../../../worlds/builders.ts';
import { situationOf } from '../../../../src/planner/situation.ts';

const HOP: Goal = { kind: 'go', from: '3.6.15', to: '3.6.16', after: [], notes: [] };
const upgraded: Partial<PodFacts> = {
  version: '3.6.16',
  imageReplacedAt: Date.parse(LONG_AGO),
  ready: false,
};

test.each([
  ['does not get ready', upgraded, 'example-1'],
  ['was upgraded a minute ago', { ...upgraded, imageReplacedAt: Date.parse(NOW) - 60_000 }, undefined],
  [
    'was ready, and its node is not heard of any more',
    { ...upgraded, statusStale: true as const },
    undefined,
  ],
  ['crashes', { ...upgraded, trouble: { reason: 'CrashLoopBackOff', message: '' } }, 'example-1'],
  ['no node takes', { ...upgraded, trouble: { reason: 'Unschedulable', message: '' } }, undefined],
  [
    'was evicted (the simulation’s seed 2035830352)',
    { ...upgraded, phase: 'Failed', trouble: { reason: 'Evicted', message: '' } },
    undefined,
  ],
  ['runs the old version still', { ...upgraded, version: '3.6.15' }, undefined],
])('a member that %s', (_, given, expected) => {
  const pods = namesOf(3).map(name => aPod({ name, ...(name === 'example-1' ? given : {}) }));
  const probes = {};
  expect(failedMember(situationOf(aRunningCluster({ pods, probes })), HOP)?.name).toBe(expected);
});

const MINOR = { from: '3.5.35', to: '3.6.16' };
const down = { ready: false, trouble: { reason: 'CrashLoopBackOff', message: 'panic' } };

test.each([
  ['one runs the older minor', '3.5.35', {}, true],
  ['all run the newer minor, which the leader makes the cluster’s at any moment', '3.6.16', {}, false],
  ['the last one does not come up with the newer minor', '3.6.16', down, true],
])('members can go back to the older minor while %s: %s', (_, version, last, expected) => {
  const names = namesOf(3);
  const pods = names.map(name =>
    aPod({ name, version: '3.6.16', ...(name === 'example-2' && { version, ...last }) }),
  );
  const agreed = { cluster: '3.5.0' };
  const answers = names.map(
    name => [name, aProbe({ name, agreed, version: name === 'example-2' ? version : '3.6.16' })] as const,
  );
  const answered = answers.filter(([name]) => name !== 'example-2' || last !== down);
  const probes = Object.fromEntries(answered);
  expect(canGoBack(situationOf(aRunningCluster({ pods, probes })), MINOR)).toBe(expected);
});
