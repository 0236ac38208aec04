import { describe, expect, it } from 'vitest';
import { type ConditionFinding, finding } from '../../../src/api/conditions/catalogue.ts';
import { stamped } from '../../../src/api/conditions/stamped.ts';
import { attentionOf, stateOf } from '../../../src/api/derived/state-of-cluster.ts';
import type { EtcdClusterStatus } from '../../../src/api/schemas/types.ts';

const stamp = { now: '2026-11-01T00:00:00Z', generation: 1 };
const WELL = [finding('Available', 'LinearizableRead'), finding('Healthy', 'AllMembersHealthy')];

function cluster(others: readonly ConditionFinding[], status: EtcdClusterStatus = {}) {
  const conditions = [...WELL.filter(({ type }) => others.every(other => other.type !== type)), ...others];
  return {
    metadata: { generation: 1 },
    status: {
      phase: 'Running' as const,
      observedGeneration: 1,
      conditions: conditions.map(each => stamped(each, undefined, stamp)),
      ...status,
    },
  };
}

describe('what needs attention', () => {
  it.each([
    ['nothing, of a cluster that is well', [], undefined],
    ['an approval', [finding('Progressing', 'AwaitingApproval')], 'AwaitingApproval'],
    ['an alarm', [finding('Healthy', 'AlarmRaised')], 'AlarmRaised'],
    [
      'an alarm before a pause',
      [finding('Healthy', 'AlarmRaised'), finding('Paused', 'PausedBySpec')],
      'AlarmRaised',
    ],
    ['a pause', [finding('Paused', 'PausedBySpec')], 'PausedBySpec'],
    [
      'a refused specification',
      [finding('SpecValid', 'Invalid'), finding('Progressing', 'Blocked')],
      'Invalid',
    ],
    ['a version that cannot be reached', [finding('UpgradeBlocked', 'BelowFloor')], 'BelowFloor'],
    [
      'a release that can lose data',
      [finding('VersionOutdated', 'BelowDataLossFloor')],
      'BelowDataLossFloor',
    ],
    ['nothing, of a cluster that sleeps as requested', [finding('Available', 'Hibernated')], undefined],
    [
      'nothing, while members are stopped as planned',
      [
        finding('Available', 'MembersChanging'),
        finding('QuorumAtRisk', 'MembersChanging'),
        finding('Healthy', 'MembersChanging'),
      ],
      undefined,
    ],
    ['nothing, while an upgrade waits for what passes', [finding('Progressing', 'Waiting')], undefined],
    ['nothing of pods of the former release', [finding('PodsOutdated', 'MadeByEarlierRelease')], undefined],
    ['nothing of what was left out', [finding('FieldsKept', 'SomeKept')], undefined],
    ['pods that may start empty', [finding('PodsOutdated', 'MayStartEmpty')], 'MayStartEmpty'],
    ['a member of another cluster', [finding('Progressing', 'Blocked')], 'Blocked'],
    ['Temporal that does not answer', [finding('TemporalUnavailable', 'Unreachable')], 'Unreachable'],
  ] as const)('is %s', (_, conditions, expected) => {
    expect(attentionOf(cluster(conditions))).toBe(expected);
  });

  it('is nothing while an operation continues', () => {
    const operation = { type: 'scaleCluster' };
    expect(attentionOf(cluster([finding('Progressing', 'Scaling')], { operation }))).toBeUndefined();
  });
});

it('a refused new cluster has failed for the real reason', () => {
  const refused = cluster(
    [finding('Available', 'NotCreated'), finding('SpecValid', 'Invalid', 'spec.size: even')],
    {
      phase: 'Failed',
      reason: 'spec.size: even',
    },
  );
  expect(stateOf(refused)).toEqual({ state: 'Failed', reason: 'Invalid', message: 'spec.size: even' });
});
