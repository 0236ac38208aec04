/** What becomes of the EtcdRequests of a cluster. */
import { describe, expect, it } from 'vitest';
import type { EtcdRequest, EtcdRequestSpec, EtcdRequestStatus } from '../../../src/api/schemas/types.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import { settleRequests } from '../../../src/planner/requests/cluster.ts';
import { orphaned, unfit } from '../../../src/planner/requests/common.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  ABSENT,
  aCluster,
  anIncarnation,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
} from '../../worlds/builders.ts';

const WORKFLOW = 'etcdcluster/shop/example/0b7e6e34';
const { now: NOW } = aRunningCluster();
const at = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');

function request(
  spec: Pick<EtcdRequestSpec, 'action'> & Partial<EtcdRequestSpec>,
  {
    uid = spec.action,
    age = 5_000,
    status,
  }: { readonly uid?: string; readonly age?: number; readonly status?: EtcdRequestStatus } = {},
): EtcdRequest {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdRequest',
    metadata: { namespace: 'shop', name: uid.toLowerCase(), uid, creationTimestamp: at(NOW - age) },
    spec: { clusterRef: { name: 'example' }, by: 'ana', ...spec },
    ...(status && { status }),
  };
}

const accepted = (ids: readonly string[], acceptedAt = NOW - 1_000): EtcdRequestStatus => ({
  phase: 'Accepted',
  workflowID: WORKFLOW,
  ids,
  conditions: [
    { type: 'Accepted', status: 'True', reason: 'Taken', message: '', lastTransitionTime: at(acceptedAt) },
  ],
});

interface Given {
  readonly observation?: Observation;
  readonly workflowState?: WorkflowState;
  readonly userRequests?: NonNullable<Observation['cluster']['status']['userRequests']>;
  readonly createdAt?: number;
}

function settle(
  requests: readonly EtcdRequest[],
  { observation = aRunningCluster(), workflowState = {}, userRequests, createdAt = 0 }: Given = {},
) {
  const status = { ...observation.cluster.status, ...(userRequests && { userRequests }) };
  const seen = { ...observation, requests, cluster: { ...observation.cluster, status } };
  const target = {
    kind: 'EtcdCluster',
    namespace: 'shop',
    name: 'example',
    workflowId: WORKFLOW,
    createdAt,
  } as const;
  const settled = settleRequests(situationOf(seen, workflowState), target);
  const outcomes = settled.changes.map(({ accepted: first, outcome }) => [first?.state, outcome?.state]);
  const messages = settled.changes.map(({ accepted: first, outcome }) => (outcome ?? first)?.message);
  return { ...settled, outcomes, messages, decision: plan(seen, settled.workflowState) };
}

const HELD = { request: 'Pause', by: 'bob', at: at(NOW - 60_000) };
const AT_ONCE = ['accepted', 'done'];
const REFUSED = [undefined, 'refused'];
/** One member cannot be asked: it is replaced with the consent of a person. */
const UPGRADE = { operation: 'upgradeCluster', generation: 1 };

/** An operation that was begun: the specification wants another size. */
function growing(): Observation {
  const observation = aRunningCluster();
  const { cluster } = observation;
  const operation = { type: 'scaleCluster' };
  return {
    ...observation,
    cluster: { ...cluster, config: { ...cluster.config, size: 4 }, status: { ...cluster.status, operation } },
  };
}

