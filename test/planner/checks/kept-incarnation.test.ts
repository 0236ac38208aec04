/** Whether a cluster can go back to an incarnation that is kept, and what is asked of it before anything is touched. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { ANNOTATION_KEPT_INCARNATION } from '../../../src/api/names.ts';
import { givenUpWords, returnTo } from '../../../src/planner/checks/kept-incarnation.ts';
import { whyNotAccepted } from '../../../src/planner/checks/restore-acceptance.ts';
import type { KeptNote } from '../../../src/planner/model/kept-incarnations.ts';
import type { ClaimFacts, Observation } from '../../../src/planner/model/observation.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import { restorePending } from '../../../src/planner/operations/restore/pending.ts';
import { idle } from '../../../src/planner/model/decision.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  anObservation,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  LONG_AGO,
  namesOf,
  NOW,
} from '../../worlds/builders.ts';

const OLD = 'example-0b7e6e34-0';
const OLD_ID = 'beef';
/** Members of the one that is kept. */
const MEMBERS = ['example-5', 'example-6', 'example-7'];

const note = (given: Partial<KeptNote> = {}): KeptNote => ({
  token: OLD,
  clusterID: OLD_ID,
  since: LONG_AGO,
  leftAt: NOW,
  revision: 4_711,
  members: MEMBERS.map(name => ({ name })),
  ...given,
});

const keptClaim = (name: string, given: Partial<ClaimFacts> = {}, noted = note()): ClaimFacts =>
  aClaim({
    owned: false,
    keptByRestore: true,
    token: OLD,
    clusterId: OLD_ID,
    annotations: { [ANNOTATION_KEPT_INCARNATION]: JSON.stringify(noted) },
    ...given,
    name,
  });

/** A cluster that was restored, with these claims of what was before. */
function restored(
  claims: readonly ClaimFacts[] = MEMBERS.map(name => keptClaim(name)),
  { spec = {}, status = {} }: { readonly spec?: EtcdClusterSpec; readonly status?: EtcdClusterStatus } = {},
): Observation {
  const cluster = aCluster({ spec: { size: 3, ...spec }, status: { ...aRunningStatus(), ...status } });
  return aRunningCluster({ cluster, claims: [...namesOf(3).map(name => aClaim({ name })), ...claims] });
}

const judged = (observation: Observation, token = OLD) => returnTo(situationOf(observation), token);

