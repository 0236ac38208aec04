import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import {
  ABSENT,
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  anObservation,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  FOREIGN,
  namesOf,
  NOW,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { reportConditions } from '../../worlds/report-conditions.ts';

const silent: MemberProbe = { answered: false, message: 'status of the member at 10.0.0.1 failed: timeout' };
const silentAll = Object.fromEntries(namesOf(3).map(name => [name, silent]));
const leaderless = Object.fromEntries(
  namesOf(3).map(name => [
    name,
    aProbe({
      name,
      leaderId: undefined,
      errors: ['etcdserver: no leader'],
      read: { ok: false, message: 'etcdserver: no leader' },
    }),
  ]),
);
const unreadable = Object.fromEntries(
  namesOf(3).map(name => [name, aProbe({ name, read: { ok: false, message: 'Deadline exceeded' } })]),
);
const forUsers = Object.fromEntries(
  namesOf(3).map(name => [
    name,
    aProbe({ name, read: { ok: false, message: 'etcdserver: user name is empty', denied: true } }),
  ]),
);
const creating = aCluster({
  status: { phase: 'Creating', incarnation: anIncarnation(), storage: { kind: 'PersistentVolumeClaim' } },
});
const refused = aCluster({ spec: { size: 8 } });
const dying = aCluster({ status: aRunningStatus(), deleting: true });
const stamped = {
  claims: namesOf(3).map(name => aClaim({ name, clusterId: undefined })),
  pods: namesOf(3).map(name => aPod({ name, clusterId: undefined })),
};

it('QuorumAtRisk says of a member that does not answer whether the node of its volume is there', () => {
  const pods = namesOf(3).map(name => aPod({ name }));
  const probes = Object.fromEntries(namesOf(2).map(name => [name, aProbe({ name })]));
  const saysOf = (exists: boolean) => {
    const home = { node: 'node-3', exists };
    const claims = namesOf(3).map(name => aClaim({ name, ...(name === 'example-2' && { home }) }));
    return reportConditions(aRunningCluster({ pods, probes, claims }))['QuorumAtRisk']?.[2];
  };
  expect(saysOf(true)).toContain('its claim is Bound to a volume on node node-3, which exists');
  expect(saysOf(false)).toContain('its claim is Bound to a volume on node node-3, which is gone');
});

it('QuorumAtRisk is not reported of members whose database is full: they vote', () => {
  const probes = Object.fromEntries(
    namesOf(3).map(name => [name, aProbe({ name, errors: ['memberID:161 alarm:NOSPACE '] })]),
  );
  expect(reportConditions(aRunningCluster({ probes }))).not.toHaveProperty('QuorumAtRisk');
});

describe('Available', () => {
  const cases: readonly [title: string, Observation, string, string, string | RegExp][] = [
    [
      'a read went through',
      aRunningCluster(),
      'True',
      'LinearizableRead',
      'a linearizable read went through 3 of 3 members',
    ],
    [
      'a read went through one member only',
      aRunningCluster({ probes: { ...silentAll, 'example-2': aProbe({ name: 'example-2' }) } }),
      'True',
      'LinearizableRead',
      'a linearizable read went through 1 of 3 members',
    ],
    [
      'reads go through, and no pod is ready for clients',
      aRunningCluster({ pods: namesOf(3).map(name => aPod({ name, ready: false })) }),
      'False',
      'NoReadyMember',
      /has no endpoint/,
    ],
    [
      'reads go through, and clients are led away from the only ready pod',
      aRunningCluster({
        pods: namesOf(3).map(name => aPod({ name, ready: name === 'example-1', clients: 'withdrawn' })),
      }),
      'False',
      'NoEndpoint',
      /^example-1 is ready, but without the labels that the client Service selects/,
    ],
    [
      'reads go through, and somebody took the labels off the ready pods',
      aRunningCluster({ pods: namesOf(3).map(name => aPod({ name, labelsLacking: { app: 'etcd' } })) }),
      'False',
      'NoEndpoint',
      /^example-0, example-1, example-2 are ready/,
    ],
    [
      'reads go through, and somebody changed the selector of the client Service',
      aRunningCluster({
        clientService: {
          exists: true,
          owned: true,
          leadsTo: [],
          difference: 'spec.selector.app: changed to "other"',
        },
      }),
      'False',
      'NoEndpoint',
      'example-0, example-1, example-2 are ready, but Service example-client does not select them as it stands; spec.selector.app: changed to "other"',
    ],
    [
      'reads go through, and the client Service selects one ready pod',
      aRunningCluster({ clientService: { exists: true, owned: true, leadsTo: ['example-2'] } }),
      'True',
      'LinearizableRead',
      'a linearizable read went through 3 of 3 members',
    ],
    [
      'reads go through, and the client Service selects only what is not ready',
      aRunningCluster({
        clientService: { exists: true, owned: true, leadsTo: ['example-0'] },
        pods: namesOf(3).map(name => aPod({ name, ready: name !== 'example-0', clients: 'withdrawn' })),
      }),
      'False',
      'NoEndpoint',
      /^example-1, example-2 are ready, but without the labels/,
    ],
    [
      'reads go through, and every ready pod is being deleted',
      aRunningCluster({ pods: namesOf(3).map(name => aPod({ name, deleting: true })) }),
      'False',
      'NoEndpoint',
      'every ready pod is being deleted',
    ],
    [
      'the ready pod is not ours',
      aRunningCluster({
        pods: [...namesOf(3).map(name => aPod({ name, ready: false })), aPod({ name: 'x', owned: false })],
      }),
      'False',
      'NoReadyMember',
      /has no endpoint/,
    ],
    [
      'members answer and know no leader',
      aRunningCluster({ probes: leaderless, membership: UNKNOWN_MEMBERSHIP }),
      'False',
      'NoQuorum',
      /^example-0: etcdserver: no leader; example-1: /,
    ],
    [
      'members answer with a leader, and reads fail',
      aRunningCluster({ probes: unreadable, membership: UNKNOWN_MEMBERSHIP }),
      'False',
      'ReadFailed',
      /^example-0: Deadline exceeded/,
    ],
    [
      'nobody answers, and pods run: the fault may lie between',
      aRunningCluster({ probes: silentAll, membership: UNKNOWN_MEMBERSHIP }),
      'Unknown',
      'Unreachable',
      /failed: timeout/,
    ],
    [
      'members answer, and read for users of etcd alone',
      aRunningCluster({ probes: forUsers }),
      'Unknown',
      'AccessDenied',
      /^authentication is enabled in etcd, and without TLS the operator is not a user of it \(etcdserver: user name is empty\): disable it/,
    ],
    [
      'members answer, and the certificate of the operator is that of another user',
      aRunningCluster({
        cluster: aCluster({ spec: { TLS: { auto: {} } }, status: aRunningStatus() }),
        probes: forUsers,
      }),
      'Unknown',
      'AccessDenied',
      /grant that role to the user whose name is the common name of the certificate/,
    ],
    [
      'nobody answers, and no pod runs, as Kubernetes says',
      aRunningCluster({ pods: [], probes: {}, membership: UNKNOWN_MEMBERSHIP }),
      'False',
      'NoMembers',
      'example-0: has no pod; example-1: has no pod; example-2: has no pod',
    ],
    [
      'nobody answers, and every pod that runs is in trouble',
      aRunningCluster({
        pods: namesOf(3).map(name =>
          aPod({ name, trouble: { reason: 'CrashLoopBackOff', message: 'panic' } }),
        ),
        probes: {},
        membership: UNKNOWN_MEMBERSHIP,
      }),
      'False',
      'NoMembers',
      /^example-0: CrashLoopBackOff: panic/,
    ],
    ['nothing is recorded yet', anObservation(), 'False', 'Creating', /does not answer yet/],
    ['it bootstraps', anObservation({ cluster: creating }), 'False', 'Creating', /does not answer yet/],
    [
      'the client Service is not open yet',
      aRunningCluster({ clientService: ABSENT }),
      'False',
      'Creating',
      /does not answer yet/,
    ],
    [
      'it cannot be created',
      anObservation({ cluster: refused }),
      'False',
      'NotCreated',
      /specification is invalid/,
    ],
    [
      'its creation stands against a foreign Service',
      anObservation({ clientService: FOREIGN }),
      'False',
      'NotCreated',
      /specification is invalid/,
    ],
    ['it is being deleted', aRunningCluster({ cluster: dying }), 'False', 'Deleting', /being deleted/],
    [
      'its identity is lost, and members run: nothing is claimed',
      anObservation(stamped),
      'Unknown',
      'Unreachable',
      /nor a quorum shows the cluster id/,
    ],
    [
      'its identity is lost, and members answer without a quorum',
      anObservation({ ...stamped, probes: leaderless }),
      'False',
      'NoQuorum',
      /nor a quorum shows the cluster id/,
    ],
  ];
  it.each(cases)('%s', (_, observation, status, reason, message) => {
    const { Available } = reportConditions(observation);
    expect(Available?.slice(0, 2)).toEqual([status, reason]);
    expect(Available?.[2]).toMatch(message);
  });

  it.each([
    ['paused', { paused: {} }],
    ['aborted', { aborted: { operation: 'createCluster', generation: 1 } }],
    ['failed', { failed: { operation: 'createCluster', message: 'forbidden', retryAt: 0 } }],
  ])('is not said to be refused when its creation is only %s', (_, workflowState) => {
    expect(reportConditions(anObservation(), workflowState)['Available']?.[1]).toBe('Creating');
  });
});

describe('Healthy', () => {
  const withPod = (given: Parameters<typeof aPod>[0], probe: MemberProbe | undefined) => {
    const others = namesOf(3).filter(name => name !== 'example-1');
    return aRunningCluster({
      pods: [...others.map(name => aPod({ name })), aPod({ ...given, name: 'example-1' })],
      probes: {
        ...Object.fromEntries(others.map(name => [name, aProbe({ name })])),
        ...(probe && { 'example-1': probe }),
      },
    });
  };
  const well = aProbe({ name: 'example-1' });
  const cases: readonly [title: string, Observation, string, string, string | RegExp][] = [
    ['every member answers', aRunningCluster(), 'True', 'AllMembersHealthy', /Every member answers/],
    [
      'a running member does not answer: it is not known to be down',
      withPod({}, silent),
      'Unknown',
      'MembersUnreachable',
      'example-1: status of the member at 10.0.0.1 failed: timeout',
    ],
    [
      'a running pod has no address yet',
      withPod({ ip: undefined }, undefined),
      'Unknown',
      'MembersUnreachable',
      'example-1: its pod has no address',
    ],
    [
      'a pod does not run',
      withPod({ phase: 'Pending', ready: false }, undefined),
      'False',
      'MembersUnhealthy',
      'example-1: its pod is Pending',
    ],
    [
      'a pod is being deleted, though its member still answers',
      withPod({ deleting: true }, well),
      'False',
      'MembersUnhealthy',
      'example-1: its pod is being deleted',
    ],
    [
      'a pod is in trouble',
      withPod({ trouble: { reason: 'CrashLoopBackOff', message: 'panic' } }, undefined),
      'False',
      'MembersUnhealthy',
      'example-1: CrashLoopBackOff: panic',
    ],
    [
      'a member reports errors',
      withPod({}, { ...well, errors: ['etcdserver: no leader'] }),
      'False',
      'MembersUnhealthy',
      'example-1: etcdserver: no leader',
    ],
    [
      'a read through a member fails',
      withPod({}, { ...well, read: { ok: false, message: 'Deadline exceeded' } }),
      'False',
      'MembersUnhealthy',
      'example-1: Deadline exceeded',
    ],
    [
      'an alarm is raised, each said once',
      aRunningCluster({
        probes: Object.fromEntries(
          namesOf(3).map(name => [name, aProbe({ name, errors: ['memberID:161 alarm:NOSPACE '] })]),
        ),
      }),
      'False',
      'AlarmRaised',
      /^alarm NOSPACE of member a1; etcd refuses writes: every database has room: example-0 has a file of 20\.0 KiB with 16\.0 KiB in use, quota 2\.0 GiB$/,
    ],
    [
      'a member answers and its pod is not ready',
      withPod({ ready: false }, well),
      'False',
      'MembersUnhealthy',
      'not ready: example-1',
    ],
    [
      'a member answers and a container that somebody put into its pod is not ready',
      withPod({ ready: false, notReadyBecause: 'container a-proxy is not ready' }, well),
      'False',
      'MembersUnhealthy',
      'not ready: example-1 (container a-proxy is not ready)',
    ],
    ['it is being created', anObservation({ cluster: creating }), 'False', 'Creating', /has started yet/],
    [
      'it cannot be created',
      anObservation({ cluster: refused }),
      'False',
      'NotCreated',
      'Nothing was created.',
    ],
    ['it is being deleted', aRunningCluster({ cluster: dying }), 'False', 'Deleting', /being deleted/],
    [
      'its identity is lost',
      anObservation(stamped),
      'Unknown',
      'MembersUnreachable',
      /nor a quorum shows the cluster id/,
    ],
  ];
  it.each(cases)('%s', (_, observation, status, reason, message) => {
    const { Healthy } = reportConditions(observation);
    expect(Healthy?.slice(0, 2)).toEqual([status, reason]);
    expect(Healthy?.[2]).toMatch(message);
  });

  it('does not call a member lost that votes again while more members are asked for', () => {
    const healthy = (member: string) => {
      const status = { ...aRunningStatus(), replacements: [{ time: NOW, member }] };
      return reportConditions(aRunningCluster({ cluster: aCluster({ spec: { size: 5 }, status }) }))[
        'Healthy'
      ];
    };
    expect(healthy('example-1')?.[0]).toBe('True');
    expect(healthy('example-7')?.[2]).toContain('example-7 was lost');
  });

  it('says what is known to be wrong rather than what is not known', () => {
    const observation = aRunningCluster({
      pods: [aPod(), aPod({ name: 'example-1' })],
      probes: { 'example-0': aProbe(), 'example-1': silent },
    });
    expect(reportConditions(observation)['Healthy']).toEqual([
      'False',
      'MembersUnhealthy',
      'example-2: has no pod',
    ]);
  });
});

describe('Progressing', () => {
  const cases: readonly [title: string, Observation, WorkflowState, string, string, string | RegExp][] = [
    ['nothing to do', aRunningCluster(), {}, 'False', 'AsSpecified', /matches the specification/],
    ['creation', anObservation(), {}, 'True', 'Creating', /^record incarnation example-0b7e6e34-1/],
    [
      'repair',
      aRunningCluster({ pods: [aPod(), aPod({ name: 'example-1' })] }),
      {},
      'True',
      'Repairing',
      'start example-2 again on its volume',
    ],
    ['deletion', aRunningCluster({ cluster: dying }), {}, 'True', 'Deleting', /^delete pods example-0/],
    ['paused', anObservation(), { paused: { by: 'me' } }, 'False', 'Paused', /^paused by me/],
    [
      'in the way',
      anObservation({ clientService: FOREIGN }),
      {},
      'False',
      'Blocked',
      /^Service example-client/,
    ],
    [
      'a pod that is being deleted, and ends in time',
      aRunningCluster({
        pods: [
          aPod(),
          aPod({ name: 'example-1', deleting: true, goneBy: Date.parse(NOW) + 30_000 }),
          aPod({ name: 'example-2' }),
        ],
      }),
      {},
      'False',
      'Waiting',
      /^waiting until example-1 is gone/,
    ],
    [
      'a pod that is being deleted, and does not end',
      aRunningCluster({
        pods: [
          aPod(),
          aPod({ name: 'example-1', deleting: true, goneBy: Date.parse(NOW) - 60_000 }),
          aPod({ name: 'example-2' }),
        ],
      }),
      {},
      'False',
      'Blocked',
      /^waiting until example-1 is gone/,
    ],
  ];
  it.each(cases)('%s', (_, observation, workflowState, status, reason, message) => {
    const { Progressing } = reportConditions(observation, workflowState);
    expect(Progressing?.slice(0, 2)).toEqual([status, reason]);
    expect(Progressing?.[2]).toMatch(message);
  });
});

describe('the other conditions', () => {
  const running = (spec: EtcdClusterSpec, status = aRunningStatus()) =>
    aRunningCluster({ cluster: aCluster({ spec, status }) });

  it.each([
    ['not decided', undefined, 'Unknown', 'NotDecided'],
    ['claims', { kind: 'PersistentVolumeClaim' }, 'True', 'PersistentVolumes'],
    ['pods, as asked', { kind: 'EmptyDir', decidedBy: 'Spec' }, 'False', 'EmptyDirAsked'],
    [
      'pods, for the lack of a class',
      { kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' },
      'False',
      'NoDefaultStorageClass',
    ],
  ] as const)('Durable: %s', (_, storage, status, reason) => {
    const observation = anObservation({ cluster: aCluster(storage && { status: { storage } }) });
    expect(reportConditions(observation)['Durable']?.slice(0, 2)).toEqual([status, reason]);
  });

  it('Durable says that volumes which were asked for later have no effect', () => {
    const storage = { kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' } as const;
    const spec = { storage: { volumeClaimTemplate: { spec: {} } } };
    const observation = anObservation({ cluster: aCluster({ spec, status: { storage } }) });
    expect(reportConditions(observation)['Durable']?.[2]).toContain('spec.storage now requests volumes');
  });

  it('QuorumAtRisk counts a voter that was added by hand and whose health is not known', () => {
    const withStranger = (size: number) =>
      aRunningCluster({ membership: aMembership([...namesOf(size), 'stranger']) }, size);
    expect(reportConditions(withStranger(3))['QuorumAtRisk']).toEqual([
      'True',
      'NoMarginLeft',
      '3 of 4 voters are known to be healthy, and 3 are needed; stranger: it was added manually, and its health is not known',
    ]);
    expect(reportConditions(withStranger(5))['QuorumAtRisk']).toBeUndefined();
  });

  it('Paused is there while someone or the specification pauses, with who and why', () => {
    expect(reportConditions(aRunningCluster())['Paused']).toBeUndefined();
    expect(reportConditions(aRunningCluster(), { paused: { by: 'me', reason: 'lunch' } })['Paused']).toEqual([
      'True',
      'PausedByPerson',
      'paused by me (lunch)',
    ]);
    expect(reportConditions(running({ paused: true }))['Paused']?.slice(0, 2)).toEqual([
      'True',
      'PausedBySpec',
    ]);
  });

  it('reports only faults of the specification, and that the version is supported', () => {
    const wanted = ['Available', 'Healthy', 'Progressing', 'Durable', 'VersionSupported'];
    const reported = reportConditions(running({ etcd: { quotaBackendBytes: '1Gi' } }));
    expect(Object.keys(reported).filter(type => type !== 'StorageTight')).toEqual(
      expect.arrayContaining(wanted),
    );
    expect(reported).not.toHaveProperty('SpecValid');
    expect(reported).not.toHaveProperty('EvenSize');
    expect(reported).not.toHaveProperty('FieldsIgnored');
  });

  it('EvenSize warns of a size that gains nothing', () => {
    const observation = aRunningCluster(
      { cluster: aCluster({ spec: { size: 4 }, status: aRunningStatus(4) }) },
      4,
    );
    expect(reportConditions(observation)['EvenSize']?.slice(0, 2)).toEqual(['True', 'NoExtraTolerance']);
  });

  it('SpecValid is False with everything that is wrong', () => {
    expect(reportConditions(anObservation({ cluster: refused }))['SpecValid']).toEqual([
      'False',
      'Invalid',
      'spec.size is 8: write a number from 1 to 7',
    ]);
  });

  it('FieldsIgnored names fields that do nothing', () => {
    const { FieldsIgnored } = reportConditions(running({ pod: { busyboxImage: 'busybox:1.28' } }));
    expect(FieldsIgnored).toEqual([
      'True',
      'SomeIgnored',
      'spec.pod.busyboxImage: no longer needed, pods have no init container that waits for DNS',
    ]);
  });
});
