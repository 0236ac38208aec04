import { describe, expect, it } from 'vitest';
import { type ConditionFinding, finding } from '../../../src/api/conditions/catalogue.ts';
import {
  type BackupState,
  readinessOfBackup,
  readinessOfCluster,
  readinessOfTask,
} from '../../../src/api/derived/readiness.ts';
import { customResourceDefinitions } from '../../../src/api/schemas/crd.ts';
import { type AnyObject, kstatusOf } from './kstatus.ts';

const WELL = [
  finding('Available', 'LinearizableRead'),
  finding('Healthy', 'AllMembersHealthy'),
  finding('Progressing', 'AsSpecified'),
];

/** Those of a cluster that is well, with others in the place of theirs. */
const with_ = (...others: readonly ConditionFinding[]): readonly ConditionFinding[] => [
  ...WELL.filter(({ type }) => others.every(other => other.type !== type)),
  ...others,
];

const judged = (conditions: readonly ConditionFinding[]) =>
  kstatusOf({ metadata: { generation: 2 }, status: { observedGeneration: 2, conditions } });
const readyOf = (conditions: readonly ConditionFinding[]) =>
  conditions.find(({ type }) => type === 'Ready')?.status;

describe('a cluster', () => {
  it.each([
    ['that is as specified and healthy', WELL, 'Current', 'True'],
    [
      'that is created',
      with_(finding('Available', 'Creating'), finding('Progressing', 'Creating')),
      'InProgress',
      'False',
    ],
    ['that is scaled while it serves', with_(finding('Progressing', 'Scaling')), 'InProgress', 'False'],
    [
      'whose members are stopped as planned',
      with_(finding('Healthy', 'MembersChanging'), finding('Available', 'MembersChanging')),
      'InProgress',
      'False',
    ],
    [
      'that waits for what passes',
      with_(finding('Progressing', 'Waiting'), finding('Upgrading', 'Waiting')),
      'InProgress',
      'False',
    ],
    ['that is paused at rest', with_(finding('Paused', 'PausedBySpec')), 'Current', 'True'],
    [
      'that is paused with work left',
      with_(finding('Paused', 'PausedBySpec'), finding('Progressing', 'Paused')),
      'InProgress',
      'False',
    ],
    [
      'that sleeps as requested',
      with_(finding('Available', 'Hibernated'), finding('Healthy', 'Hibernated')),
      'Current',
      'True',
    ],
    ['that awaits an approval', with_(finding('Progressing', 'AwaitingApproval')), 'Failed', 'False'],
    ['with an alarm', with_(finding('Healthy', 'AlarmRaised')), 'Failed', 'False'],
    [
      'with an alarm during an operation',
      with_(finding('Healthy', 'AlarmRaised'), finding('Progressing', 'RollingOut')),
      'InProgress',
      'False',
    ],
    [
      'whose specification is refused',
      with_(finding('SpecValid', 'Invalid'), finding('Progressing', 'Blocked')),
      'Failed',
      'False',
    ],
    [
      'whose version cannot be reached',
      with_(finding('UpgradeBlocked', 'BelowFloor'), finding('Progressing', 'Blocked')),
      'Failed',
      'False',
    ],
    [
      'that waits beside what a deleted one has left',
      with_(finding('Available', 'FormerCluster'), finding('Progressing', 'Blocked')),
      'Failed',
      'False',
    ],
    [
      'that lost everything',
      with_(finding('Available', 'AllVolumesLost'), finding('Progressing', 'Blocked')),
      'Failed',
      'False',
    ],
    [
      'that is restored after it lost everything',
      with_(finding('Available', 'AllVolumesLost'), finding('Progressing', 'Restoring')),
      'InProgress',
      'False',
    ],
    ['that waits for a member', with_(finding('Progressing', 'Blocked')), 'InProgress', 'False'],
    ['with a member that is not well', with_(finding('Healthy', 'MembersUnhealthy')), 'InProgress', 'False'],
    ['that cannot be reached', with_(finding('Available', 'Unreachable')), 'InProgress', 'Unknown'],
  ] as const)('%s', (_, conditions, expected, ready) => {
    const readiness = readinessOfCluster(conditions);
    expect([judged([...readiness, ...conditions]), readyOf(readiness)]).toEqual([expected, ready]);
  });

  it('says why in the words of the condition that it follows from', () => {
    const message = 'approve of removeMember 8e9e05c5';
    expect(readinessOfCluster(with_(finding('Progressing', 'AwaitingApproval', message)))).toMatchObject([
      { type: 'Ready', reason: 'Stopped', message },
      { type: 'Stalled', reason: 'ApprovalAwaited', message },
    ]);
  });

  it('is in progress while its new specification was not observed', () => {
    const conditions = [...readinessOfCluster(WELL), ...WELL];
    expect(kstatusOf({ metadata: { generation: 3 }, status: { observedGeneration: 2, conditions } })).toBe(
      'InProgress',
    );
  });
});

