/** What is offered of a quorum that is lost for good, what an approval begins, and what a request is answered. */
import { describe, expect, it } from 'vitest';
import type { EtcdRequest, EtcdRequestSpec } from '../../../src/api/schemas/types.ts';
import { windowOf } from '../../../src/planner/checks/recovery.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { planRecovery, recoverQuorum } from '../../../src/planner/operations/recover/index.ts';
import { settleRequests } from '../../../src/planner/requests/cluster.ts';
import type { Target } from '../../../src/planner/requests/common.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { CLUSTER_ID, FOREIGN, idOf, LONG_AGO, NOW, UID } from '../../worlds/builders.ts';
import { without } from '../../worlds/without-quorum.ts';

const LOST = without([{ lost: true, seen: 43 }, { lost: true }, { revision: 41 }]);
const IDS = [
  `cluster=${CLUSTER_ID}`,
  `survivor=${idOf('example-2')}`,
  'revision=41',
  'lastRevision=43',
  `givenUp=${idOf('example-0')}`,
  `givenUp=${idOf('example-1')}`,
];
const approved = (ids: readonly string[], id: string | number = 'Ab-12'): WorkflowState => ({
  approvals: [{ id, operation: 'recoverQuorum', ids, by: 'ada', expiresAt: LOST.now + 1_000 }],
});
const planned = (observation: Observation, workflowState: WorkflowState = {}) =>
  planRecovery(situationOf(observation, workflowState));
const RESTORE: RestoreOfCluster = {
  ...{
    name: 'example-recovery-1-ab12',
    uid: 'u',
    createdAt: NOW,
    revisionBump: 0,
    confirmClusterId: CLUSTER_ID,
  },
};
const REFUSAL = { kind: 'refused', reason: 'QuorumMayReturn', message: 'no' } as const;

describe('the operation', () => {
  it('is over when the EtcdRestore that it has made is there, or has ended', () => {
    const reached = (restores: readonly RestoreOfCluster[], restoresEnded: readonly string[] = []) =>
      recoverQuorum.isReached?.(
        situationOf({ ...LOST, restores, restoresEnded }, {}),
        { type: 'recoverQuorum', startedAt: NOW, goal: RESTORE.name } as never,
        undefined,
      );
    const survivor = { member: 'example-2', memberID: 'a2', claimUID: 'c', revision: 41, givenUp: [] };
    expect(reached([])).toBe(false);
    expect(reached([RESTORE])).toBe(false);
    expect(reached([{ ...RESTORE, survivor }])).toBe(true);
    expect(reached([], [RESTORE.name])).toBe(true);
  });

  it('is named after the EtcdRestore that it has made, and not after another one', () => {
    const survivor = { member: 'example-2', memberID: 'a2', claimUID: 'c', revision: 41, givenUp: [] };
    const goal = (restores: readonly RestoreOfCluster[]) =>
      recoverQuorum.goal?.(situationOf({ ...LOST, restores }, {}), 'before');
    const source = {
      location: 'survivor://shop/example-2',
      size: 1,
      snapshotSize: 1,
      sha256: '',
      compression: 'none',
    } as const;
    expect(goal([{ ...RESTORE, source }])).toBe('before');
    expect(goal([{ ...RESTORE, source, survivor }])).toBe(RESTORE.name);
  });
});

describe('what is offered', () => {
  it('names every fact, and begins nothing', () => {
    const decision = planned(LOST);
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'QuorumLostForGood',
      consent: { operation: 'recoverQuorum', ids: IDS },
      plan: [{ kind: 'requestRecovery' }],
    });
    expect(decision?.kind === 'blocked' && decision.message).toMatch(
      /at least 2 revisions, 42 to 43, are lost/,
    );
  });

  it('is nothing while a restore waits, or a name of ours is taken', () => {
    expect(planned({ ...LOST, restores: [RESTORE] })).toBeUndefined();
    expect(planned({ ...LOST, clientService: FOREIGN })).toBeUndefined();
    expect(planned(without([{ lost: true }, { noPod: true }, { revision: 41 }]))).toBeUndefined();
  });

  it('comes after the data of a member that does not answer was inspected', () => {
    expect(planned(without([{ lost: true }, { lost: true }, {}]))).toMatchObject({
      kind: 'operate',
      step: { kind: 'inspectSurvivor', member: 'example-2', node: 'node-2' },
    });
  });
});