describe('a request that is not for this cluster now', () => {
  it.each([
    ['it has expired', request({ action: 'Pause', expiresAfterSeconds: 10 }, { age: 11_000 }), {}, 'expired'],
    [
      'the cluster of that time was deleted',
      request({ action: 'Pause' }),
      { createdAt: NOW + 6_000 },
      'missing',
    ],
    [
      'the workflow of another cluster had it',
      request({ action: 'Pause' }, { status: { phase: 'Pending', workflowID: 'other' } }),
      {},
      'missing',
    ],
    [
      'another cluster had accepted it',
      request({ action: 'Restart' }, { status: { ...accepted(['a']), workflowID: 'other' } }),
      {},
      'gone',
    ],
    ['its action is of a later release', request({ action: 'Explode' as 'Pause' }), {}, 'refused'],
    ['its action is for backups', request({ action: 'BackupNow' }), {}, 'refused'],
  ])('ends when %s', (_, asked, given, state) => {
    const { outcomes, holds } = settle([asked], given);
    expect(outcomes).toEqual([[undefined, state]]);
    expect(holds).toBeUndefined();
  });

  it('is accepted when the cluster was created a moment after it', () => {
    expect(settle([request({ action: 'Pause' })], { createdAt: NOW + 4_000 }).outcomes).toEqual([AT_ONCE]);
  });

  it('is refused while there is none', () => {
    const target = { kind: 'EtcdCluster', namespace: 'shop', name: 'example', workflowId: WORKFLOW } as const;
    expect(unfit(request({ action: 'Pause' }), { ...target, createdAt: undefined }, Number(NOW))).toEqual({
      state: 'missing',
      message: 'there is no EtcdCluster example of namespace shop',
    });
  });

  it('ends with the resource, unless the next of the name is meant', () => {
    const target = { kind: 'EtcdCluster', namespace: 'shop', name: 'example', workflowId: WORKFLOW } as const;
    const now = Number(NOW);
    const ends = (each: EtcdRequest, other?: number) =>
      orphaned([each], target, { now, other }).map(({ outcome }) => outcome?.state);
    expect(ends(request({ action: 'Pause' }, { age: 1_000 }))).toEqual([]);
    expect(ends(request({ action: 'Pause' }, { age: 3_600_000 }))).toEqual(['missing']);
    expect(ends(request({ action: 'Pause' }, { age: 3_600_000 }), 7)).toEqual([]);
    expect(ends(request({ action: 'Abort' }, { status: accepted([]) }), 7)).toEqual(['gone']);
  });

  it('is left alone when it is finished', () => {
    const done = request({ action: 'Pause' }, { status: { phase: 'Completed', completedAt: at(NOW) } });
    expect(settle([done]).changes).toEqual([]);
  });
});

describe('a pause', () => {
  it('holds from the pass that accepts it, and in every later one without its object', () => {
    const first = settle([request({ action: 'Pause', reason: 'maintenance' })]);
    expect(first.outcomes).toEqual([AT_ONCE]);
    expect(first.holds?.pause).toMatchObject({ request: 'Pause', by: 'ana', reason: 'maintenance' });
    expect(first.workflowState.paused).toEqual({ by: 'ana', reason: 'maintenance' });
    expect(settle([], { userRequests: { pause: HELD } }).workflowState.paused).toEqual({ by: 'bob' });
  });

  it('begins once: not again when a message has ended it before its request was finished', () => {
    const again = request({ action: 'Pause' }, { status: accepted([]) });
    const { holds, outcomes, workflowState } = settle([again], {
      userRequests: { pause: HELD },
      workflowState: { spent: ['Pause'] },
    });
    expect(holds).toBeUndefined();
    expect(outcomes).toEqual([AT_ONCE]);
    expect(workflowState).toEqual({});
  });

  it('ends with a Resume, which is refused when nothing is paused', () => {
    const { holds, outcomes, workflowState } = settle([request({ action: 'Resume' })], {
      userRequests: { pause: HELD },
    });
    expect([holds, outcomes, workflowState]).toEqual([undefined, [AT_ONCE], {}]);
    expect(settle([request({ action: 'Resume' })]).outcomes).toEqual([REFUSED]);
  });

  it('by a message ends with a Resume when the workflow has forgotten it', () => {
    const paused = { by: 'bob', at: 7 };
    const first = settle([request({ action: 'Resume' })], { workflowState: { paused } });
    expect(first.outcomes).toEqual([['accepted', undefined]]);
    expect(first.revoked).toEqual({ paused });
    expect(first.workflowState).toEqual({});
    const resume = request({ action: 'Resume' }, { status: accepted(['pause 7']) });
    expect(settle([resume], { workflowState: { paused } }).revoked).toEqual({ paused });
    expect(settle([resume]).outcomes).toEqual([AT_ONCE]);
  });

  it('that begins after a Resume was accepted is not ended by it', () => {
    const later = { by: 'bob', at: 8 };
    const resume = request({ action: 'Resume' }, { status: accepted(['pause 7']) });
    const { outcomes, workflowState, revoked } = settle([resume], { workflowState: { paused: later } });
    expect([outcomes, workflowState.paused, revoked]).toEqual([[AT_ONCE], later, {}]);
  });

  it('and its end are judged in the order of their creation', () => {
    const pause = request({ action: 'Pause' }, { age: 3_000 });
    const resume = request({ action: 'Resume' }, { age: 2_000 });
    expect(settle([resume, pause]).holds).toBeUndefined();
    expect(settle([resume, pause]).outcomes).toEqual([AT_ONCE, AT_ONCE]);
  });
});