describe('a backup', () => {
  const GOOD = finding('Succeeded', 'BackupVerified');
  const FAILED = finding('Succeeded', 'Failed');
  const PENDING = finding('Succeeded', 'Pending');
  const once: BackupState = { phase: 'Pending', isPeriodic: false, isTriedAgain: false };
  const nightly: BackupState = { phase: 'Scheduled', isPeriodic: true, isTriedAgain: false };
  it.each([
    ['once, before it runs', [PENDING], once, 'InProgress'],
    ['once, while it runs', [PENDING], { ...once, phase: 'Running' }, 'InProgress'],
    ['once, that succeeded', [GOOD], { ...once, phase: 'Succeeded' }, 'Current'],
    ['once, that failed', [FAILED], { ...once, phase: 'Failed' }, 'Failed'],
    [
      'once, that failed and is tried again',
      [FAILED],
      { ...once, phase: 'Failed', isTriedAgain: true },
      'InProgress',
    ],
    [
      'once, that is paused before it runs',
      [PENDING, finding('Paused', 'PausedByPerson')],
      once,
      'InProgress',
    ],
    ['of a schedule, before its first run', [PENDING], nightly, 'Current'],
    ['of a schedule, while it runs', [GOOD], { ...nightly, phase: 'Running' }, 'Current'],
    ['of a schedule whose last run failed', [FAILED], nightly, 'InProgress'],
    ['of a schedule that is late', [GOOD, finding('OnSchedule', 'BackupNotBegun')], nightly, 'InProgress'],
    ['of a schedule that is suspended', [GOOD], { ...nightly, phase: 'Suspended' }, 'Current'],
    [
      'of a schedule that nobody can read',
      [PENDING, finding('ScheduleValid', 'Malformed')],
      nightly,
      'Failed',
    ],
  ] as const)('%s', (_, conditions, state, expected) => {
    expect(judged([...readinessOfBackup(conditions, state), ...conditions])).toBe(expected);
  });
});

it.each([
  [undefined, 'InProgress'],
  ['Pending', 'InProgress'],
  ['Growing', 'InProgress'],
  ['Accepted', 'InProgress'],
  ['Succeeded', 'Current'],
  ['Completed', 'Current'],
  ['Failed', 'Failed'],
  ['Refused', 'Failed'],
  ['Aborted', 'Failed'],
  ['Expired', 'Failed'],
] as const)('a restore or a request in phase %s', (phase, expected) => {
  expect(judged(readinessOfTask(phase, 'why'))).toBe(expected);
});

it.each(customResourceDefinitions().map(({ spec }) => [spec.names.kind, spec] as const))(
  'a new %s is in progress before the operator has seen it',
  (_, { versions: [{ schema }] }) => {
    const status = schema.openAPIV3Schema.properties?.['status']?.default as AnyObject['status'];
    expect(kstatusOf({ metadata: { generation: 1 }, ...(status && { status }) })).toBe('InProgress');
  },
);
