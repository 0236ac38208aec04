/** Whose data a restore may overwrite: that of a cluster which a person names, or which is proved lost volume by volume. */
import { describe, expect, it } from 'vitest';
import type { ClaimFacts, Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { whyNotAccepted } from '../../../src/planner/checks/restore-acceptance.ts';
import type { EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { planHibernation } from '../../../src/planner/operations/hibernate/index.ts';
import { plan } from '../../../src/planner/plan.ts';
import { memberStatus, observedMembers } from '../../../src/planner/report/members.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  anObservation,
  aPod,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  namesOf,
  NOW,
  OURS,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const RESTORE: RestoreOfCluster = {
  name: 'restore',
  uid: 'restore-uid',
  createdAt: NOW,
  source: { location: 's3://backups/1', size: 10, sha256: '', snapshotSize: 10, compression: 'none' },
  confirmClusterId: '',
  revisionBump: 0,
};
const CONFIRMED = { ...RESTORE, confirmClusterId: CLUSTER_ID };
const NAMES = namesOf(3);
const GRACE_MS = 600_000;

/** A cluster of three of which no quorum answers: these pods and claims are left. */
function silent({
  pods = [],
  claims = NAMES.map(name => aClaim({ name })),
  spec = {},
  lostForMs = 0,
}: {
  readonly pods?: readonly PodFacts[];
  readonly claims?: readonly ClaimFacts[];
  readonly spec?: object;
  readonly lostForMs?: number;
} = {}): Observation {
  const lostSince = new Date(Date.parse(NOW) - lostForMs).toISOString();
  const details = NAMES.map(name => ({
    name,
    health: 'Unhealthy' as const,
    ...(lostForMs > 0 && { lostSince }),
  }));
  const status = { ...aRunningStatus(), members: { details } };
  const cluster = aCluster({ spec: { size: 3, ...spec }, status });
  return anObservation({
    cluster,
    pods,
    claims,
    peerService: OURS,
    clientService: OURS,
    disruptionBudget: OURS,
    membership: UNKNOWN_MEMBERSHIP,
  });
}

const gone = (name: string): ClaimFacts => aClaim({ name, home: { node: `node-of-${name}`, exists: false } });

describe('a restore over a cluster whose id is known', () => {
  const pulling = { reason: 'ImagePullBackOff', message: 'no such image' };
  it.each<[string, Observation]>([
    ['that has quorum', aRunningCluster()],
    [
      'of which two of three pods were evicted',
      silent({
        pods: [
          aPod({ name: 'example-0' }),
          ...['example-1', 'example-2'].map(name => aPod({ name, phase: 'Failed', ready: false })),
        ],
      }),
    ],
    [
      'of which two of three cannot pull their image',
      silent({
        pods: [
          aPod({ name: 'example-0' }),
          ...['example-1', 'example-2'].map(name =>
            aPod({ name, phase: 'Pending', ready: false, trouble: pulling }),
          ),
        ],
      }),
    ],
    ['that has no pod, as while it wakes', silent()],
    [
      'that sleeps while its nodes are off',
      silent({ claims: NAMES.map(gone), spec: { hibernated: true }, lostForMs: GRACE_MS }),
    ],
    [
      'whose volumes are at unknown places',
      silent({
        claims: NAMES.map(name => aClaim({ name, home: { node: 'of some label', exists: undefined } })),
        lostForMs: GRACE_MS,
      }),
    ],
    ['that sleeps', silent({ spec: { hibernated: true } })],
    [
      'one volume of which is there',
      silent({
        claims: [gone('example-0'), gone('example-1'), aClaim({ name: 'example-2' })],
        lostForMs: GRACE_MS,
      }),
    ],
    [
      'whose nodes have been gone for less than the grace',
      silent({ claims: NAMES.map(gone), lostForMs: GRACE_MS - 1_000 }),
    ],
    ['whose nodes are gone, as was seen just now', silent({ claims: NAMES.map(gone) })],
  ])('%s is refused without its id', (_, observation) => {
    const refusal = whyNotAccepted(situationOf(observation), RESTORE);
    expect(refusal).toMatchObject({ kind: 'refused', reason: 'NotConfirmed' });
    expect(refusal?.message).toContain(CLUSTER_ID);
    const decision = plan({ ...observation, restores: [RESTORE] }, {});
    expect(decision).not.toMatchObject({ operation: 'restoreCluster' });
  });

  it('is refused with the name of the claim that the status does not list, when all others are lost', () => {
    const observation = silent({ claims: [aClaim({ name: 'example-3' })], lostForMs: GRACE_MS });
    const refusal = whyNotAccepted(situationOf(observation), RESTORE);
    expect(refusal?.message).toContain('does not prove that the data of example-3 is lost');
  });

  it('is refused while another id is confirmed, also after a total loss, with the right id in the message', () => {
    for (const observation of [aRunningCluster(), silent({ claims: [], lostForMs: GRACE_MS })]) {
      const refusal = whyNotAccepted(situationOf(observation), { ...RESTORE, confirmClusterId: 'abcdef' });
      expect(refusal).toMatchObject({ kind: 'refused', reason: 'WrongClusterID' });
      expect(refusal?.message).toContain(CLUSTER_ID);
    }
  });

  it('begins when its id is confirmed', () => {
    expect(whyNotAccepted(situationOf(aRunningCluster()), CONFIRMED)).toBeUndefined();
    expect(whyNotAccepted(situationOf(silent()), CONFIRMED)).toBeUndefined();
  });

  it.each<[string, Observation]>([
    ['its claims are gone', silent({ claims: [] })],
    ['its nodes have been gone for the grace', silent({ claims: NAMES.map(gone), lostForMs: GRACE_MS })],
  ])('begins without when every volume is proved lost: %s', (_, observation) => {
    expect(whyNotAccepted(situationOf(observation), RESTORE)).toBeUndefined();
    expect(plan({ ...observation, restores: [RESTORE] }, {})).toMatchObject({ operation: 'restoreCluster' });
  });
});

describe('a restore over a cluster whose status was lost', () => {
  const lost = (given: Partial<Observation>): Observation =>
    anObservation({ claims: NAMES.map(name => aClaim({ name })), namesSeen: NAMES, ...given });

  it('is refused without the id that its claims are stamped with, and the status is recorded again', () => {
    const observation = lost({});
    expect(whyNotAccepted(situationOf(observation), RESTORE)).toMatchObject({
      kind: 'refused',
      reason: 'NotConfirmed',
    });
    expect(plan({ ...observation, restores: [RESTORE] }, {})).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'recordIncarnation', clusterId: CLUSTER_ID },
    });
  });

  it('waits until it is recorded again when that id is confirmed', () => {
    expect(whyNotAccepted(situationOf(lost({})), CONFIRMED)).toMatchObject({
      kind: 'waits',
      reason: 'StatusLost',
    });
    expect(plan({ ...lost({}), restores: [CONFIRMED] }, {})).toMatchObject({ operation: 'repairCluster' });
  });

  it('begins again when its status was lost in the middle of it', () => {
    const seed = aClaim({ name: 'example-3', token: TOKEN.replace(/1$/, '2'), clusterId: undefined });
    const observation = lost({ claims: [...NAMES.map(name => aClaim({ name })), seed] });
    expect(whyNotAccepted(situationOf(observation), RESTORE)).toMatchObject({
      kind: 'refused',
      reason: 'NotConfirmed',
    });
    expect(whyNotAccepted(situationOf(observation), CONFIRMED)).toBeUndefined();
  });

  it('waits while nothing shows the cluster id', () => {
    const claims = NAMES.map(name => aClaim({ name, clusterId: undefined }));
    expect(whyNotAccepted(situationOf(lost({ claims })), RESTORE)).toMatchObject({
      kind: 'waits',
      reason: 'IdentityUnknown',
    });
    expect(whyNotAccepted(situationOf(lost({ claims })), CONFIRMED)).toMatchObject({ kind: 'waits' });
  });

  it('waits when clients were let in, and only the id is missing', () => {
    const { clusterID: _, ...status } = aRunningStatus();
    const claims = NAMES.map(name => aClaim({ name, clusterId: undefined }));
    const observation = anObservation({ cluster: aCluster({ status }), claims, clientService: OURS });
    expect(whyNotAccepted(situationOf(observation), RESTORE)).toMatchObject({
      kind: 'waits',
      reason: 'IdentityUnknown',
    });
  });
});