describe('an incarnation that is kept', () => {
  it('can be gone back to with all its members, on their own claims', () => {
    expect(judged(restored())).toMatchObject({
      found: {
        token: OLD,
        clusterId: OLD_ID,
        since: LONG_AGO,
        leftAt: NOW,
        revision: 4_711,
        members: MEMBERS.map(name => ({ name })),
        claims: MEMBERS.map(name => ({ name, uid: `claim-${name}` })),
        version: '3.6.16',
      },
    });
  });

  it('also when the operator was killed after it had taken off their marks', () => {
    const claims = MEMBERS.map(name => keptClaim(name, { keptByRestore: false }));
    expect(judged(restored(claims))).toMatchObject({ found: { token: OLD } });
  });

  it('also without the claim of a member, if the others are a quorum; a learner counts for none', () => {
    const [first = '', second = '', third = ''] = MEMBERS;
    expect(judged(restored([keptClaim(first), keptClaim(second)]))).toMatchObject({
      found: { claims: [{ name: first }, { name: second }] },
    });
    const withLearner = note({
      members: [{ name: first }, { name: second }, { name: third, learner: true }],
    });
    const claims = [keptClaim(first, {}, withLearner), keptClaim(third, {}, withLearner)];
    expect(judged(restored(claims))).toMatchObject({
      fault: { message: expect.stringContaining('of the 2 voters of incarnation') },
    });
  });

  it.each<[string, Partial<ClaimFacts>, string]>([
    ['is being deleted', { deleting: true }, 'its claim is being deleted'],
    ['has lost its volume', { phase: 'Lost' }, 'its claim has lost its volume'],
    ['is a copy', { stampedUid: 'another' }, 'its claim (uid another) is gone, and a different claim'],
    ['is of another cluster', { clusterId: 'bad' }, 'its claim is stamped with cluster id bad, and not beef'],
    [
      'was on a node that is gone',
      { home: { node: 'n', exists: false } },
      'its volume is on node n, which is gone',
    ],
  ])('does not count a claim that %s', (_, given, says) => {
    const [first = '', second = ''] = MEMBERS;
    expect(judged(restored([keptClaim(first, given), keptClaim(second)]))).toMatchObject({
      fault: { reason: 'IncarnationNotKept', message: expect.stringContaining(`example-5: ${says}`) },
    });
  });

  it.each<[string, Observation, string, string]>([
    ['runs', restored(), 'example-0b7e6e34-1', 'runs incarnation example-0b7e6e34-1 already'],
    ['is not known', restored(), 'example-0b7e6e34-9', `kept are ${OLD}`],
    ['is not there, as nothing is', restored([]), OLD, 'none is kept'],
    [
      'is that of another EtcdCluster of the name',
      restored(MEMBERS.map(name => keptClaim(name, { token: 'example-ffffffff-0' }))),
      'example-ffffffff-0',
      'none is kept',
    ],
    [
      'is not described',
      restored(MEMBERS.map(name => keptClaim(name, { annotations: {} }))),
      OLD,
      'nothing shows which members',
    ],
    [
      'is described in other words than the operator writes',
      restored(
        MEMBERS.map((name, index) =>
          keptClaim(name, {
            annotations: { [ANNOTATION_KEPT_INCARNATION]: ['{', 'null', '{"token":"x"}'][index] ?? '' },
          }),
        ),
      ),
      OLD,
      'nothing shows which members',
    ],
    [
      'never formed',
      restored(
        MEMBERS.map(name => {
          const { clusterID: _, ...unformed } = note();
          return keptClaim(name, { clusterId: undefined }, unformed);
        }),
      ),
      OLD,
      'never formed a cluster',
    ],
  ])('that %s cannot be gone back to', (_, observation, token, says) => {
    expect(judged(observation, token)).toMatchObject({
      fault: { reason: 'IncarnationNotKept', message: expect.stringContaining(says) },
    });
  });

  it('is known from the status when an earlier release put it aside', () => {
    const incarnation = { token: OLD, members: [] };
    const lastSeen = [
      { name: 'example-5', id: 'a', time: NOW, revision: '7', raftTerm: '1', raftIndex: '1' },
    ];
    const status = { previousIncarnation: { incarnation, clusterID: OLD_ID, members: MEMBERS, lastSeen } };
    const claims = MEMBERS.map(name => keptClaim(name, { annotations: undefined }));
    expect(judged(restored(claims, { status }))).toMatchObject({
      found: { clusterId: OLD_ID, revision: 7, members: MEMBERS.map(name => ({ name })) },
    });
  });
});

describe('the version of its data', () => {
  const of = (versions: readonly (string | undefined)[], spec: EtcdClusterSpec) =>
    judged(
      restored(
        MEMBERS.map((name, index) => keptClaim(name, { version: versions[index] })),
        { spec },
      ),
    );

  it.each<[readonly string[], string, string]>([
    [['3.5.35', '3.5.35', '3.5.35'], '3.6.16', '3.5.35'],
    [['3.6.16', '3.6.16', '3.6.16'], '3.6.10', '3.6.16'],
    // Left in the middle of an upgrade.
    [['3.6.16', '3.5.35', '3.5.35'], '3.6.16', '3.5.35'],
  ])('%j is started under spec.version %s, beginning with %s', (versions, version, started) => {
    expect(of(versions, { version })).toMatchObject({ found: { version: started } });
  });

  it.each<[readonly (string | undefined)[], string, string, string]>([
    [['3.7.3', '3.6.16', '3.6.16'], '3.6.16', 'VersionTooOld', 'set spec.version to a release of 3.7 first'],
    [['3.4.30', '3.4.30', '3.4.30'], '3.6.16', 'VersionTooOld', 'cannot be brought to spec.version 3.6.16'],
    [[undefined, '3.6.16', 'x'], '3.6.16', 'IncarnationNotKept', 'last ran on claim example-5, example-7'],
  ])('%j is refused under spec.version %s', (versions, version, reason, says) => {
    expect(of(versions, { version })).toMatchObject({
      fault: { reason, message: expect.stringContaining(says) },
    });
  });
});

