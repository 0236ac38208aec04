import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_INCARNATION,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_SECURITY,
} from '../../../src/api/names.ts';
import { nextMember } from '../../../src/planner/model/member-view.ts';
import { plan } from '../../../src/planner/plan.ts';
import {
  firstIncarnation,
  lastSerialOf,
  rebuiltIdentity,
  rebuiltStorage,
  tokenPrefix,
} from '../../../src/planner/model/identity.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import type { Decision } from '../../../src/planner/model/decision.ts';
import { conditionsOf } from '../../../src/planner/report/conditions.ts';
import { isTotalLoss } from '../../../src/planner/checks/total-loss.ts';
import { planIdentityCompletion } from '../../../src/planner/operations/stamps/identity-completion.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { statusOf } from '../../../src/planner/report/status.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  anObservation,
  aPod,
  CLUSTER_ID,
  NOW,
  OURS,
  TOKEN,
  UID,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

/** As a claim is seen whose labels and annotations somebody took off. */
const UNSTAMPED = { owned: false, token: undefined, clusterId: undefined };

describe('the first incarnation', () => {
  const names = (seen: readonly string[], size = 3) =>
    firstIncarnation(anObservation({ namesSeen: seen, cluster: aCluster({ spec: { size } }) })).members.map(
      member => member.name,
    );

  it('begins at serial 0 and names as many members as asked for', () => {
    expect(names([])).toEqual(['example-0', 'example-1', 'example-2']);
    expect(names([], 1)).toEqual(['example-0']);
    expect(names([], 7)).toHaveLength(7);
  });

  it('begins above every name that was seen, whatever it belongs to', () => {
    expect(names(['example-4', 'example-11', 'example-2'])).toEqual([
      'example-12',
      'example-13',
      'example-14',
    ]);
  });

  it('begins above the last serial that is recorded', () => {
    const cluster = aCluster({ status: { lastSerial: 8 } });
    const [first] = firstIncarnation(anObservation({ cluster, namesSeen: ['example-3'] })).members;
    expect(first?.name).toBe('example-9');
  });

  it('has the uid of its resource in its token, so that a later cluster of the name has another', () => {
    expect(firstIncarnation(anObservation()).token).toBe(TOKEN);
    expect(tokenPrefix({ name: 'example', uid: UID })).toBe('example-0b7e6e34-');
  });

  it('has peer URLs that end in the cluster domain when the specification names one', () => {
    const cluster = aCluster({ spec: { size: 1, pod: { ClusterDomain: '.corp.internal' } } });
    expect(firstIncarnation(anObservation({ cluster })).members).toEqual([
      { name: 'example-0', peerURL: 'http://example-0.example.shop.svc.corp.internal:2380' },
    ]);
  });
});

