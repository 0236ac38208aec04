/** What a deleted EtcdCluster of the name has left: asked about, taken up, left alone. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_BEGIN_ANEW,
  ANNOTATION_RESTORED_BY,
  ANNOTATION_TAKE_UP,
  ANNOTATION_TAKEN_UP,
} from '../../../src/api/names.ts';
import type { LeftNote } from '../../../src/planner/model/left-note.ts';
import type {
  ClaimFacts,
  ClusterFacts,
  Observation,
  PodFacts,
} from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import { aClaim, aCluster, anObservation, aPod, namesOf, UID } from '../../worlds/builders.ts';

const FORMER = 'example-11112222-1';
const SECOND = 'example-11112222-2';
const OLDER = 'example-00001111-1';

const note = (given: Partial<LeftNote> = {}) =>
  JSON.stringify({
    incarnation: FORMER,
    voters: namesOf(3),
    security: 'plain text',
    domain: '',
    ...given,
  });
const aKept = (name: string, given: Partial<ClaimFacts> = {}) =>
  aClaim({ name, owned: false, token: FORMER, leftBy: note(), createdAt: 2, ...given });
const aLeft = (name: string, given: Partial<PodFacts> = {}) =>
  aPod({ name, owned: false, unowned: true, token: FORMER, leftBy: note(), ...given });
const kept = (names = namesOf(3), given: Partial<ClaimFacts> = {}) => names.map(name => aKept(name, given));

function annotated(annotations: Record<string, string>, spec = {}): ClusterFacts {
  const cluster = aCluster({ hasFinalizer: false, spec });
  const { object } = cluster;
  return { ...cluster, object: { ...object, metadata: { ...object.metadata, annotations } } };
}

const TAKE_UP = annotated({ [ANNOTATION_TAKE_UP]: FORMER });
const anew = (token: string) => annotated({ [ANNOTATION_BEGIN_ANEW]: token });

const observed = (given: Partial<Observation>): Observation =>
  anObservation({ namesSeen: namesOf(3), ...given });

describe('beside what a deleted cluster of the name has left', () => {
  it('nothing is created until a user has decided', () => {
    expect(plan(observed({ claims: kept() }), {})).toMatchObject({
      kind: 'blocked',
      reason: 'FormerCluster',
      message: `a deleted EtcdCluster example has left claim example-0, example-1, example-2 (incarnation ${FORMER}, cluster id c0ffee0123456789), and nothing is created beside it until you decide: to take up the members with their data, run: kubectl -n shop annotate --overwrite etcd example ${ANNOTATION_TAKE_UP}=${FORMER}; to begin with an empty cluster and leave the claims as they are, run: kubectl -n shop annotate --overwrite etcd example ${ANNOTATION_BEGIN_ANEW}=${FORMER}`,
    });
  });

  it('nothing is created beside pods alone either', () => {
    const decision = plan(observed({ pods: namesOf(3).map(name => aLeft(name)) }), {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'FormerCluster' });
    expect(decision).toHaveProperty(
      'message',
      expect.stringContaining(`has left pod example-0, example-1, example-2 (incarnation ${FORMER}, `),
    );
  });

  it('the newest is asked about, and the others are named', () => {
    const older = aKept('example-7', { token: OLDER, createdAt: 1 });
    const decision = plan(observed({ claims: [older, ...kept()] }), {});
    expect(decision).toMatchObject({ reason: 'FormerCluster' });
    expect(decision).toHaveProperty('message', expect.stringContaining(`${ANNOTATION_TAKE_UP}=${FORMER}`));
    expect(decision).toHaveProperty(
      'message',
      expect.stringContaining(`Others are left too: claim example-7 (incarnation ${OLDER}`),
    );
    expect(plan(observed({ claims: [older, ...kept()], cluster: anew(OLDER) }), {})).toMatchObject({
      kind: 'blocked',
    });
  });

  it('of two that are as new the one with the higher number is asked about', () => {
    const second = namesOf(6)
      .slice(3)
      .map(name => aKept(name, { token: SECOND }));
    expect(plan(observed({ claims: [...kept(), ...second] }), {})).toHaveProperty(
      'message',
      expect.stringContaining(`${ANNOTATION_TAKE_UP}=${SECOND}`),
    );
  });

  it('pods without claims are taken up only by a quorum of them', () => {
    const pods = namesOf(2).map(name => aLeft(name, { leftBy: note({ voters: namesOf(5) }) }));
    expect(plan(observed({ pods, cluster: TAKE_UP }), {})).toHaveProperty(
      'message',
      expect.stringContaining('pod example-2, example-3, example-4 is missing'),
    );
  });

  it.each<[string, ClaimFacts[]]>([
    ['that are being deleted', kept(namesOf(3), { deleting: true })],
    ['that a restore put aside', kept(namesOf(3), { keptByRestore: true })],
    ['of members that were removed before', kept(namesOf(3), { keptUntil: 5 })],
    ['of a cluster of another name', kept(namesOf(3), { token: 'other-11112222-1' })],
    ['of a cluster whose name begins with this one', kept(namesOf(3), { token: 'example-b-11112222-1' })],
    ['without any stamp', kept(namesOf(3), { token: undefined })],
  ])('claims %s are no reason to ask', (_, claims) => {
    expect(plan(observed({ claims }), {})).toMatchObject({ step: { kind: 'recordIncarnation' } });
  });

  it('a cluster that was deleted in the middle of a restore is asked about by what the restore put aside', () => {
    const seed = aKept('example-3', { token: SECOND, clusterId: undefined, createdAt: 3 });
    const decision = plan(observed({ claims: [seed, ...kept(namesOf(3), { keptByRestore: true })] }), {});
    expect(decision).toMatchObject({ reason: 'FormerCluster' });
    expect(decision).toHaveProperty('message', expect.stringContaining(`${ANNOTATION_TAKE_UP}=${FORMER}`));
    const formed = { ...seed, clusterId: 'c0ffee' };
    const after = plan(observed({ claims: [formed, ...kept(namesOf(3), { keptByRestore: true })] }), {});
    expect(after).toHaveProperty('message', expect.not.stringContaining(FORMER));
  });

  it('a cluster that a backup is restored into is not asked about', () => {
    const cluster = annotated({ [ANNOTATION_RESTORED_BY]: 'monday' });
    expect(plan(observed({ claims: kept(), cluster }), {})).toMatchObject({ reason: 'AwaitingRestore' });
  });

  it('an empty cluster begins under other names when that is asked for by the incarnation', () => {
    expect(plan(observed({ claims: kept(), cluster: anew(FORMER) }), {})).toMatchObject({
      step: { kind: 'recordIncarnation', incarnation: { members: [{ name: 'example-3' }, {}, {}] } },
    });
    expect(plan(observed({ claims: kept(), cluster: anew('example-99999999-1') }), {})).toMatchObject({
      reason: 'FormerCluster',
    });
  });

  it('no empty cluster begins while pods of the former one run', () => {
    const decision = plan(
      observed({ claims: kept(), pods: [aLeft('example-1')], cluster: anew(FORMER) }),
      {},
    );
    expect(decision).toMatchObject({ reason: 'FormerCluster' });
    expect(decision).toHaveProperty(
      'message',
      expect.stringContaining('pod example-1 of a deleted EtcdCluster'),
    );
  });
});

describe('members are taken up', () => {
  it('with claims alone, and with the pods that run', () => {
    const pods = namesOf(3).map(name => aLeft(name));
    const left = { exists: true, owned: false, unowned: true } as const;
    const named = namesOf(3).map(name => ({ name }));
    const step = { kind: 'takeUpMembers', token: FORMER, clusterId: 'c0ffee0123456789', claims: named };
    expect(plan(observed({ claims: kept(), cluster: TAKE_UP }), {})).toMatchObject({
      operation: 'repairCluster',
      step: { ...step, pods: [], objects: [], lastSerial: 2 },
    });
    const running = observed({
      claims: kept(),
      pods,
      cluster: TAKE_UP,
      peerService: left,
      clientService: left,
    });
    expect(plan(running, {})).toMatchObject({
      step: { ...step, pods: named, objects: ['peerService', 'clientService'] },
    });
  });

  it('above all names that something else has which is left', () => {
    const claims = [...kept(), aKept('example-7', { token: OLDER, createdAt: 1 })];
    expect(plan(observed({ claims, cluster: TAKE_UP }), {})).toMatchObject({ step: { lastSerial: 7 } });
  });

  it('with a quorum of the voters that the cluster noted, whatever else is left of it', () => {
    const two = kept(['example-0', 'example-2', 'example-4']);
    expect(plan(observed({ claims: two, cluster: TAKE_UP }), {})).toMatchObject({ kind: 'operate' });
  });

  it('without a note, as many as there are: etcd elects no leader without a quorum', () => {
    expect(
      plan(observed({ claims: kept(['example-0'], { leftBy: undefined }), cluster: TAKE_UP }), {}),
    ).toMatchObject({
      kind: 'operate',
    });
    // A note of another time says nothing.
    const stale = note({ incarnation: OLDER, voters: ['example-8', 'example-9'] });
    expect(
      plan(observed({ claims: kept(['example-0'], { leftBy: stale }), cluster: TAKE_UP }), {}),
    ).toMatchObject({
      kind: 'operate',
    });
  });

  it('when pods that go with the deleted cluster are gone', () => {
    for (const pod of [aLeft('example-0', { unowned: undefined }), aLeft('example-0', { deleting: true })])
      expect(plan(observed({ claims: kept(), pods: [pod], cluster: TAKE_UP }), {})).toMatchObject({
        kind: 'blocked',
        reason: 'PodTerminating',
      });
  });

  it('what has no owner yet follows after an interruption', () => {
    const cluster = annotated({
      [ANNOTATION_TAKE_UP]: FORMER,
      [ANNOTATION_TAKEN_UP]: `${UID} example-11112222-`,
    });
    const claims = kept().map(claim => ({ ...claim, owned: true }));
    const pods = [aLeft('example-0'), aLeft('example-1', { owned: true, unowned: undefined })];
    expect(plan(observed({ claims, pods, cluster }), {})).toMatchObject({
      step: { kind: 'takeUpMembers', pods: [{ name: 'example-0' }] },
    });
    expect(plan(observed({ claims, cluster }), {})).toMatchObject({
      step: { kind: 'recordIncarnation', clusterId: 'c0ffee0123456789', incarnation: { token: FORMER } },
    });
  });

  it('without those that did not vote', () => {
    const cluster = annotated({ [ANNOTATION_TAKEN_UP]: `${UID} example-11112222-` });
    const claims = kept([...namesOf(3), 'example-3']).map(claim => ({ ...claim, owned: true }));
    expect(plan(observed({ claims, cluster }), {})).toMatchObject({
      step: { kind: 'recordIncarnation', incarnation: { members: namesOf(3).map(name => ({ name })) } },
    });
  });
});

describe('nothing is taken up, and the message says why,', () => {
  it.each<[string, Partial<Observation>, string]>([
    [
      'when fewer than a quorum of the voters is there',
      { claims: kept(['example-1']) },
      'claim example-0, example-2 is missing',
    ],
    [
      'when a volume is lost',
      { claims: [aKept('example-0'), aKept('example-1', { phase: 'Lost' })] },
      'claim example-1, example-2 is missing',
    ],
    ['when nothing is left', { claims: [] }, `names ${FORMER}, of which neither a claim nor a pod`],
    [
      'when another incarnation is left',
      { claims: kept(namesOf(3), { token: OLDER }) },
      `incarnations that are left: ${OLDER}`,
    ],
    [
      'when the cluster never formed',
      { claims: kept(namesOf(3), { clusterId: undefined }) },
      'the cluster never formed',
    ],
    [
      'when claims are of two clusters',
      { claims: [...kept(['example-0', 'example-1']), aKept('example-2', { clusterId: 'bad' })] },
      'different cluster ids: c0ffee0123456789, bad',
    ],
    [
      'when a claim is a copy',
      { claims: [...kept(['example-0', 'example-1']), aKept('example-2', { stampedUid: 'other' })] },
      'claim example-2 is a copy',
    ],
    [
      'when the members use TLS',
      { claims: kept(namesOf(3), { leftBy: note({ security: 'TLS.auto (peer and client traffic)' }) }) },
      'its members use TLS.auto (peer and client traffic), and spec.TLS asks for plain text',
    ],
    [
      'when the members have a domain',
      { claims: kept(namesOf(3), { leftBy: note({ domain: 'cluster.local' }) }) },
      'write cluster.local into spec.pod.ClusterDomain',
    ],
    [
      'when the members, of which nothing was noted, know each other by a domain',
      {
        pods: namesOf(3).map(name =>
          aLeft(name, { leftBy: undefined, peerUrl: `http://${name}.example.shop.svc.cluster.local:2380` }),
        ),
      },
      'write cluster.local into spec.pod.ClusterDomain',
    ],
  ])('%s', (_, given, message) => {
    const decision = plan(observed({ ...given, cluster: TAKE_UP }), {});
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'TakeUpRefused' });
    expect(decision).toHaveProperty('message', expect.stringContaining(message));
  });

  it('when the stamp is a copy of that of another resource', () => {
    const cluster = annotated({ [ANNOTATION_TAKEN_UP]: 'other-uid example-11112222-' });
    expect(plan(observed({ claims: kept(), cluster }), {})).toMatchObject({ reason: 'FormerCluster' });
  });
});
