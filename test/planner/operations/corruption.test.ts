/** What is done about members whose data differs, and what is said of it: a majority decides, and without one a person. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { HashFact, Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { differingPods } from '../../../src/planner/operations/compare-data/index.ts';
import { comparison } from '../../../src/planner/operations/membership/corrupt.ts';
import { moveLeader } from '../../../src/planner/operations/move-leader/index.ts';
import { plan } from '../../../src/planner/plan.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
} from '../../worlds/builders.ts';

const NOW = '2026-11-21T10:00:00Z';
const BEFORE = '2026-11-21T09:59:30Z';
const CORRUPT = (id: string) => `memberID:${BigInt(`0x${id}`)} alarm:CORRUPT `;
const REFUSAL = {
  reason: 'CrashLoopBackOff',
  message: 'discovery failed: a2 found data inconsistency with peers',
};

interface Given {
  /** By member, in their order: its hash, `refuses`, or undefined where it does not answer. */
  readonly hashes?: readonly (string | undefined)[];
  /** Compared in this very pass; else it is only recorded. */
  readonly fresh?: boolean;
  readonly compacted?: readonly string[];
  readonly alarms?: readonly string[];
  readonly leader?: number;
  readonly spec?: EtcdClusterSpec;
  readonly status?: Partial<EtcdClusterStatus>;
  readonly now?: string;
  readonly clients?: readonly string[];
  readonly deleting?: readonly string[];
}

function world({
  hashes = ['a', 'a', 'b'],
  fresh = true,
  compacted = hashes.map(() => '5'),
  alarms = [],
  leader = 0,
  spec = {},
  status = {},
  now = NOW,
  clients = [],
  deleting = [],
}: Given): Observation {
  const names = namesOf(hashes.length);
  const leaderId = idOf(names[leader] ?? '');
  const answers = hashes.map((hash, index): [string, HashFact | undefined] => [
    names[index] ?? '',
    hash === undefined || hash === 'refuses' || hash === 'silent'
      ? undefined
      : { ok: true, hash, compactRevision: compacted[index] ?? '' },
  ]);
  const probes = hashes.map((hash, index): [string, MemberProbe] => {
    const name = names[index] ?? '';
    return hash === 'refuses' || hash === 'silent'
      ? [name, { answered: false, message: 'connect ECONNREFUSED' }]
      : [name, aProbe({ name, leaderId, errors: alarms })];
  });
  const keyHashes = {
    comparedAt: BEFORE,
    revision: '77',
    members: answers.flatMap(([name, fact]) =>
      fact?.ok === true
        ? [{ name, podUID: `pod-${name}`, hash: fact.hash, compactRevision: fact.compactRevision }]
        : [],
    ),
  };
  const known = Object.fromEntries(answers.flatMap(([name, fact]) => (fact ? [[name, fact]] : [])));
  return aRunningCluster(
    {
      now: Date.parse(now),
      cluster: aCluster({
        spec: { size: hashes.length, ...spec },
        status: {
          ...aRunningStatus(hashes.length),
          dataComparison: undefined as never,
          raftTerm: '2',
          leader: names[leader] ?? '',
          leaderSince: '2026-01-01T00:00:00Z',
          ...(fresh && { keyHashes }),
          ...status,
        },
      }),
      pods: names.map((name, index) =>
        aPod({
          name,
          readyChangedAt: Date.parse('2026-01-01T00:00:00Z'),
          deleting: deleting.includes(name),
          ...(clients.includes(name) && { clients: 'withdrawn' as const }),
          ...(hashes[index] === 'refuses' && { ready: false, trouble: REFUSAL }),
        }),
      ),
      claims: names.map(name => aClaim({ name })),
      probes: Object.fromEntries(probes),
      hashes: fresh ? known : undefined,
    },
    hashes.length,
  );
}