describe('an abort', () => {
  it('ends the operation that was begun, and keeps it from beginning again', () => {
    const { outcomes, messages, holds, decision } = settle([request({ action: 'Abort' })], {
      observation: growing(),
    });
    expect([outcomes, messages]).toEqual([[AT_ONCE], ['scaleCluster ends at its next step']]);
    expect(holds?.abort).toMatchObject({ request: 'Abort', operation: 'scaleCluster', generation: 1 });
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
  });

  it('is refused when no operation was begun', () => {
    const observation = growing();
    const { operation: _, ...status } = observation.cluster.status;
    const idle = { ...observation, cluster: { ...observation.cluster, status } };
    const { outcomes, decision } = settle([request({ action: 'Abort' })], { observation: idle });
    expect(outcomes).toEqual([REFUSED]);
    expect(decision).toMatchObject({ kind: 'operate', operation: 'scaleCluster' });
  });

  it('withdraws what waits: requests, and messages when the workflow has forgotten them', () => {
    const replace = request({ action: 'ReplaceMember', member: 'example-1' }, { age: 9_000 });
    const message = { id: 4, kind: 'restart', target: '', by: 'bob' } as const;
    const { outcomes, verdicts, workflowState } = settle([replace, request({ action: 'Abort' })], {
      workflowState: { requests: [message] },
    });
    expect(outcomes).toEqual([
      ['accepted', 'aborted'],
      ['accepted', undefined],
    ]);
    expect(verdicts).toMatchObject([{ id: 4, outcome: 'refused' }]);
    expect(workflowState.requests).toBeUndefined();
    const abort = request({ action: 'Abort' }, { status: accepted(['requests', '4']) });
    expect(settle([abort], { workflowState: { requests: [message] } }).outcomes).toEqual([
      ['accepted', undefined],
    ]);
    expect(settle([abort]).outcomes).toEqual([AT_ONCE]);
  });

  it('leaves other requests of the pass as they are, and keeps the answer with which it was accepted', () => {
    const restart = { id: 4, kind: 'restart', target: '', by: 'bob' } as const;
    const status = { ...accepted(['requests', '4']), message: 'as before' };
    const { outcomes, messages } = settle(
      [request({ action: 'Pause' }, { age: 9_000 }), request({ action: 'Abort' }, { status })],
      { workflowState: { requests: [restart] } },
    );
    expect([outcomes, messages[1]]).toEqual([[AT_ONCE, ['accepted', undefined]], 'as before']);
  });

  it('takes back the request that is carried out now', () => {
    const move = request({ action: 'MoveLeader', member: 'example-1' }, { age: 9_000 });
    const { changes, decision } = settle([move]);
    expect(decision).toMatchObject({ kind: 'operate', operation: 'moveLeader' });
    const running = aRunningCluster();
    const status = { ...running.cluster.status, operation: { type: 'moveLeader' } };
    const observation = { ...running, cluster: { ...running.cluster, status } };
    const begun = { ...move, status: accepted(changes[0]?.accepted?.ids ?? []) };
    const { outcomes, holds } = settle([begun, request({ action: 'Abort' })], { observation });
    expect([outcomes, holds]).toEqual([[[undefined, 'aborted'], AT_ONCE], undefined]);
  });

  it('of what waits for an approval keeps it from being done', () => {
    const pods = namesOf(3).map(name => aPod({ name, version: '3.6.15' }));
    const probes = Object.fromEntries(namesOf(3).map(name => [name, aProbe({ name, version: '3.6.15' })]));
    const { cluster } = aRunningCluster();
    const upgrade = { ...cluster.config.upgrade, strategy: 'Supervised' as const };
    const observation = aRunningCluster({
      pods,
      probes,
      cluster: { ...cluster, config: { ...cluster.config, upgrade } },
    });
    const { holds, messages } = settle([request({ action: 'Abort' })], { observation });
    expect(holds?.abort).toMatchObject({ operation: 'upgradeCluster' });
    expect(messages).toEqual([expect.stringContaining('upgradeCluster')]);
  });

  it('of an upgrade that waits for its members to be well keeps it from going on when they are', () => {
    const names = namesOf(3);
    const versions = ['3.6.16', '3.6.15', '3.6.15'];
    const pods = names.map((name, index) => aPod({ name, version: versions[index] ?? '' }));
    const probes = Object.fromEntries(
      names.map((name, index) => [name, aProbe({ name, version: versions[index] ?? '' })]),
    );
    const seen = aRunningCluster({ pods, probes });
    const [first, ...others] = pods;
    const waiting = { ...seen, pods: [{ ...first, ready: false } as (typeof pods)[number], ...others] };
    expect(settle([], { observation: waiting }).decision).toMatchObject({
      kind: 'blocked',
      operation: 'upgradeCluster',
    });
    const abort = request({ action: 'Abort' });
    const { outcomes, holds } = settle([abort], { observation: waiting });
    expect(outcomes).toEqual([AT_ONCE]);
    expect(holds?.abort).toMatchObject({ operation: 'upgradeCluster' });
    const { cluster } = seen;
    const status = { ...cluster.status, userRequests: holds ?? {} };
    const well = settle([], { observation: { ...seen, cluster: { ...cluster, status } } });
    expect(well.decision).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
  });

  it('of an operation that failed and waits for its next try keeps it from being tried again', () => {
    const failed = { operation: 'scaleCluster', message: 'no', retryAt: 9e15 } as const;
    const { outcomes, holds } = settle([request({ action: 'Abort' })], {
      observation: growing(),
      workflowState: { failed },
    });
    expect(outcomes).toEqual([AT_ONCE]);
    expect(holds?.abort).toMatchObject({ operation: 'scaleCluster' });
  });

  it('of a restore that failed and waits for its next try is about this restore', () => {
    const restore = { name: 'restore', uid: 'restore-uid', filled: true, seeded: true, revision: 10 };
    const status = { ...aRunningStatus(1), incarnation: { ...anIncarnation(1), restore } };
    const cluster = aCluster({ spec: { size: 3 }, status });
    const observation = aRunningCluster({ cluster, clientService: ABSENT }, 1);
    const failed = { operation: 'restoreCluster', message: 'no', retryAt: 9e15 } as const;
    const { holds } = settle([request({ action: 'Abort' })], { observation, workflowState: { failed } });
    expect(holds?.abort).toMatchObject({ operation: 'restoreCluster', subject: 'restore-uid' });
  });

  it('of an operation that is paused is refused', () => {
    const workflowState = { paused: { by: 'ana' } };
    const { outcomes, decision } = settle([request({ action: 'Abort' })], {
      observation: growing(),
      workflowState,
    });
    expect(outcomes).toEqual([REFUSED]);
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'Paused' });
  });

  it('of an operation about one resource is about this one when its pass was killed', () => {
    const abort = request({ action: 'Abort' }, { status: accepted(['restoreCluster', 'a uid']) });
    const { holds, workflowState } = settle([abort]);
    expect(holds?.abort).toMatchObject({ operation: 'restoreCluster', subject: 'a uid' });
    expect(workflowState.aborted).toMatchObject({ operation: 'restoreCluster', subject: 'a uid' });
  });

  it('takes effect once when the pass that accepted it was killed', () => {
    const abort = request({ action: 'Abort' }, { status: accepted(['scaleCluster']) });
    expect(settle([abort], { observation: growing() }).holds?.abort).toMatchObject({
      operation: 'scaleCluster',
    });
    const { holds } = settle([abort], { observation: growing(), workflowState: { spent: ['Abort'] } });
    expect(holds).toBeUndefined();
  });

  it('is over with another specification, and with a Resync', () => {
    const abort = { request: 'Abort', by: 'ana', at: at(NOW), operation: 'scaleCluster', generation: 1 };
    expect(settle([], { userRequests: { abort } }).workflowState.aborted).toMatchObject({
      operation: 'scaleCluster',
    });
    expect(settle([], { userRequests: { abort: { ...abort, generation: 0 } } }).holds).toBeUndefined();
    const { holds, outcomes } = settle([request({ action: 'Resync' })], { userRequests: { abort } });
    expect([holds, outcomes]).toEqual([undefined, [AT_ONCE]]);
  });

  it('by a message counts when it came later than that by a request', () => {
    const abort = { ...UPGRADE, request: 'Abort', by: 'ana', at: at(NOW) };
    const aborted = { operation: 'scaleCluster', generation: 1, by: 'bob', at: NOW + 1_000 };
    expect(settle([], { userRequests: { abort }, workflowState: { aborted } }).workflowState.aborted).toEqual(
      aborted,
    );
    const earlier = { ...aborted, at: NOW - 1_000 };
    expect(
      settle([], { userRequests: { abort }, workflowState: { aborted: earlier } }).workflowState.aborted,
    ).toMatchObject(UPGRADE);
  });

  it('of an operation by a message takes back the request that it carried out', () => {
    const restart = request({ action: 'Restart' }, { status: accepted(['pod-example-0']) });
    const { outcomes, workflowState } = settle([restart], { workflowState: { spent: ['Restart'] } });
    expect([outcomes, workflowState]).toEqual([[[undefined, 'aborted']], {}]);
  });
});