describe('an identity that is read back from stamps', () => {
  it('is none without stamps, and none from the stamps of others', () => {
    expect(rebuiltIdentity(anObservation())).toBeUndefined();
    const foreign = anObservation({
      claims: [aClaim({ owned: false })],
      pods: [aPod({ owned: false }), aPod({ token: undefined })],
    });
    expect(rebuiltIdentity(foreign)).toBeUndefined();
  });

  it('has every member that is stamped, once, in the order of the serials', () => {
    const identity = rebuiltIdentity(
      anObservation({
        claims: [aClaim({ name: 'example-10' }), aClaim({ name: 'example-9' })],
        pods: [aPod({ name: 'example-9' }), aPod({ name: 'example-2' })],
      }),
    );
    expect(identity?.incarnation.token).toBe(TOKEN);
    expect(identity?.incarnation.members.map(member => member.name)).toEqual([
      'example-2',
      'example-9',
      'example-10',
    ]);
  });

  it('is that of the newest incarnation, by number and not by letter', () => {
    const tokens = ['example-0b7e6e34-9', 'example-0b7e6e34-10', 'example-0b7e6e34-2'];
    const claims = tokens.map((token, serial) => aClaim({ name: `example-${serial}`, token }));
    const identity = rebuiltIdentity(anObservation({ claims }));
    expect(identity?.incarnation).toMatchObject({
      token: 'example-0b7e6e34-10',
      members: [{ name: 'example-1' }],
    });
  });

  it('is that of this resource, when a pod is stamped as that of another resource of the name', () => {
    const identity = rebuiltIdentity(
      anObservation({
        claims: [aClaim({ clusterId: 'beef' })],
        pods: [aPod({ token: 'example-ffffffff-1', clusterId: CLUSTER_ID })],
      }),
    );
    expect(identity).toMatchObject({ incarnation: { token: TOKEN }, clusterId: 'beef' });
  });

  it.each([
    ['its stamps', { stamp: CLUSTER_ID, membership: aMembership(['example-0']) }, CLUSTER_ID],
    [
      'a quorum that its token forms, when it was not stamped yet',
      { stamp: undefined, membership: aMembership(['example-0']), expectedClusterId: CLUSTER_ID },
      CLUSTER_ID,
    ],
    [
      'nobody when the quorum is of another cluster',
      { stamp: undefined, membership: aMembership(['example-0']), expectedClusterId: 'badc0de' },
      undefined,
    ],
    [
      'nobody when neither knows',
      { stamp: undefined, membership: { known: false, message: '' } as const },
      undefined,
    ],
  ])('knows its cluster id from %s', (_, { stamp, ...seen }, expected) => {
    const observation = anObservation({ claims: [aClaim({ clusterId: stamp })], ...seen });
    expect(rebuiltIdentity(observation)?.clusterId).toBe(expected);
  });

  it('has the storage that its claims show', () => {
    const identity = anIncarnation(1);
    expect(rebuiltStorage(anObservation({ claims: [aClaim()] }), identity)).toEqual({
      kind: 'PersistentVolumeClaim',
    });
    const others = [aClaim({ owned: false }), aClaim({ token: 'example-0b7e6e34-0' })];
    expect(rebuiltStorage(anObservation({ claims: others }), identity)).toEqual({ kind: 'EmptyDir' });
  });

  it('has claims also when those of its members lost their stamps: their data is not in their pods', () => {
    const claims = [aClaim(UNSTAMPED)];
    expect(rebuiltStorage(anObservation({ claims }), anIncarnation(1))).toEqual({
      kind: 'PersistentVolumeClaim',
    });
    const strangers = [
      aClaim({ ...UNSTAMPED, name: 'example-data' }),
      aClaim({ ...UNSTAMPED, name: 'other-0' }),
    ];
    expect(rebuiltStorage(anObservation({ claims: strangers }), anIncarnation(1))).toEqual({
      kind: 'EmptyDir',
    });
  });
});