const decided = (given: Given, workflowState: WorkflowState = {}) => plan(world(given), workflowState);
const steps = (given: Given, workflowState: WorkflowState = {}) => {
  const decision = decided(given, workflowState);
  return 'plan' in decision ? decision.plan.map(({ kind }) => kind) : [];
};
const reported = (given: Given, workflowState: WorkflowState = {}) => {
  const situation = situationOf(world(given), workflowState);
  const decision = plan(world(given), workflowState);
  return statusOf(
    { situation, decision, members: observedMembers(situation) },
    { workflowId: 'w', now: NOW },
  );
};
const corrupt = (given: Given) => reported(given).conditions?.find(({ type }) => type === 'DataCorrupt');
const replace = (name: string): WorkflowState => ({
  requests: [{ id: 1, kind: 'replaceMember', target: name, by: 'ana', ids: [idOf(name)] }],
});
const approved = (...ids: string[]): WorkflowState => ({
  approvals: [{ id: 1, operation: 'replaceMember', ids, by: 'ana', expiresAt: Date.parse(NOW) + 60_000 }],
});
const AWAY = { clients: ['example-2'] };
const BY_POLICY: EtcdClusterSpec = { repair: { corruption: 'Replace' } };

describe('one member whose data differs from that of the two others', () => {
  it('is taken off the clients at once', () => {
    expect(decided({})).toMatchObject({
      operation: 'compareData',
      step: { kind: 'withdrawMembers', pods: [{ name: 'example-2', uid: 'pod-example-2' }] },
    });
  });

  it('is not led to again while it differs', () => {
    expect(steps(AWAY)).not.toContain('admitMembers');
  });

  it('is not led to again while one of the others was replaced and is not compared yet', () => {
    const { dataComparison } = reported(AWAY);
    const [first, second, third] = dataComparison!.members;
    const members = [first!, { ...second!, id: 'b1' }, third!];
    const given = { ...AWAY, fresh: false, status: { dataComparison: { ...dataComparison!, members } } };
    expect(steps(given)).toEqual(['compareKeys']);
  });

  it('is said, with revision, hashes of both sides and when all were last equal', () => {
    const given = {
      ...AWAY,
      status: {
        dataComparison: {
          comparedAt: '2026-11-20T10:00:00Z',
          revision: '50',
          members: [],
          lastEqual: { time: '2026-11-20T10:00:00Z', revision: '50' },
        },
      },
    };
    expect(corrupt(given)).toMatchObject({
      status: 'True',
      reason: 'MemberDiffers',
      message: `example-2 does not have the data of example-0, example-1, at revision 77, compacted at 5: example-0, example-1: hash a; example-2: hash b (compared at ${BEFORE}; last equal at 2026-11-20T10:00:00Z, revision 50)`,
    });
    expect(reported(given)).toMatchObject({
      attention: 'AwaitingApproval',
      dataComparison: { suspects: ['a2'], lastEqual: { revision: '50' } },
    });
  });

  it('waits for an approval, and its removal is planned', () => {
    const decision = decided(AWAY);
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'CorruptMember',
      consent: { operation: 'replaceMember', ids: ['a2'] },
    });
    expect(steps(AWAY)).toEqual(['removeMember']);
  });

  it.each([
    ['when it is approved', {}, approved('a2')],
    ['by policy', { spec: BY_POLICY }, {}],
    ['when its replacement is requested', {}, replace('example-2')],
  ])('is removed first, as evidence, %s', (_, given, workflowState) => {
    const decision = decided({ ...AWAY, ...given }, workflowState);
    expect(decision).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'removeMember', member: 'example-2', id: 'a2', replacement: 'Corrupt' },
    });
  });

  it('is compared once more before it is removed, when that was some minutes ago', () => {
    const given = { ...AWAY, spec: BY_POLICY };
    const { dataComparison } = reported(given);
    const later = { ...given, fresh: false, status: { dataComparison: dataComparison! } };
    expect(steps(later)).toEqual(['compareKeys', 'removeMember']);
    expect(decided({ ...later, spec: {} }, approved('a2'))).not.toHaveProperty('approval');
  });

  it('hands over first when it leads', () => {
    const decision = decided({ ...AWAY, leader: 2 }, approved('a2'));
    expect(decision).toMatchObject({ step: { kind: 'moveLeader', from: 'example-2', to: 'example-0' } });
    expect(decision).not.toHaveProperty('approval');
  });

  it('is not removed while one of the others is not well, whatever was approved', () => {
    const given = { hashes: ['a', 'a', 'a', 'silent', 'b'], clients: ['example-4'], spec: BY_POLICY };
    expect(decided(given)).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(decided(given, approved('a4'))).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
  });

  it('asks also by policy when too many were replaced within the hour', () => {
    const replacements = ['example-7', 'example-8'].map(member => ({
      member,
      time: BEFORE,
      notNeeded: true,
    }));
    expect(decided({ ...AWAY, spec: BY_POLICY, status: { replacements } })).toMatchObject({
      kind: 'blocked',
      reason: 'CorruptMember',
    });
  });

  it('does not let one of the majority be replaced', () => {
    expect(decided(AWAY, replace('example-0'))).toMatchObject({
      kind: 'blocked',
      reason: 'DataDiffers',
      message: expect.stringContaining('example-0 is not replaced: it has the data of the majority'),
    });
  });

  it('is judged alike while etcd raises CORRUPT of a member of the majority', () => {
    const given = { ...AWAY, alarms: [CORRUPT('a0')] };
    expect(decided(given, approved('a2'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2' },
    });
    expect(decided({ ...given, leader: 2 }, approved('a2'))).toMatchObject({ step: { kind: 'moveLeader' } });
  });

  it('goes one after the other where two differ', () => {
    const given = { hashes: ['a', 'a', 'a', 'b', 'c'], clients: ['example-3', 'example-4'], spec: BY_POLICY };
    expect(decided(given)).toMatchObject({ step: { kind: 'removeMember', member: 'example-3' } });
  });

  it('keeps everything else waiting', () => {
    expect(decided({ ...AWAY, spec: { size: 5 } })).toMatchObject({
      kind: 'blocked',
      reason: 'CorruptMember',
    });
  });
});