describe('a Resync', () => {
  it('is done when the workflow has forgotten the failure that it ends', () => {
    const failed = { operation: 'scaleCluster', message: 'no', retryAt: NOW + 60_000 };
    const first = settle([request({ action: 'Resync' })], { workflowState: { failed } });
    expect([first.outcomes, first.revoked, first.workflowState]).toEqual([
      [['accepted', undefined]],
      { failed },
      {},
    ]);
    const resync = request(
      { action: 'Resync' },
      { status: accepted([`failure of scaleCluster ${failed.retryAt}`]) },
    );
    expect(settle([resync], { workflowState: { failed } }).revoked).toEqual({ failed });
    const other = { ...failed, retryAt: NOW + 90_000 };
    const after = settle([resync], { workflowState: { failed: other } });
    expect([after.outcomes, after.workflowState.failed]).toEqual([[AT_ONCE], other]);
  });
});

describe('a Resync of what was aborted', () => {
  const aborted = { operation: 'scaleCluster', generation: 1, by: 'bob', at: NOW };

  it('by a message is done when the workflow has forgotten it', () => {
    const first = settle([request({ action: 'Resync' })], { workflowState: { aborted } });
    expect([first.outcomes, first.revoked]).toEqual([[['accepted', undefined]], { aborted }]);
    const resync = request({ action: 'Resync' }, { status: accepted(['abort of scaleCluster 1']) });
    expect(settle([resync]).outcomes).toEqual([AT_ONCE]);
    expect(settle([resync], { workflowState: { aborted: { ...aborted, generation: 2 } } }).outcomes).toEqual([
      AT_ONCE,
    ]);
  });

  it('ends no abort that was requested after it', () => {
    const abort = { request: 'Abort', by: 'ana', at: at(NOW), operation: 'scaleCluster', generation: 1 };
    const resync = request({ action: 'Resync' }, { status: accepted([]) });
    expect(settle([resync], { userRequests: { abort } }).holds?.abort).toEqual(abort);
  });
});