describe('an EtcdRestore that goes back', () => {
  const restore = (given: Partial<RestoreOfCluster> = {}): RestoreOfCluster => ({
    name: 'return',
    uid: 'return-uid',
    createdAt: NOW,
    confirmClusterId: CLUSTER_ID,
    revisionBump: 0,
    incarnation: OLD,
    ...given,
  });
  const why = (observation: Observation, given: Partial<RestoreOfCluster> = {}) =>
    whyNotAccepted(situationOf(observation), restore(given));

  it('may begin when it names the cluster that runs', () => {
    expect(why(restored())).toBeUndefined();
  });

  it('is refused when it names another one, also when what runs looks lost', () => {
    expect(why(restored(), { confirmClusterId: OLD_ID })).toMatchObject({
      kind: 'refused',
      reason: 'WrongClusterID',
      message: expect.stringContaining(`to give it up, set spec.confirmClusterID to ${CLUSTER_ID}`),
    });
    const lost = { ...restored(), pods: [], claims: MEMBERS.map(name => keptClaim(name)), probes: {} };
    const membership = { known: false, message: '' } as const;
    expect(why({ ...lost, membership }, { confirmClusterId: '' })).toMatchObject({
      reason: 'WrongClusterID',
    });
  });

  it('is refused when too little is kept', () => {
    expect(why(restored([]))).toMatchObject({ kind: 'refused', reason: 'IncarnationNotKept' });
  });

  it('waits while nothing has formed from which it could go back', () => {
    expect(why(anObservation())).toMatchObject({ kind: 'waits', reason: 'ClusterMissing' });
  });

  it('waits for a certificate that is valid for the members that start again', () => {
    const certificate = {
      role: 'peer' as const,
      secret: 'example-peer',
      keys: 'Standard' as const,
      exists: true,
      owned: false,
      missing: [],
      faults: [],
      notAfter: '2027-01-01T00:00:00Z',
      expiresSoon: false,
    };
    const seen = (dnsNames: readonly string[]): Observation => ({
      ...restored(),
      tls: {
        certificates: [{ ...certificate, dnsNames }],
        toIssue: [],
        taken: [],
        authoritiesLost: [],
      },
    });
    const hosts = (names: readonly string[]) => names.map(name => `${name}.example.shop.svc`);
    expect(why(seen(hosts(namesOf(3))))).toMatchObject({
      kind: 'waits',
      reason: 'WrongNames',
      message: expect.stringContaining('is not valid for example-5.example.shop.svc'),
    });
    expect(why(seen(hosts([...namesOf(3), ...MEMBERS])))).toBeUndefined();
  });

  it('says what is given up as long as it has not begun', () => {
    const lastSeen = [
      { name: 'example-0', id: 'a', time: NOW, revision: '12', raftTerm: '1', raftIndex: '1' },
    ];
    const seen = { ...restored(undefined, { status: { lastSeen } }), restores: [restore({ step: 'look' })] };
    const [condition] = restorePending(situationOf(seen), idle(1));
    expect(condition?.message).toContain(
      `EtcdRestore return waits: look; when it begins, what was written to cluster ${CLUSTER_ID} of example, incarnation example-0b7e6e34-1, since ${LONG_AGO} (revision 12 when it was last looked at)`,
    );
    const unseen = restored();
    const { incarnation: { createdAt: _, ...incarnation } = { token: '', members: [] } } =
      unseen.cluster.status;
    const cluster = { ...unseen.cluster, status: { ...unseen.cluster.status, incarnation } };
    expect(givenUpWords(situationOf({ ...unseen, cluster }))).toMatch(
      /incarnation example-0b7e6e34-1, and until clients are kept out is given up/,
    );
  });
});