/** What was found two hours ago: example-0 differs. */
const FOUND: NonNullable<EtcdClusterStatus['dataComparison']> = {
  comparedAt: '2026-11-21T08:00:00Z',
  revision: '70',
  suspects: ['a0'],
  members: namesOf(3).map((name, index) => ({
    name,
    id: idOf(name),
    hash: index === 0 ? 'b' : 'a',
    compactRevision: '5',
  })),
};

describe('the leadership while a member differs', () => {
  const withoutClients = { hashes: ['b', 'a', 'a'], clients: ['example-0'] };

  it('goes to one of the majority when the pod of the leader is deleted', () => {
    expect(decided({ ...withoutClients, leader: 1, deleting: ['example-1'] })).toMatchObject({
      operation: 'moveLeader',
      step: { kind: 'moveLeader', from: 'example-1', to: 'example-2' },
    });
  });

  it('goes to nobody who was found to differ before, also when that is all that is known', () => {
    const given = { ...withoutClients, fresh: false, leader: 1, status: { dataComparison: FOUND } };
    expect(decided({ ...given, deleting: ['example-1'] })).toMatchObject({ step: { to: 'example-2' } });
    const alone = { ...given, deleting: ['example-1', 'example-2'] };
    expect(steps(alone)).not.toContain('moveLeader');
    const unknown = { ...given, clients: [], status: { dataComparison: { ...FOUND, members: [] } } };
    expect(decided({ ...unknown, deleting: ['example-1'] })).toMatchObject({ step: { to: 'example-2' } });
  });

  it('is handed to one of the majority at once by a leader that differs, before anything is approved', () => {
    const given = { ...withoutClients, clients: [] };
    expect(decided(given)).toMatchObject({
      operation: 'moveLeader',
      step: { kind: 'moveLeader', from: 'example-0', to: 'example-1', toId: 'a1' },
    });
    expect(decided({ ...given, alarms: [CORRUPT('a0')] })).toMatchObject({ step: { to: 'example-1' } });
    expect(decided({ ...given, deleting: ['example-1'] })).toMatchObject({ step: { to: 'example-2' } });
  });

  it('stays where it is while nobody of the majority is well and stays', () => {
    const given = { hashes: ['b', 'a', 'a'], deleting: ['example-1', 'example-2'] };
    expect(decided(given)).toMatchObject({ step: { kind: 'withdrawMembers' } });
  });

  it('keeps nothing else waiting when it cannot be handed over, or when that was aborted', () => {
    const given = { hashes: ['b', 'a', 'a'] };
    const failed = { operation: 'moveLeader', step: 'moveLeader', message: 'timeout' } as const;
    expect(decided(given, { failed: { ...failed, retryAt: 0 } })).toMatchObject({
      step: { kind: 'withdrawMembers', plannedUpon: { failed: {} } },
    });
    const aborted = { operation: 'moveLeader', generation: world(given).cluster.generation, by: 'ana' };
    expect(decided(given, { aborted } as WorkflowState)).toMatchObject({ step: { kind: 'withdrawMembers' } });
  });

  it('is not asked for of a member that differs', () => {
    const given = world({ ...withoutClients, leader: 1 });
    const view = situationOf(given, {}).members[0]!;
    expect(moveLeader.request.begin(situationOf(given, {}), view)).toMatchObject({
      outcome: 'refused',
      message: 'example-0 cannot become the leader: its data differs, or was found to differ before',
    });
    const request = { id: 1, kind: 'moveLeader', target: 'example-0', by: 'ana' } as const;
    expect(moveLeader.request.progress(situationOf(given, {}), request, ['a0'])).toMatchObject({
      outcome: 'refused',
    });
  });
});