describe('an approval', () => {
  const silent = namesOf(3)[1] as string;
  const replace = { id: 3, kind: 'replaceMember', target: silent, by: 'bob', ids: [idOf(silent)] } as const;
  const observation = aRunningCluster({
    pods: namesOf(3).map(name => aPod({ name, ready: name !== silent })),
    probes: Object.fromEntries(
      namesOf(3).map(name => [
        name,
        name === silent ? { answered: false as const, message: 'no answer' } : aProbe({ name }),
      ]),
    ),
  });
  const workflowState = { requests: [replace] };
  const decision = plan(observation, workflowState);
  const consent = decision.kind === 'blocked' ? decision.consent : undefined;
  const approve = (ids = consent?.ids ?? []) =>
    request({ action: 'Approve', operation: consent?.operation ?? '', ids: [...ids] });

  it('lets the step go on that waits for exactly this', () => {
    expect(consent).toBeDefined();
    const { outcomes, holds, decision: then } = settle([approve()], { observation, workflowState });
    expect(outcomes).toEqual([AT_ONCE]);
    expect(holds?.approvals).toMatchObject([{ request: 'Approve', by: 'ana', ids: consent?.ids }]);
    expect(then).toMatchObject({ kind: 'operate', approval: 'Approve' });
  });

  it('is held once when the pass that accepted it was killed', () => {
    const held = settle([approve()], { observation, workflowState }).holds?.approvals ?? [];
    const again = { ...approve(), status: accepted(consent?.ids ?? []) };
    const { outcomes, holds } = settle([again], {
      observation,
      workflowState,
      userRequests: { approvals: held },
    });
    expect([outcomes, holds?.approvals]).toEqual([[AT_ONCE], held]);
  });

  it('is refused when nothing waits for it', () => {
    const { outcomes, messages } = settle([approve(['c0ffee'])], { observation, workflowState });
    expect([outcomes, messages]).toEqual([
      [REFUSED],
      [expect.stringContaining(`the plan needs ${JSON.stringify(consent)}`)],
    ]);
    expect(settle([approve()]).messages).toEqual([
      'nothing waits for this approval: the plan needs no approval',
    ]);
  });

  it('holds until it was used or has expired', () => {
    const held = {
      request: 'Approve',
      by: 'ana',
      at: at(NOW - 1_000),
      operation: consent?.operation ?? '',
      ids: consent?.ids ?? [],
      expiresAt: at(NOW + 10_000),
    };
    const of = (approvals: readonly (typeof held)[], spent: readonly string[] = []) =>
      settle([], { observation, userRequests: { approvals }, workflowState: { ...workflowState, spent } })
        .decision.kind;
    const { workflowState: then } = settle([], {
      observation,
      userRequests: { approvals: [{ ...held, reason: 'agreed' }] },
    });
    expect(then.approvals).toMatchObject([{ id: 'Approve', reason: 'agreed' }]);
    expect(of([held])).toBe('operate');
    expect(of([held], ['Approve'])).toBe('blocked');
    expect(of([{ ...held, expiresAt: at(NOW - 1_000) }])).toBe('blocked');
  });

  it('by a message is taken over by a run that begins anew, with the reason that was given', () => {
    const approval = { operation: 'upgradeCluster', ids: ['3.7.0'], by: 'ana' };
    const mirrored = [{ reason: 'read it' }, {}].map((reason, id) => ({
      ...approval,
      ...reason,
      id,
      expiresAt: at(NOW + 60_000),
    }));
    const observation = aRunningCluster();
    const { cluster } = observation;
    const status = { ...cluster.status, signals: { uid: cluster.uid, approvals: mirrored } };
    const { takenOver } = settle([], {
      observation: { ...observation, cluster: { ...cluster, status } },
      workflowState: { takesOver: {} },
    });
    expect(takenOver.approvals).toEqual([
      { ...approval, reason: 'read it', id: -1, expiresAt: Date.parse(at(NOW + 60_000)) },
      { ...approval, id: -2, expiresAt: Date.parse(at(NOW + 60_000)) },
    ]);
  });
});

