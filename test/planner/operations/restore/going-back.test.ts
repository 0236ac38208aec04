/** How an incarnation that is kept is gone back to, and left again. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_KEPT_INCARNATION } from '../../../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../../../src/api/schemas/types.ts';
import { stampedToken } from '../../../../src/planner/model/identity.ts';
import type { ClaimFacts, Observation } from '../../../../src/planner/model/observation.ts';
import type { RestoreOfCluster } from '../../../../src/planner/model/restore-of-cluster.ts';
import type { WorkflowState } from '../../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../../src/planner/plan.ts';
import {
  aClaim,
  aCluster,
  anIncarnation,
  anObservation,
  aPod,
  aRunningCluster,
  aRunningStatus,
  ABSENT,
  CLUSTER_ID,
  LONG_AGO,
  namesOf,
  NOW,
  OURS,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
} from '../../../worlds/builders.ts';

const OLD = 'example-0b7e6e34-0';
const MEMBERS = ['example-5', 'example-6', 'example-7'];
const NOTE = {
  token: OLD,
  clusterID: 'beef',
  since: LONG_AGO,
  revision: 4_711,
  members: MEMBERS.map(name => ({ name, id: `id-${name}` })),
};
const RESTORE: RestoreOfCluster = {
  name: 'return',
  uid: 'return-uid',
  createdAt: NOW,
  confirmClusterId: CLUSTER_ID,
  revisionBump: 0,
  incarnation: OLD,
  source: { location: 'incarnation://shop/x', size: 0, sha256: '', snapshotSize: 0, compression: 'none' },
};

const kept = (name: string, given: Partial<ClaimFacts> = {}): ClaimFacts =>
  aClaim({
    owned: false,
    keptByRestore: true,
    token: OLD,
    clusterId: 'beef',
    annotations: { [ANNOTATION_KEPT_INCARNATION]: JSON.stringify(NOTE) },
    ...given,
    name,
  });

const own = namesOf(3).map(name => aClaim({ name }));

/** Asked for, and the members of now are stopped. */
function fenced(claims = MEMBERS.map(name => kept(name))): Observation {
  return {
    ...aRunningCluster({ claims: [...own, ...claims], restores: [RESTORE] }),
    pods: [],
    probes: {},
    membership: UNKNOWN_MEMBERSHIP,
    clientService: ABSENT,
  };
}

/** It was switched to, and clients were not let in. */
function switched(given: Partial<Observation> = {}, status: EtcdClusterStatus = {}): Observation {
  const { incarnation } = aRunningStatus();
  const restore = { name: 'return', uid: 'return-uid', location: '', revision: 4_711, returned: true };
  const cluster = aCluster({
    spec: { size: 3 },
    status: {
      ...aRunningStatus(),
      incarnation: { ...anIncarnation(), token: OLD, members: [], restore },
      clusterID: 'beef',
      members: { details: MEMBERS.map(name => ({ name, health: 'Unknown' })) },
      previousIncarnation: { incarnation, clusterID: CLUSTER_ID, members: namesOf(3) },
      ...status,
    } as EtcdClusterStatus,
  });
  return anObservation({
    cluster,
    claims: [
      ...MEMBERS.map(name => kept(name, { owned: true, keptByRestore: false })),
      ...namesOf(3).map(name => aClaim({ name, owned: false, keptByRestore: true })),
    ],
    peerService: OURS,
    disruptionBudget: OURS,
    clientService: ABSENT,
    restores: [RESTORE],
    ...given,
  });
}