describe('a majority with a member that was found to differ before', () => {
  const flipped = {
    hashes: ['b', 'b', 'a'],
    clients: ['example-2'],
    spec: BY_POLICY,
    status: { dataComparison: FOUND },
  };

  it('is not believed by policy: the operator asks for approval and gives the reason', () => {
    expect(decided(flipped)).toMatchObject({
      kind: 'blocked',
      reason: 'CorruptMember',
      message: expect.stringContaining(
        'example-0 is of the majority and was found to differ before, so the majority may be wrong: approve only if example-2 is wrong; otherwise have example-0 replaced',
      ),
      consent: { operation: 'replaceMember', ids: ['a2'] },
    });
  });

  it('is believed when a person approves, and the leader that goes hands over', () => {
    expect(decided(flipped, approved('a2'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2' },
    });
    expect(decided({ ...flipped, leader: 2 }, approved('a2'))).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'moveLeader', from: 'example-2', to: 'example-1' },
    });
  });

  it('does not get the leadership from the one that may be right', () => {
    expect(steps({ ...flipped, leader: 2 })).not.toContain('moveLeader');
  });

  it('loses that member when a person names it, and no other one of the majority', () => {
    expect(decided({ ...flipped, leader: 1 }, replace('example-0'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-0', replacement: 'Corrupt' },
    });
    expect(steps(flipped, replace('example-0'))).toEqual(['moveLeader', 'removeMember']);
    expect(decided(flipped, replace('example-1'))).toMatchObject({ kind: 'blocked', reason: 'DataDiffers' });
  });
});

describe('a member off which clients cannot be led', () => {
  const failed = {
    failed: {
      operation: 'compareData',
      step: 'withdrawMembers',
      message: 'an admission webhook refuses it',
      retryAt: Date.parse(NOW) + 5_000,
    },
  } as const;

  it('does not keep a member without a pod from being started', () => {
    const seen = world({});
    const pods = seen.pods.filter(({ name }) => name !== 'example-1');
    const { 'example-1': _, ...probes } = seen.probes;
    expect(plan({ ...seen, pods, probes }, failed)).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'restartMember', member: 'example-1', plannedUpon: failed },
    });
  });

  it('is replaced all the same', () => {
    expect(decided({ spec: BY_POLICY }, failed)).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2' },
    });
  });
});