describe('what an operation carries out', () => {
  const restart = (status?: EtcdRequestStatus) =>
    request({ action: 'Restart', member: 'example-1' }, status && { status });

  it('is accepted with the ids of what it is about, and planned in the same pass', () => {
    const { changes, decision } = settle([restart()]);
    expect(changes).toMatchObject([{ accepted: { state: 'accepted', ids: ['pod-example-1'] } }]);
    expect(decision).toMatchObject({ kind: 'operate', operation: 'rolloutCluster' });
  });

  it('is about what it was accepted for, and done when that is done', () => {
    const { outcomes, decision } = settle([restart(accepted(['pod-of-before']))]);
    expect([outcomes, decision.kind]).toEqual([[AT_ONCE], 'idle']);
  });

  it.each([
    ['is no member', { action: 'ReplaceMember', member: 'example-9' }, 'example-9 is not a member'],
    ['leads already', { action: 'MoveLeader', member: 'example-0' }, 'example-0 is already the leader'],
  ] as const)('ends at once when what it names %s', (_, spec, why) => {
    expect(settle([request(spec)]).messages).toEqual([expect.stringContaining(why)]);
  });

  it('is refused while the same is asked for, and when ten wait', () => {
    const twin = request({ action: 'Restart', member: 'example-1' }, { uid: 'twin', age: 1_000 });
    expect(settle([restart(), twin]).outcomes).toEqual([['accepted', undefined], REFUSED]);
    const many = Array.from(
      { length: 10 },
      (_, id) => ({ id, kind: 'restart', target: `${id}`, by: 'bob' }) as const,
    );
    expect(settle([restart()], { workflowState: { requests: many } }).messages).toEqual([
      expect.stringContaining('10 requests are already waiting'),
    ]);
  });

  it('goes in the order in which it was accepted, whichever way it came', () => {
    const message = { id: 1, kind: 'moveLeader', target: 'example-2', by: 'bob', ids: ['x'] } as const;
    const under = (receivedAt: number) =>
      settle([restart(accepted(['pod-example-1']))], {
        workflowState: { requests: [{ ...message, at: receivedAt }] },
      }).workflowState.requests?.[0]?.id;
    expect(under(NOW - 60_000)).toBe(1);
    expect(under(NOW)).toBe('Restart');
  });
});