describe('an approval', () => {
  it('begins exactly what it names, under a name of its own', () => {
    expect(planned(LOST, approved(IDS))).toMatchObject({
      kind: 'operate',
      operation: 'recoverQuorum',
      approval: 'Ab-12',
      step: { kind: 'requestRecovery', name: 'example-recovery-1-ab12', revision: 41, by: 'ada' },
    });
    expect(planned(LOST, approved(IDS, 7))).toMatchObject({ step: { name: 'example-recovery-1-7' } });
  });

  it.each<[string, Observation, WorkflowState]>([
    ['of another revision', LOST, approved(IDS.map(id => id.replace('revision=41', 'revision=40')))],
    ['whose recovery was refused', { ...LOST, restores: [{ ...RESTORE, refusal: REFUSAL }] }, approved(IDS)],
    ['whose recovery has ended', { ...LOST, restoresEnded: [RESTORE.name] }, approved(IDS)],
  ])('%s begins nothing: it is asked for again', (_, observation, workflowState) => {
    expect(planned(observation, workflowState)).toMatchObject({ kind: 'blocked', consent: { ids: IDS } });
  });

  it('begins nothing when a member may come back', () => {
    expect(
      planned(without([{ lost: true }, { noPod: true }, { revision: 41 }]), approved(IDS)),
    ).toBeUndefined();
  });
});

describe('the operation', () => {
  it('has succeeded when its EtcdRestore is there, or has ended', () => {
    const recorded = { type: 'recoverQuorum', startedAt: NOW, goal: 'gone' };
    const reached = (given: Partial<Observation>) =>
      recoverQuorum.isReached(situationOf({ ...LOST, ...given }, {}), recorded);
    const survivor = {
      ...{ member: 'example-2', memberID: 'a2', claimUID: 'c', revision: 41, givenUp: ['a0', 'a1'] },
    };
    expect(reached({})).toBe(false);
    expect(reached({ restores: [RESTORE] })).toBe(false);
    expect(reached({ restores: [{ ...RESTORE, survivor, createdAt: LONG_AGO }] })).toBe(false);
    expect(reached({ restores: [{ ...RESTORE, survivor }] })).toBe(true);
    expect(reached({ restoresEnded: ['gone'] })).toBe(true);
  });
});

describe('a request', () => {
  const FACTS = {
    clusterID: CLUSTER_ID,
    revision: 41,
    lastRevision: 43,
    givenUp: [idOf('example-0'), idOf('example-1')],
  };
  const request = (change: Partial<NonNullable<EtcdRequestSpec['recovery']>> = {}): EtcdRequest => ({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: { namespace: 'shop', name: 'r', uid: 'r-uid', creationTimestamp: NOW },
    spec: {
      clusterRef: { name: 'example' },
      action: 'RecoverQuorum',
      by: 'ada',
      member: idOf('example-2'),
      recovery: { ...FACTS, ...change },
    },
  });
  const target: Target = {
    kind: 'EtcdCluster',
    namespace: 'shop',
    name: 'example',
    workflowId: 'w',
    createdAt: 0,
  };
  const settle = (asked: EtcdRequest, given: Partial<Observation> = {}, workflowState: WorkflowState = {}) =>
    settleRequests(situationOf({ ...LOST, ...given, requests: [asked] }, workflowState), target);

  it('that names all of it becomes an approval, once', () => {
    const { holds, changes } = settle(request());
    expect(holds?.approvals).toMatchObject([
      { operation: 'recoverQuorum', ids: IDS, by: 'ada', request: 'r-uid' },
    ]);
    expect(changes).toMatchObject([{ outcome: { state: 'done', ids: IDS } }]);
    const status = { ...LOST.cluster.status, userRequests: holds };
    const cluster = { ...LOST.cluster, status } as Observation['cluster'];
    expect(settle(request(), { cluster }).holds?.approvals).toHaveLength(1);
    expect(settle(request(), {}, { spent: ['r-uid'] }).holds).toBeUndefined();
  });

  it('that was accepted before its approval was written is approved as it was accepted', () => {
    const asked = {
      ...request(),
      status: { phase: 'Accepted' as const, workflowID: 'w', ids: IDS, message: 'm' },
    };
    expect(settle(asked).holds?.approvals).toMatchObject([{ ids: IDS }]);
  });

  it.each<[string, EtcdRequest, Partial<Observation>, string]>([
    ['while an EtcdRestore waits', request(), { restores: [RESTORE] }, 'comes first'],
    [
      'that gives up somebody else',
      request({ givenUp: [...FACTS.givenUp, 'ff'] }),
      {},
      'ff is no other member',
    ],
    ['of another window', request({ lastRevision: 42 }), {}, 'the highest revision that was observed is 43'],
  ])('%s is refused', (_, asked, given, why) => {
    const [change] = settle(asked, given).changes;
    expect(change?.outcome).toMatchObject({ state: 'refused', message: expect.stringContaining(why) });
  });

  it('is judged beside a recovery that was refused before', () => {
    const restores = [{ ...RESTORE, uid: UID, refusal: REFUSAL }];
    expect(settle(request(), { restores }).holds?.approvals).toHaveLength(1);
  });
});

it('the window says nothing of a time that nobody knows', () => {
  const survivor = { name: 'example-2', id: 'a2', claimUid: 'c', raftIndex: '1' };
  const window = windowOf({ clusterId: 'c', survivor, revision: 4, lastRevision: 4, givenUp: [] });
  expect(window).toBe('example-2 has revision 4: no revision above 4 was observed');
});