describe('of five, one that etcd refuses to start and another that does not answer', () => {
  const found = {
    ...FOUND,
    suspects: ['a4'],
    triedAt: BEFORE,
    members: namesOf(5).map((name, index) => ({
      name,
      id: idOf(name),
      hash: index === 4 ? 'b' : 'a',
      compactRevision: '5',
    })),
  };
  const given = {
    hashes: ['a', 'a', 'a', 'silent', 'refuses'],
    clients: ['example-4'],
    status: { dataComparison: found },
  };

  it('are a reason to compare the others once, and then every hour', () => {
    const fresh = { ...given, fresh: false };
    const { triedAt: _, ...untried } = found;
    expect(steps({ ...fresh, status: { dataComparison: untried } })).toEqual(['compareKeys']);
    expect(steps(fresh)).not.toEqual(['compareKeys']);
    expect(decided(fresh, approved('a4'))).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(steps({ ...fresh, now: '2026-11-21T10:59:30Z' })).toEqual(['compareKeys']);
  });

  it('are both replaced: the one that lost its volume first, then the other when that is approved', () => {
    const seen = world(given);
    const isThere = ({ name }: { readonly name: string }) => name !== 'example-3';
    const lost = { ...seen, pods: seen.pods.filter(isThere), claims: seen.claims.filter(isThere) };
    expect(plan(lost, approved('a4'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-3', replacement: 'Lost' },
    });
    const back = { ...given, hashes: ['a', 'a', 'a', 'a', 'refuses'] };
    expect(decided(back, approved('a4'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-4', replacement: 'Corrupt' },
    });
  });
});

describe('a member that etcd refuses to start, as its data is not that of a peer', () => {
  it('differs when the others are a majority of the same data', () => {
    const given = { hashes: ['a', 'a', 'refuses'], clients: ['example-2'] };
    expect(corrupt(given)).toMatchObject({ reason: 'MemberDiffers' });
    expect(decided({ ...given, spec: BY_POLICY })).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2', replacement: 'Corrupt' },
    });
  });

  it('is a reason to compare the others', () => {
    expect(decided({ hashes: ['a', 'a', 'refuses'], fresh: false })).toMatchObject({
      operation: 'compareData',
      step: { kind: 'compareKeys', members: [{ name: 'example-0' }, { name: 'example-1' }] },
    });
  });

  it('may be right: the others hold different data', () => {
    const given = { hashes: ['a', 'b', 'refuses'] };
    expect(corrupt(given)).toMatchObject({ reason: 'NoMajority' });
    expect(decided({ ...given, spec: BY_POLICY })).toMatchObject({
      kind: 'blocked',
      reason: 'DataUndecided',
      message: expect.stringContaining('first delete the pod of the running member that is wrong'),
    });
  });

  it('does not keep the one that differs, for which etcd may have ended it, where the others are a quorum', () => {
    const given = { hashes: ['a', 'a', 'a', 'b', 'refuses'], clients: ['example-3'], spec: BY_POLICY };
    expect(decided(given)).toMatchObject({ step: { kind: 'removeMember', member: 'example-3' } });
    const silent = { ...given, hashes: ['a', 'a', 'a', 'b', 'silent'] };
    expect(decided(silent)).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
  });

  it('is not removed where it was one of two', () => {
    expect(decided({ hashes: ['a', 'refuses'], spec: BY_POLICY })).toMatchObject({
      kind: 'blocked',
      reason: 'DataUndecided',
    });
  });
});

describe('members of which no majority has the same data', () => {
  it.each([
    ['one against one', ['a', 'b']],
    ['two against two', ['a', 'b', 'a', 'b']],
    ['three that all differ', ['a', 'b', 'c']],
  ])('%s wait for a person, who is shown all sides', (_, hashes) => {
    const given = { hashes, spec: BY_POLICY };
    const decision = decided(given);
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'DataUndecided' });
    expect(corrupt(given)).toMatchObject({ status: 'True', reason: 'NoMajority' });
    for (const hash of hashes) expect(corrupt(given)?.message).toContain(`hash ${hash}`);
    expect(steps(given)).toEqual([]);
  });

  it('lose the one that a person names', () => {
    expect(decided({ hashes: ['a', 'b'] }, replace('example-1'))).toMatchObject({
      step: { kind: 'removeMember', member: 'example-1', replacement: 'Corrupt' },
    });
  });

  it('get the leadership from the one that a person names, although each may be the one that differs', () => {
    expect(decided({ hashes: ['a', 'b'] }, replace('example-0'))).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'moveLeader', from: 'example-0', to: 'example-1' },
    });
  });

  it('are not judged by an approval that nobody asked for', () => {
    expect(decided({ hashes: ['a', 'b'] }, approved('a1'))).toMatchObject({
      kind: 'blocked',
      reason: 'DataUndecided',
    });
  });
});

describe('members that have compacted differently', () => {
  it('are not compared with each other', () => {
    const given = { hashes: ['a', 'a', 'b'], compacted: ['5', '5', '9'] };
    expect(corrupt(given)).toBeUndefined();
    expect(decided(given)).toMatchObject({ kind: 'idle' });
  });
});