it.each([
  ['confirmed', CONFIRMED],
  ['not confirmed', RESTORE],
])(
  'a restore that is %s waits while another one is in the middle: it is not known which cluster it will be',
  (_, restore) => {
    const { clusterID: _id, ...status } = aRunningStatus(1);
    const under = { ...anIncarnation(1), restore: { name: 'other', uid: 'other-uid' } };
    const cluster = aCluster({ status: { ...status, incarnation: under } });
    const membership = { ...aMembership(['example-0']), clusterId: 'abcdef' };
    const observation = anObservation({ cluster, membership });
    expect(whyNotAccepted(situationOf(observation), restore)).toMatchObject({
      kind: 'waits',
      reason: 'AnotherRestore',
    });
  },
);

it('a cluster that was put to sleep in the middle of a restore says what wakes it, and so does the restore that comes next (seed 30020)', () => {
  const under = { ...anIncarnation(1), restore: { name: 'other', uid: 'other-uid' } };
  const status: EtcdClusterStatus = { ...aRunningStatus(1), phase: 'Creating', incarnation: under };
  const cluster = aCluster({ spec: { hibernated: true, size: 1 }, status });
  const observation = situationOf(
    anObservation({
      cluster,
      claims: [aClaim()],
      peerService: OURS,
      clientService: OURS,
      disruptionBudget: OURS,
    }),
  );
  expect(whyNotAccepted(observation, RESTORE)).toMatchObject({
    reason: 'AnotherRestore',
    message: expect.stringContaining('set its spec.hibernated to false') as string,
  });
  expect(planHibernation(observation)).toMatchObject({
    kind: 'blocked',
    reason: 'Hibernated',
    message:
      'the cluster is hibernated, so the restore from EtcdRestore other waits: set spec.hibernated to false to continue',
  });
});

