import { describe, expect, it } from 'vitest';
import type { Condition, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { transitions } from '../../../src/planner/report/events.ts';
import { LONG_AGO, NOW } from '../../worlds/builders.ts';

function condition(
  type: string,
  status: Condition['status'],
  reason: string,
  message = 'so it is',
): Condition {
  return { type, status, reason, message, lastTransitionTime: LONG_AGO };
}

const withConditions = (...conditions: Condition[]): EtcdClusterStatus => ({ conditions });

describe('what is reported to users', () => {
  const available = condition('Available', 'True', 'LinearizableRead');
  const cases: readonly [
    title: string,
    before: EtcdClusterStatus,
    after: EtcdClusterStatus,
    events: unknown[],
  ][] = [
    ['nothing when nothing changed', withConditions(available), withConditions(available), []],
    [
      'that a cluster became available',
      withConditions(condition('Available', 'False', 'Creating')),
      withConditions(available),
      [{ type: 'Normal', reason: 'Available', message: 'so it is' }],
    ],
    [
      'once that a new cluster serves: that its members are well is the same news',
      withConditions(
        condition('Available', 'False', 'Creating'),
        condition('Healthy', 'Unknown', 'Creating'),
      ),
      withConditions(available, condition('Healthy', 'True', 'AllMembersHealthy')),
      [{ type: 'Normal', reason: 'Available', message: 'so it is' }],
    ],
    [
      'that all members are well again',
      withConditions(available, condition('Healthy', 'False', 'MembersUnhealthy')),
      withConditions(available, condition('Healthy', 'True', 'AllMembersHealthy')),
      [{ type: 'Normal', reason: 'AllMembersHealthy', message: 'so it is' }],
    ],
    [
      'that it is not available any more, and why',
      withConditions(available),
      withConditions(condition('Available', 'False', 'NoQuorum')),
      [{ type: 'Warning', reason: 'NoQuorum', message: 'so it is' }],
    ],
    [
      'that it is not known any more whether it is',
      withConditions(available),
      withConditions(condition('Available', 'Unknown', 'Unreachable')),
      [{ type: 'Warning', reason: 'Unreachable', message: 'so it is' }],
    ],
    [
      'nothing when only the reason changed',
      withConditions(condition('Healthy', 'False', 'MembersUnhealthy')),
      withConditions(condition('Healthy', 'False', 'AlarmRaised')),
      [],
    ],
    [
      'nothing of a new cluster that is not available yet, and of a version that is supported',
      {},
      withConditions(
        condition('Available', 'False', 'Creating'),
        condition('Healthy', 'False', 'Creating'),
        condition('VersionSupported', 'True', 'Supported'),
      ),
      [],
    ],
    [
      'that a new cluster cannot be created',
      {},
      withConditions(
        condition('Available', 'False', 'NotCreated'),
        condition('SpecValid', 'False', 'Invalid', 'spec.size is 8'),
      ),
      [
        { type: 'Warning', reason: 'NotCreated', message: 'so it is' },
        { type: 'Warning', reason: 'Invalid', message: 'spec.size is 8' },
      ],
    ],
    [
      'that fields are ignored',
      {},
      withConditions(condition('FieldsIgnored', 'True', 'SomeIgnored')),
      [{ type: 'Warning', reason: 'SomeIgnored', message: 'so it is' }],
    ],
    [
      'that someone paused it, which is no fault',
      {},
      withConditions(condition('Paused', 'True', 'PausedByPerson')),
      [{ type: 'Normal', reason: 'PausedByPerson', message: 'so it is' }],
    ],
    [
      'once that a member is stopped as planned, which is no fault, and not how much margin is left',
      withConditions(available, condition('Healthy', 'True', 'AllMembersHealthy')),
      withConditions(
        available,
        condition('Healthy', 'False', 'MembersChanging'),
        condition('QuorumAtRisk', 'True', 'MembersChanging'),
      ),
      [{ type: 'Normal', reason: 'MembersChanging', message: 'so it is' }],
    ],
    [
      'that a member which was stopped as planned does not come back',
      withConditions(
        condition('Available', 'False', 'MembersChanging'),
        condition('Healthy', 'False', 'MembersChanging'),
        condition('QuorumAtRisk', 'True', 'MembersChanging'),
      ),
      withConditions(
        condition('Available', 'False', 'NoMembers'),
        condition('Healthy', 'False', 'MembersUnhealthy'),
        condition('QuorumAtRisk', 'True', 'QuorumLost'),
      ),
      [
        { type: 'Warning', reason: 'NoMembers', message: 'so it is' },
        { type: 'Warning', reason: 'MembersUnhealthy', message: 'so it is' },
        { type: 'Warning', reason: 'QuorumLost', message: 'so it is' },
      ],
    ],
    [
      'that a cluster sleeps, and not that it is available',
      withConditions(available),
      withConditions(condition('Available', 'False', 'Hibernated')),
      [{ type: 'Normal', reason: 'Hibernated', message: 'so it is' }],
    ],
    [
      'nothing of what passes by itself',
      withConditions(condition('Progressing', 'True', 'Upgrading')),
      withConditions(condition('Progressing', 'False', 'Waiting', 'the leader is new')),
      [],
    ],
    [
      'what is in the way, each time when that is something else',
      withConditions(condition('Progressing', 'False', 'Blocked', 'no room')),
      withConditions(condition('Progressing', 'False', 'Blocked', 'no image')),
      [{ type: 'Warning', reason: 'Blocked', message: 'no image' }],
    ],
    [
      'nothing when the same is still in the way',
      withConditions(condition('Progressing', 'False', 'Blocked', 'no room')),
      withConditions(condition('Progressing', 'False', 'Blocked', 'no room')),
      [],
    ],
    [
      'not every step, which status shows',
      withConditions(condition('Progressing', 'False', 'AsSpecified')),
      withConditions(condition('Progressing', 'True', 'Creating')),
      [],
    ],
    [
      'nothing of conditions when the resource is being deleted: that is told as an operation',
      withConditions(available),
      withConditions(condition('Available', 'False', 'Deleting')),
      [],
    ],
  ];
  it.each(cases)('%s', (_, before, after, events) => {
    expect(transitions(before, after)).toEqual(events);
  });
});

describe('operations are reported', () => {
  const operation = { type: 'repairCluster', startedAt: NOW, step: 'start example-1 again on its volume' };

  it('when they begin, and not again while they go on', () => {
    expect(transitions({}, { operation })).toEqual([
      {
        type: 'Normal',
        reason: 'OperationStarted',
        message: 'repairCluster: start example-1 again on its volume',
      },
    ]);
    expect(transitions({ operation }, { operation: { ...operation, step: 'another' } })).toEqual([]);
  });

  it.each([
    ['Succeeded', 'Normal'],
    ['Aborted', 'Warning'],
    ['Failed', 'Warning'],
    ['Superseded', 'Normal'],
  ] as const)('when they end (%s)', (outcome, type) => {
    const lastOperation = { type: 'repairCluster', outcome, completedAt: NOW };
    expect(transitions({ operation }, { lastOperation })).toEqual([
      { type, reason: `Operation${outcome}`, message: 'repairCluster ended' },
    ]);
    expect(transitions({ lastOperation }, { lastOperation })).toEqual([]);
  });

  it('when one gives way to another, which is named', () => {
    const lastOperation = { type: 'scaleCluster', outcome: 'Superseded' as const, completedAt: NOW };
    const before = { operation: { ...operation, type: 'scaleCluster', startedAt: LONG_AGO } };
    expect(transitions(before, { operation, lastOperation })[0]).toEqual({
      type: 'Normal',
      reason: 'OperationSuperseded',
      message: `scaleCluster ended; ${operation.type} is next`,
    });
  });

  it('when one ends and another begins in the same pass', () => {
    const lastOperation = { type: 'createCluster', outcome: 'Succeeded' as const, completedAt: NOW };
    const before = { operation: { ...operation, type: 'createCluster', startedAt: LONG_AGO } };
    expect(transitions(before, { operation, lastOperation }).map(event => event.reason)).toEqual([
      'OperationSucceeded',
      'OperationStarted',
    ]);
  });
});