describe('CORRUPT', () => {
  const equal = { hashes: ['a', 'a', 'a'], alarms: [CORRUPT('a2')] };

  it('is a reason to compare', () => {
    expect(decided({ ...equal, fresh: false })).toMatchObject({
      operation: 'compareData',
      step: { kind: 'compareKeys' },
    });
    expect(corrupt({ ...equal, fresh: false })).toMatchObject({ status: 'Unknown', reason: 'NotCompared' });
  });

  it('of one that is no member any more is disarmed when the others hold the same', () => {
    expect(decided({ ...equal, alarms: [CORRUPT('a9')] })).toMatchObject({
      operation: 'compareData',
      step: { kind: 'disarmCorrupt', alarms: ['a9'], members: [{}, {}, {}] },
    });
  });

  it('of members that are right is disarmed when the one that differed is gone', () => {
    const before = { comparedAt: '2026-11-21T09:00:00Z', revision: '70', members: [], suspects: ['a9'] };
    const replacements = [{ member: 'example-9', time: BEFORE }];
    const given = {
      ...equal,
      hashes: ['a', 'a'],
      alarms: [CORRUPT('a0'), 'alarm:CORRUPT '],
      spec: { size: 3 },
      status: { dataComparison: before, replacements },
    };
    expect(decided(given)).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'disarmCorrupt', alarms: ['0', 'a0'] },
    });
  });

  it.each([
    ['a member', [CORRUPT('a2')], 'CORRUPT of a2', 'example-2'],
    ['nobody by name', ['alarm:CORRUPT '], 'CORRUPT of 0', 'a member that etcd does not name'],
  ])('of %s waits for a person when nothing differs', (_, alarms, id, said) => {
    const decision = decided({ ...equal, alarms });
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'CorruptUnexplained',
      consent: { ids: [id] },
      message: expect.stringContaining(said),
    });
    const workflowState = {
      approvals: [{ id: 1, operation: 'compareData', ids: [id], by: 'ana', expiresAt: Date.parse(NOW) + 1 }],
    };
    expect(decided({ ...equal, alarms }, workflowState)).toMatchObject({
      step: { kind: 'disarmCorrupt' },
      approval: 1,
    });
    // What is compared once more before uses no approval up.
    const old = {
      ...equal,
      alarms,
      fresh: false,
      status: { dataComparison: reported({ ...equal, alarms }).dataComparison! },
    };
    const again = decided(old, workflowState);
    expect(again).toMatchObject({ step: { kind: 'compareKeys' } });
    expect(again).not.toHaveProperty('approval', 1);
  });

  it('stands while a member does not answer, and members are compared again every five minutes', () => {
    const given = { hashes: ['a', 'a', 'silent'], alarms: [CORRUPT('a9')] };
    expect(steps(given)).not.toContain('disarmCorrupt');
    const { dataComparison } = reported(given);
    expect(dataComparison?.members[2]).toMatchObject({ message: 'it did not answer' });
    const later = { ...given, fresh: false, status: { dataComparison: dataComparison! } };
    expect(steps(later)).not.toContain('compareKeys');
    expect(steps({ ...later, now: '2026-11-21T10:05:00Z' })).toContain('compareKeys');
  });

  it('does not keep a lost member, without whom nobody knows whether all hold the same', () => {
    const given = { hashes: ['a', 'a', 'silent'], alarms: [CORRUPT('a9')] };
    const seen = world(given);
    const isThere = ({ name }: { readonly name: string }) => name !== 'example-2';
    const lost = { ...seen, pods: seen.pods.filter(isThere), claims: seen.claims.filter(isThere) };
    expect(plan(lost, {})).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2', replacement: 'Lost' },
    });
  });

  it('puts no quorum at risk by itself', () => {
    const { conditions = [] } = reported(equal);
    expect(conditions.find(({ type }) => type === 'QuorumAtRisk')).toBeUndefined();
  });
});

