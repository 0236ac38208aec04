/** Members that are away because the operator changes them, or that have not started yet: no fault. */
import { describe, expect, it } from 'vitest';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../src/planner/plan.ts';
import { changingMembers } from '../../../src/planner/report/changing.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { reportConditions } from '../../worlds/report-conditions.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const silent: MemberProbe = { answered: false, message: 'status of the member at 10.0.0.1 failed: timeout' };
const well = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, aProbe({ name })]));

describe('members that the operator changes', () => {
  const ROLLOUT = { type: 'rolloutCluster', startedAt: NOW };
  const UPGRADE = { type: 'upgradeCluster', startedAt: NOW };
  const during = (operation: object, given: Partial<Observation>, size = 3) =>
    aRunningCluster(
      {
        cluster: aCluster({ spec: { size }, status: { ...aRunningStatus(size), operation } as never }),
        ...given,
      },
      size,
    );
  const reasons = (observation: Observation, workflowState?: WorkflowState) => {
    const { Available, QuorumAtRisk, Healthy } = reportConditions(observation, workflowState);
    return [Available?.[1], QuorumAtRisk?.[1], Healthy?.[1]];
  };
  const without = (name: string, stopped: object, size = 3): Partial<Observation> => ({
    pods: namesOf(size)
      .filter(each => each !== name)
      .map(each => aPod({ name: each })),
    claims: namesOf(size).map(each => aClaim({ name: each, ...(each === name && stopped) })),
    probes: Object.fromEntries(
      namesOf(size)
        .filter(each => each !== name)
        .map(each => [each, aProbe({ name: each })]),
    ),
    ...(size === 1 && { membership: UNKNOWN_MEMBERSHIP }),
  });
  const STOPPED = { stopped: 'pod-example-0' };

  it('are reported as planned, with the step', () => {
    expect(reportConditions(during(ROLLOUT, without('example-0', STOPPED)))['Healthy']).toEqual([
      'False',
      'MembersChanging',
      'example-0 is being changed as planned (rolloutCluster): start example-0 again on its volume',
    ]);
    expect(reportConditions(during(ROLLOUT, without('example-0', STOPPED)))['QuorumAtRisk']).toEqual([
      'True',
      'MembersChanging',
      '2 of 3 voters are known to be healthy, and 2 are needed; example-0 is being changed as planned (rolloutCluster): start example-0 again on its volume',
    ]);
  });

  it.each<[string, Observation, (string | undefined)[]]>([
    [
      'one that the operator stopped',
      during(ROLLOUT, without('example-0', STOPPED)),
      ['LinearizableRead', 'MembersChanging', 'MembersChanging'],
    ],
    [
      'the only one, stopped by the operator',
      during(ROLLOUT, without('example-0', STOPPED, 1), 1),
      ['MembersChanging', 'MembersChanging', 'MembersChanging'],
    ],
    [
      'one whose pod somebody deleted in the rollout',
      during(ROLLOUT, without('example-0', {})),
      ['LinearizableRead', 'NoMarginLeft', 'MembersUnhealthy'],
    ],
    [
      'the only one, whose pod somebody deleted',
      during(ROLLOUT, without('example-0', {}, 1), 1),
      ['NoMembers', 'QuorumLost', 'MembersUnhealthy'],
    ],
    [
      'one that starts again',
      during(ROLLOUT, {
        pods: namesOf(3).map(name =>
          aPod({ name, ...(name === 'example-0' && { ready: false, createdAt: Date.parse(NOW) - 1_000 }) }),
        ),
        probes: { ...well(['example-1', 'example-2']), 'example-0': silent },
      }),
      ['LinearizableRead', 'MembersChanging', 'MembersChanging'],
    ],
    [
      'one that was started six minutes ago and does not answer',
      during(ROLLOUT, {
        pods: namesOf(3).map(name =>
          aPod({ name, ...(name === 'example-0' && { ready: false, createdAt: Date.parse(NOW) - 360_000 }) }),
        ),
        probes: { ...well(['example-1', 'example-2']), 'example-0': silent },
      }),
      ['LinearizableRead', 'NoMarginLeft', 'MembersUnreachable'],
    ],
    [
      'one that does not start',
      during(ROLLOUT, {
        pods: namesOf(3).map(name =>
          aPod({
            name,
            ...(name === 'example-0' && {
              ready: false,
              createdAt: Date.parse(NOW) - 1_000,
              trouble: { reason: 'CrashLoopBackOff', message: 'back-off' },
            }),
          }),
        ),
        probes: { ...well(['example-1', 'example-2']), 'example-0': silent },
      }),
      ['LinearizableRead', 'NoMarginLeft', 'MembersUnhealthy'],
    ],
    [
      'one that is stopped, and another that ended by itself',
      during(ROLLOUT, {
        ...without('example-0', STOPPED),
        probes: { ...well(['example-2']), 'example-1': silent },
      }),
      ['LinearizableRead', 'NoMarginLeft', 'MembersUnreachable'],
    ],
    [
      'one that runs, and was not asked about by any step',
      during(UPGRADE, { probes: { ...well(['example-1', 'example-2']), 'example-0': silent } }),
      ['LinearizableRead', 'NoMarginLeft', 'MembersUnreachable'],
    ],
    [
      'one that serves, and whose new pod Kubernetes has not called ready yet',
      aRunningCluster({
        pods: namesOf(3).map(name =>
          aPod({ name, ...(name === 'example-2' && { ready: false, createdAt: Date.parse(NOW) - 1_000 }) }),
        ),
      }),
      ['LinearizableRead', undefined, 'MembersChanging'],
    ],
    ...[
      ['one of a new cluster whose pod has not started yet', {}, 'MembersChanging', 'MembersChanging'],
      [
        'one of a new cluster whose pod has not started for six minutes',
        { createdAt: Date.parse(NOW) - 360_000 },
        'NoMarginLeft',
        'MembersUnhealthy',
      ],
      [
        'one of a new cluster whose etcd ended at its first start',
        { restarts: 1 },
        'NoMarginLeft',
        'MembersUnhealthy',
      ],
      [
        'one that was sealed, and whose pod somebody deleted',
        { firstStart: 'sealed' as const },
        'NoMarginLeft',
        'MembersUnhealthy',
      ],
    ].map(([name, given, risk, healthy]): [string, Observation, (string | undefined)[]] => [
      name as string,
      aRunningCluster({
        pods: namesOf(3).map(each =>
          aPod({
            name: each,
            ...(each === 'example-0' && {
              phase: 'Pending',
              ready: false,
              unstarted: true,
              firstStart: 'open',
              createdAt: Date.parse(NOW) - 20_000,
              ...(given as object),
            }),
          }),
        ),
        probes: { ...well(['example-1', 'example-2']), 'example-0': silent },
      }),
      ['LinearizableRead', risk as string, healthy as string],
    ]),
  ])('%s', (_, observation, expected) => {
    expect(reasons(observation)).toEqual(expected);
  });

  it('are reported as planned while the pod of one that was added is made', () => {
    const { membership } = aRunningCluster();
    if (!membership.known) throw new Error('the builder knows its members');
    const members = membership.members.map(member =>
      member.name === 'example-2' ? { ...member, isLearner: true, started: false } : member,
    );
    const observation = during(
      { type: 'scaleCluster', startedAt: NOW },
      {
        ...without('example-2', {}),
        claims: namesOf(2).map(name => aClaim({ name })),
        membership: { ...membership, members },
      },
    );
    const decision = plan(observation, {});
    expect(decision).toMatchObject({ step: { kind: 'createMember', member: 'example-2' } });
    const changing = changingMembers(situationOf(observation), decision);
    expect(namesOf(4).map(changing.has)).toEqual([false, false, true, false]);
  });

  it('are reported as a fault when they cannot be started again', () => {
    const failed = {
      operation: 'rolloutCluster',
      step: 'restartMember',
      message: 'pods "example-0" is forbidden: exceeded quota',
      retryAt: Date.parse(NOW) + 60_000,
    };
    expect(reasons(during(ROLLOUT, without('example-0', STOPPED)), { failed })).toEqual([
      'LinearizableRead',
      'NoMarginLeft',
      'MembersUnhealthy',
    ]);
  });
});