describe('claims that lost their stamps together with the status', () => {
  const rebuiltFrom = (names: readonly string[]) => {
    const { members, ...incarnation } = anIncarnation(3);
    const seen = members.filter(({ name }) => names.includes(name));
    return aCluster({
      status: {
        incarnation: { ...incarnation, members: seen, rebuilt: true },
        clusterID: CLUSTER_ID,
        storage: { kind: 'PersistentVolumeClaim' },
        members: { details: seen.map(({ name }) => ({ name, health: 'Unhealthy' })) },
      },
    });
  };
  const claims = ['example-0', 'example-1', 'example-2'].map(name => aClaim({ name }));
  const shared = { peerService: OURS, clientService: OURS, disruptionBudget: OURS };
  const unknown = { membership: { known: false, message: 'nobody answers' } as const, ...shared };

  it('are remembered when the stamps are back, and their members started', () => {
    const cluster = rebuiltFrom(['example-0', 'example-2']);
    const decision = plan(anObservation({ cluster, claims, ...unknown }), {});
    expect(decision).toMatchObject({
      operation: 'repairCluster',
      step: { kind: 'recordIncarnation', incarnation: { rebuilt: true }, clusterId: CLUSTER_ID },
    });
    const { step } = decision as Extract<Decision, { kind: 'operate' }>;
    expect(
      step.kind === 'recordIncarnation' && step.incarnation.members.map(({ name }) => name).sort(),
    ).toEqual(['example-0', 'example-1', 'example-2']);
    const whole = rebuiltFrom(['example-0', 'example-1', 'example-2']);
    const details = { details: [{ name: 'example-0', health: 'Unhealthy' as const }] };
    const recorded = { ...whole, status: { ...whole.status, members: details } };
    expect(plan(anObservation({ cluster: recorded, claims, ...unknown }), {})).toMatchObject({
      plan: ['example-0', 'example-1', 'example-2'].map(name => ({
        kind: 'restartMember',
        summary: `start ${name} again on its volume with etcd 3.6.16`,
      })),
    });
  });

  it('are not remembered while nothing shows of which incarnation they are', () => {
    const cluster = rebuiltFrom(['example-0', 'example-2']);
    for (const left of [[], claims.map(claim => ({ ...claim, token: 'example-0b7e6e34-7' }))])
      expect(planIdentityCompletion(anObservation({ cluster, claims: left, ...unknown }))).toBeUndefined();
  });

  it('are not members once a quorum has listed who is', () => {
    const cluster = rebuiltFrom(['example-0', 'example-2']);
    const seen = anObservation({
      cluster,
      claims,
      ...shared,
      membership: aMembership(['example-0', 'example-2']),
    });
    expect(planIdentityCompletion(seen)).toBeUndefined();
    const findings = {
      situation: situationOf(seen),
      decision: plan(seen, {}),
      members: observedMembers(situationOf(seen)),
    };
    expect(statusOf(findings, { workflowId: 'w', now: NOW }).incarnation?.rebuilt).toBeUndefined();
    const unsure = { ...seen, membership: unknown.membership };
    expect(
      statusOf({ ...findings, situation: situationOf(unsure) }, { workflowId: 'w', now: NOW }).incarnation,
    ).toEqual(cluster.status.incarnation);
  });

  it('are asked about while they are not back, and nothing counts as lost for good', () => {
    const cluster = rebuiltFrom(['example-0']);
    const left = [aClaim({ name: 'example-0', phase: 'Lost' }), aClaim({ name: 'example-1', ...UNSTAMPED })];
    const observation = anObservation({
      cluster,
      claims: left,
      namesSeen: ['example-0', 'example-1'],
      ...unknown,
    });
    expect(plan(observation, {})).toMatchObject({
      kind: 'blocked',
      reason: 'ClaimsUnstamped',
      message: expect.stringContaining(`the annotation ${ANNOTATION_INCARNATION}=${TOKEN};`),
    });
    expect(isTotalLoss(observation)).toBe(false);
    expect(isTotalLoss({ ...observation, claims: left.slice(0, 1), namesSeen: [] })).toBe(true);
  });

  it('are asked about when nothing else is left of the cluster', () => {
    const { object, ...cluster } = aCluster();
    const annotations = { [ANNOTATION_INCARNATION]: TOKEN, [ANNOTATION_CLUSTER_ID]: CLUSTER_ID };
    const stamped = { ...cluster, object: { ...object, metadata: { ...object.metadata, annotations } } };
    const observation = anObservation({ cluster: stamped, claims: [aClaim(UNSTAMPED)] });
    expect(plan(observation, {})).toMatchObject({
      kind: 'blocked',
      reason: 'IdentityUnknown',
      message: expect.stringContaining('claim example-0 has the name of a member'),
    });
  });
});

describe('pods of a cluster without any identity', () => {
  it('keep it from being begun again: it has lived', () => {
    const { status: _, ...cluster } = aCluster();
    const pod = aPod({ name: 'example-0', token: undefined });
    const observation = anObservation({ cluster: { ...cluster, status: {} }, pods: [pod] });
    expect(plan(observation, {})).toMatchObject({
      kind: 'blocked',
      reason: 'IdentityUnknown',
      message: expect.stringContaining('pod example-0'),
    });
  });
});