describe('a comparison that did not come about', () => {
  it('does not take the place of one that found a difference', () => {
    const { dataComparison } = reported(AWAY);
    const given = {
      ...AWAY,
      hashes: ['a', 'a', undefined],
      status: { dataComparison: { ...dataComparison!, comparedAt: '2026-11-21T09:00:00Z' } },
    };
    expect(reported(given).dataComparison).toMatchObject({ comparedAt: '2026-11-21T09:00:00Z' });
    expect(corrupt(given)).toMatchObject({ reason: 'MemberDiffers' });
    expect(reported({ ...given, alarms: [CORRUPT('a2')] }).dataComparison).toMatchObject({
      comparedAt: '2026-11-21T09:00:00Z',
      alarms: ['a2'],
    });
  });

  it('takes no member off the clients, and is made of nobody while nobody answers', () => {
    const situation = situationOf(world({ hashes: ['a', 'a', 'a'] }), {});
    expect(differingPods(situation)).toEqual([]);
    const seen = world({ hashes: ['a', 'a', 'b'] });
    const going = seen.pods.map(pod => (pod.name === 'example-2' ? { ...pod, deleting: true } : pod));
    expect(differingPods(situationOf({ ...seen, pods: going }, {}))).toEqual([]);
    expect(differingPods(situationOf(seen, {}))).toMatchObject([{ name: 'example-2' }]);
    const silent = situationOf(world({ hashes: ['silent', 'silent', 'silent'] }), {});
    expect(comparison(silent)).toEqual([]);
  });
});

describe('the comparison once a day', () => {
  const well = { hashes: ['a', 'a', 'a'], fresh: false };
  // Made at 2026-11-20T10:00:00Z.
  it.each([
    ['a day after the cluster was made', {}, '2026-11-21T10:00:30Z', true],
    ['not by an operator that comes hours later', {}, '2026-11-21T12:00:00Z', false],
    ['but the day after', {}, '2026-11-22T10:30:00Z', true],
    ['not when it asks for none', { maintenance: { compareDataEvery: '0s' } }, '2026-11-21T10:00:30Z', false],
    ['as often as is asked for', { maintenance: { compareDataEvery: '1h' } }, '2026-11-20T13:00:30Z', true],
  ])('is made %s', (_, spec, now, isMade) => {
    expect(steps({ ...well, spec, now }).includes('compareKeys')).toBe(isMade);
  });

  it('is remembered, and made again the next day, also late', () => {
    const { dataComparison, lastOperation } = reported({ hashes: ['a', 'a', 'a'] });
    expect(dataComparison).toMatchObject({ revision: '77', lastEqual: { time: BEFORE, revision: '77' } });
    expect(lastOperation).toBeUndefined();
    const next = { ...well, status: { dataComparison: dataComparison! } };
    expect(decided({ ...next, now: '2026-11-21T10:30:00Z' })).toMatchObject({ kind: 'operate' });
    const after = { ...dataComparison!, comparedAt: '2026-11-21T10:00:05Z' };
    const rested = { ...well, status: { dataComparison: after } };
    expect(decided({ ...rested, now: '2026-11-21T11:00:00Z' })).toMatchObject({ kind: 'idle' });
    expect(decided({ ...rested, now: '2026-11-23T03:00:00Z' })).toMatchObject({ kind: 'operate' });
  });

  it('is no part of the history when it found nothing', () => {
    const operation = { type: 'compareData', startedAt: BEFORE };
    const status = reported({ hashes: ['a', 'a', 'a'], status: { operation } });
    expect(status.operation).toBeUndefined();
    expect(status.history).toBeUndefined();
  });

  it('is part of the history when it ended an alarm, and nothing of that is left', () => {
    const operation = { type: 'compareData', startedAt: BEFORE };
    const before = reported({ hashes: ['a', 'a', 'a'], alarms: [CORRUPT('a9')] }).dataComparison!;
    expect(before.alarms).toEqual(['a9']);
    const status = reported({ hashes: ['a', 'a', 'a'], status: { operation, dataComparison: before } });
    expect(status.history?.[0]).toMatchObject({ type: 'compareData', outcome: 'Succeeded' });
    expect(status.dataComparison?.alarms).toBeUndefined();
  });

  it('is not made of one member', () => {
    expect(steps({ hashes: ['a'], fresh: false, now: '2026-11-21T10:00:30Z' })).toEqual([]);
  });
});