describe('going back', () => {
  it('keeps clients out and stops the members that run first, when all that starts was tried', () => {
    const running = aRunningCluster({
      claims: [...own, ...MEMBERS.map(name => kept(name))],
      restores: [RESTORE],
    });
    expect(plan(running, {})).toMatchObject({
      operation: 'restoreCluster',
      subject: 'return-uid',
      step: { kind: 'fenceMembers', trial: { incarnation: { token: OLD, restore: { returned: true } } } },
      plan: [
        { kind: 'fenceMembers' },
        { kind: 'switchIncarnation' },
        ...MEMBERS.map(() => ({ kind: 'restartMember' })),
        { kind: 'concludeRestore' },
      ],
    });
  });

  it('records the incarnation as it was, with what its members had, and keeps what ran', () => {
    expect(plan(fenced(), {})).toMatchObject({
      step: {
        kind: 'switchIncarnation',
        from: TOKEN,
        version: '3.6.16',
        incarnation: {
          token: OLD,
          createdAt: LONG_AGO,
          members: MEMBERS.map(name => ({ name })),
          restore: { name: 'return', revision: 4_711, returned: true },
        },
        keep: own.map(({ name, uid }) => ({ name, uid })),
        back: {
          clusterId: 'beef',
          members: NOTE.members,
          claims: MEMBERS.map(name => ({ name, uid: `claim-${name}` })),
        },
      },
    });
  });

  it('starts each member with what ran on its data', () => {
    const [first = '', ...others] = MEMBERS;
    const claims = [kept(first, { version: '3.6.15' }), ...others.map(name => kept(name))];
    const decision = plan(fenced(claims), {});
    expect(decision).toMatchObject({ step: { version: '3.6.15' } });
    expect(decision.kind === 'operate' && decision.plan.map(({ summary }) => summary)).toEqual(
      expect.arrayContaining([expect.stringContaining('start example-6'), expect.stringContaining('3.6.16')]),
    );
  });

  it('starts the members when it is recorded, and lets no client in', () => {
    const decision = plan(switched(), {});
    expect(decision).toMatchObject({
      operation: 'restoreCluster',
      step: { kind: 'restartMember', token: OLD, member: 'example-5' },
    });
    expect(JSON.stringify(decision)).not.toContain('clientService');
  });
});

describe('what is gone back to', () => {
  const aborted: WorkflowState = {
    aborted: { operation: 'restoreCluster', generation: 1, subject: 'return-uid', by: 'ada' },
  };

  it('is left again when its EtcdRestore is deleted, and no claim of it is', () => {
    expect(plan(switched({ restores: [] }), {})).toMatchObject({
      step: {
        kind: 'revertRestore',
        claims: [],
        kept: namesOf(3).map(name => ({ name, uid: `claim-${name}` })),
        again: { keep: MEMBERS.map(name => ({ name, uid: `claim-${name}` })) },
      },
      undo: true,
    });
    const pods = MEMBERS.map(name => aPod({ name, token: OLD }));
    expect(plan(switched({ restores: [], pods }), {})).toMatchObject({ step: { kind: 'fenceMembers' } });
  });

  it('is left again when that is aborted', () => {
    expect(plan(switched(), aborted)).toMatchObject({ step: { kind: 'abandonRestore' }, undo: true });
  });

  it('stays when clients were let in', () => {
    const open = switched({ restores: [], clientService: OURS });
    expect(plan(open, {})).toMatchObject({ step: { kind: 'restartMember' } });
  });
});

describe('the incarnation of now, when the status was lost', () => {
  const last = 'example-0b7e6e34-2';
  const lost = (claims: readonly ClaimFacts[], status?: EtcdClusterStatus) => {
    const cluster = status === undefined ? aCluster() : aCluster({ status });
    return stampedToken({ cluster: { ...cluster, status: {} }, claims, pods: [] });
  };

  it.each<[string, readonly ClaimFacts[], EtcdClusterStatus | undefined, string | undefined]>([
    ['the last one', [aClaim(), aClaim({ name: 'example-9', token: last })], undefined, last],
    [
      'the one that is not kept aside, whatever the resource is stamped with',
      [aClaim(), aClaim({ name: 'example-9', token: last, keptByRestore: true })],
      { ...aRunningStatus(), incarnation: { ...anIncarnation(), token: last } },
      TOKEN,
    ],
    [
      'the one that the resource is stamped with, when all are kept aside',
      [aClaim({ keptByRestore: true }), aClaim({ name: 'example-9', token: last, keptByRestore: true })],
      aRunningStatus(),
      TOKEN,
    ],
    [
      'the last one, when all are kept aside and the resource says nothing',
      [aClaim({ keptByRestore: true }), aClaim({ name: 'example-9', token: last, keptByRestore: true })],
      undefined,
      last,
    ],
    ['the one of the resource, when nothing else is left', [], aRunningStatus(), TOKEN],
    ['none', [], undefined, undefined],
  ])('is %s', (_, claims, status, expected) => {
    expect(lost(claims, status)).toBe(expected);
  });
});