it('a cluster that was never there is restored into without a word', () => {
  expect(whyNotAccepted(situationOf(anObservation()), RESTORE)).toBeUndefined();
});

it('the time after which volumes count as lost does not pass while the cluster sleeps', () => {
  const since = (observation: Observation) =>
    memberStatus(observedMembers(situationOf(observation))).details?.map(({ lostSince }) => lostSince);
  const claims = NAMES.map(gone);
  const asleep = silent({ claims, spec: { hibernated: true }, lostForMs: GRACE_MS });
  expect(since(asleep)).toEqual(NAMES.map(() => undefined));
  expect(since(silent({ claims }))).toEqual(NAMES.map(() => NOW));
});

describe('a restore that was refused', () => {
  const refusal = { kind: 'refused', reason: 'NotConfirmed', message: 'as it was' } as const;

  it('stays so when every volume is lost later', () => {
    const observation = silent({ claims: [] });
    expect(whyNotAccepted(situationOf(observation), { ...RESTORE, refusal })).toEqual(refusal);
    const decision = plan({ ...observation, restores: [{ ...RESTORE, refusal }] }, {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'AllVolumesLost' });
  });

  it('holds up no other', () => {
    const other = { ...CONFIRMED, name: 'other', uid: 'other-uid', createdAt: '2026-11-21T11:00:00Z' };
    const restores = [{ ...RESTORE, refusal }, other];
    expect(whyNotAccepted(situationOf({ ...aRunningCluster(), restores }), other)).toBeUndefined();
    expect(plan({ ...aRunningCluster(), restores }, {})).toMatchObject({
      operation: 'restoreCluster',
      subject: 'other-uid',
    });
  });
});

it('a restore that was aborted before it began is abandoned, and nothing is undone', () => {
  const aborted = { operation: 'restoreCluster', subject: CONFIRMED.uid, generation: 1, by: 'me' };
  expect(plan({ ...aRunningCluster(), restores: [CONFIRMED] }, { aborted })).toMatchObject({
    operation: 'restoreCluster',
    subject: CONFIRMED.uid,
    step: { kind: 'abandonRestore', because: 'aborted by me' },
    plan: [{ kind: 'abandonRestore' }],
  });
});

describe('the restore that the operator made after a total loss', () => {
  const rescue = { ...RESTORE, onlyAfterTotalLoss: true };
  const spec = { recovery: { totalLoss: 'RestoreLatestBackup' } };

  it.each<[string, Observation]>([
    ['a volume is there again', silent({ spec })],
    ['the specification asks for it no more', silent({ claims: [] })],
  ])('is refused when %s', (_, observation) => {
    expect(whyNotAccepted(situationOf(observation), rescue)).toMatchObject({
      kind: 'refused',
      reason: 'NotLost',
    });
  });

  it('begins while that is so', () => {
    expect(whyNotAccepted(situationOf(silent({ claims: [], spec })), rescue)).toBeUndefined();
  });

  it('is asked for beside one that was refused, and once', () => {
    const newest = { time: NOW, location: 's3://backups/1', verified: 'Checksum' as const };
    const backup = { name: 'nightly', uid: 'u-1', newest, lastRun: undefined, nextRun: undefined };
    const backups = [{ ...backup, timeoutSeconds: 600 }];
    const refusal = { kind: 'refused', reason: 'NotConfirmed', message: 'as it was' } as const;
    const beside = (name: string) =>
      plan({ ...silent({ claims: [], spec }), backups, restores: [{ ...RESTORE, name, refusal }] }, {});
    expect(beside('by-hand')).toMatchObject({
      step: { kind: 'requestRestore', name: 'example-total-loss-0b7e6e34-1', backup: 'nightly' },
    });
    expect(beside('example-total-loss-0b7e6e34-1')).toMatchObject({ kind: 'blocked' });
  });
});