describe('the stamps on the resource itself, when its status was lost', () => {
  const stamped = (annotations: Record<string, string>) => {
    const cluster = aCluster();
    const metadata = { ...cluster.object.metadata, annotations };
    return { ...cluster, object: { ...cluster.object, metadata } };
  };
  const LIVED = {
    [ANNOTATION_INCARNATION]: TOKEN,
    [ANNOTATION_CLUSTER_ID]: CLUSTER_ID,
    [ANNOTATION_LAST_SERIAL]: '6',
  };

  it('keep the last serial, so that the name of a member that was removed is not given again', () => {
    const cluster = stamped(LIVED);
    expect(lastSerialOf(cluster)).toBe(6);
    expect(nextMember(situationOf(anObservation({ cluster, claims: [aClaim({ name: 'example-2' })] })))).toBe(
      'example-7',
    );
    const [first] = firstIncarnation(anObservation({ cluster })).members;
    expect(first?.name).toBe('example-7');
  });

  it('keep the cluster id', () => {
    const claims = [aClaim({ clusterId: undefined })];
    expect(rebuiltIdentity(anObservation({ cluster: stamped(LIVED), claims }))?.clusterId).toBe(CLUSTER_ID);
  });

  it('say that a cluster lived of which nothing is left: no empty one is made in its place', () => {
    const { kind, ...rest } = plan(anObservation({ cluster: stamped(LIVED) }), {});
    expect(kind).toBe('blocked');
    expect(rest).toMatchObject({ reason: 'EverythingLost', plan: [] });
  });

  it('keep how members talk: what was switched meanwhile is not recorded, and no certificate is made for it', () => {
    const { object, ...cluster } = stamped(LIVED);
    const { uid } = object.metadata;
    const annotations = { ...LIVED, [ANNOTATION_SECURITY]: `${uid} plain text` };
    const asking = (spec: EtcdClusterSpec) => ({
      ...cluster,
      object: { ...object, spec, metadata: { ...object.metadata, annotations } },
    });
    const claims = [aClaim({})];
    const toIssue = [{ secret: 'example-peer-ca', why: 'it is missing' }];
    const tls = { certificates: [], toIssue, taken: [], authoritiesLost: [] };
    const switched = anObservation({ cluster: asking({ TLS: { auto: {} } }), claims, tls });
    const decision = plan(switched, {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'ModeSwitched', plan: [] });
    const members = observedMembers(situationOf(switched));
    const reported = conditionsOf({ situation: situationOf(switched), decision, members });
    expect(reported.find(({ type }) => type === 'Available')?.reason).not.toBe('NotCreated');
    expect(plan(anObservation({ cluster: asking({}), claims }), {})).toMatchObject({ kind: 'operate' });
  });

  it('are those of before a restore that had not let in clients: what it has made is to be deleted, and then that is recorded', () => {
    const kept = aClaim({ name: 'example-0', clusterId: CLUSTER_ID, keptByRestore: true });
    const newer = TOKEN.replace(/\d+$/, '2');
    const begun = { name: 'example-7', token: newer, clusterId: undefined };
    const cluster = stamped(LIVED);
    const seen = anObservation({ cluster, claims: [kept, aClaim(begun)], pods: [aPod(begun)] });
    const { kind, ...rest } = plan(seen, {});
    expect(kind).toBe('blocked');
    expect(rest).toMatchObject({
      reason: 'IdentityUnknown',
      message: expect.stringContaining('kept on claim example-0. Delete pod example-7, claim example-7,'),
    });
    expect(plan(anObservation({ cluster, claims: [kept] }), {})).toMatchObject({
      kind: 'operate',
      step: { kind: 'recordIncarnation', clusterId: CLUSTER_ID, incarnation: { token: TOKEN } },
    });
  });

  it('keep claims of a restored cluster from being called copies, where those of before an earlier restore are still kept', () => {
    const older = aClaim({ name: 'example-0', clusterId: CLUSTER_ID, keptByRestore: true });
    const newer = TOKEN.replace(/\d+$/, '2');
    const living = aClaim({ name: 'example-7', token: newer, clusterId: undefined });
    const { status: _, ...unstamped } = aCluster();
    const cluster = { ...unstamped, status: {} };
    const { kind, ...rest } = plan(anObservation({ cluster, claims: [older, living] }), {});
    expect(kind).toBe('blocked');
    expect(rest).toMatchObject({
      reason: 'IdentityUnknown',
      message: expect.not.stringContaining('nothing but a copy'),
    });
  });

  it('say nothing of a cluster that was not born yet', () => {
    const decision = plan(anObservation({ cluster: stamped({ [ANNOTATION_INCARNATION]: TOKEN }) }), {});
    expect(decision).toMatchObject({ kind: 'operate', step: { kind: 'recordIncarnation' } });
  });

  it('mean nothing on a copy of the resource', () => {
    const copy = stamped({ ...LIVED, [ANNOTATION_INCARNATION]: 'example-deadbeef-1' });
    expect(lastSerialOf(copy)).toBe(-1);
    expect(plan(anObservation({ cluster: copy }), {})).toMatchObject({ operation: 'createCluster' });
  });
});
