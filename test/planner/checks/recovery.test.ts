/** When a quorum may be recovered from one member, and when nothing proves that it cannot come back. */
import { describe, expect, it } from 'vitest';
import { judgeConfirmation } from '../../../src/planner/checks/restore-confirmation.ts';
import { type Named, type Recovery, recoveryOf } from '../../../src/planner/checks/recovery.ts';
import type { RestoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aProbe,
  aRunningCluster,
  CLUSTER_ID,
  idOf,
  LONG_AGO,
  NOW,
} from '../../worlds/builders.ts';
import { type About, without } from '../../worlds/without-quorum.ts';

const TROUBLE = { reason: 'CrashLoopBackOff', message: 'wal: crc mismatch' };

const judge = (observation: Observation, named: Named = {}) =>
  recoveryOf(situationOf(observation, {}), named);

function recovered(observation: Observation, named?: Named): Recovery {
  const judged = judge(observation, named);
  if ('fault' in judged) throw new Error(judged.fault);
  return judged.recovery;
}

function faultOf(observation: Observation, named?: Named): string {
  const judged = judge(observation, named);
  return 'fault' in judged ? judged.fault : 'none';
}

describe('two of three volumes are gone', () => {
  it('and the third answers: its data can be recovered, and what was seen is said', () => {
    const found = recovered(without([{ lost: true, seen: 43 }, { lost: true }, { revision: 41 }]));
    expect(found).toEqual({
      clusterId: CLUSTER_ID,
      survivor: { name: 'example-2', id: idOf('example-2'), claimUid: 'claim-example-2', raftIndex: '12' },
      revision: 41,
      lastRevision: 43,
      lastSeen: LONG_AGO,
      givenUp: ['example-0', 'example-1'].map(name => ({ name, id: idOf(name), why: 'its claim is gone' })),
    });
  });

  it.each<[string, string, Partial<Observation>]>([
    ['a quorum answers', 'a quorum of example answers', { membership: aRunningCluster().membership }],
    [
      'a claim may be of a member that nobody remembers',
      'claim example-7',
      { claims: [aClaim({ name: 'example-2' }), aClaim({ name: 'example-7' })] },
    ],
    [
      'a claim has lost its stamps',
      'claim example-7',
      { claims: [aClaim({ name: 'example-2' }), aClaim({ name: 'example-7', token: undefined })] },
    ],
    [
      'the volume of the third is another one',
      'does not answer|answers',
      { claims: [aClaim({ name: 'example-2', stampedUid: 'another' })] },
    ],
  ])('and %s: nothing is', (_, why, given) => {
    expect(faultOf(without([{ lost: true }, { lost: true }, { revision: 41 }], given))).toMatch(
      new RegExp(why),
    );
  });

  describe('and a learner was being added', () => {
    const learner = { id: 'abc123', name: 'example-3', since: NOW };
    const adding = (given: Partial<Observation> = {}, noted = learner): Observation => {
      const claims = ['example-2', 'example-3'].map(name => aClaim({ name }));
      const found = without([{ lost: true }, { lost: true }, { revision: 41 }], { claims });
      const status = { ...found.cluster.status, learner: noted };
      return { ...found, cluster: aCluster({ status }), ...given };
    };

    it('that had not started: it never voted, and is given up with the others', () => {
      expect(recovered(adding()).givenUp.at(-1)).toEqual({
        name: 'example-3',
        id: 'abc123',
        why: 'it did not vote when it was last observed',
      });
    });

    it('and another claim is there: it may be of a member that nobody remembers', () => {
      expect(faultOf(adding({}, { ...learner, name: 'example-4' }))).toContain('claim example-3');
    });

    it('that says that it votes: nothing is recovered', () => {
      const { probes } = adding();
      const voter = aProbe({ name: 'example-3', leaderId: undefined, isLearner: false });
      expect(faultOf(adding({ probes: { ...probes, 'example-3': voter } }))).toContain('claim example-3');
    });
  });

  it('and the third knows a leader: the operator may be on the wrong side', () => {
    const observation = without([{ lost: true }, { lost: true }, { revision: 41, leader: 'a0' }]);
    expect(faultOf(observation)).toContain('example-2 knows a leader');
  });

  it('and nobody knows the ids of the lost: nobody can say what is given up', () => {
    expect(faultOf(without([{ lost: true, never: true }, { lost: true }, { revision: 41 }]))).toContain(
      'the member id of example-0 is not known',
    );
  });

  it('and the third does not answer: it is inspected where it runs', () => {
    const observation = without([{ lost: true }, { lost: true }, {}]);
    expect(judge(observation)).toMatchObject({
      fault: expect.stringContaining('example-2 does not answer'),
      inspect: [{ member: 'example-2', claimUid: 'claim-example-2', node: 'node-2' }],
    });
    expect(judge(without([{ lost: true }, { lost: true }, { noPod: true }]))).toMatchObject({ inspect: [] });
    expect(judge(without([{ lost: true }, { lost: true }, { pod: { node: undefined } }]))).toMatchObject({
      inspect: [],
    });
  });

  it('and the third was inspected: what was found counts, of this claim and this cluster', () => {
    const observation = without([{ lost: true }, { lost: true }, {}]);
    const found = {
      name: 'example-2',
      claimUID: 'claim-example-2',
      clusterID: CLUSTER_ID,
      revision: 44,
      raftTerm: '3',
      raftIndex: '15',
      time: NOW,
    };
    const inspected = (change: Partial<typeof found>): Observation => ({
      ...observation,
      cluster: aCluster({ status: { ...observation.cluster.status, survivors: [{ ...found, ...change }] } }),
    });
    expect(recovered(inspected({}))).toMatchObject({ survivor: { name: 'example-2' }, revision: 44 });
    expect(faultOf(inspected({ claimUID: 'another' }))).toContain('does not answer');
    expect(faultOf(inspected({ clusterID: 'another' }))).toContain('does not answer');
  });

  it.each<[string, object]>([
    ['stores its data in its pods', { storage: { kind: 'EmptyDir' } }],
    ['has not formed', { clusterID: undefined }],
    [
      'a restore of example is under way',
      { incarnation: { token: 't', members: [], restore: { name: 'r', uid: 'u' } } },
    ],
  ])('of a cluster that %s: nothing is recovered', (why, change) => {
    const observation = without([{ lost: true }, { lost: true }, { revision: 41 }]);
    const status = { ...observation.cluster.status, ...change };
    expect(faultOf({ ...observation, cluster: aCluster({ status }) })).toContain(why);
  });

  it('of a cluster that is hibernated: nothing is recovered', () => {
    const observation = without([{ lost: true }, { lost: true }, { revision: 41 }]);
    const { status } = observation.cluster;
    const cluster = aCluster({ status, spec: { hibernated: true } });
    expect(faultOf({ ...observation, cluster })).toContain('hibernated');
  });
});

describe('members that may come back', () => {
  it('are waited for, however long they are silent', () => {
    expect(faultOf(without([{}, {}, { revision: 41 }]))).toContain('3 of 3 voters may come back');
    expect(faultOf(without([{ lost: true }, { noPod: true }, { revision: 41 }]))).toContain(
      '2 of 3 voters may come back, and 2 are a quorum',
    );
  });

  it('are named with the nodes of their volumes, whether these exist or nobody knows', () => {
    const claims = [undefined, true].map((exists, index) =>
      aClaim({ name: `example-${index}`, home: { node: `node-${index}`, exists } }),
    );
    const fault = faultOf(
      without([{}, {}, { revision: 41 }], { claims: [...claims, aClaim({ name: 'example-2' })] }),
    );
    expect(fault).toContain('its volume is on Node node-0, which may exist');
    expect(fault).toContain('its volume is on Node node-1, which exists');
  });

  it('are not given up with the survivor itself, whatever a person names', () => {
    const examined = {
      member: 'example-2',
      memberId: idOf('example-2'),
      claimUid: 'claim-example-2',
      revision: 41,
    };
    const found = recovered(without([{ lost: true }, { lost: true }, { revision: 41 }]), {
      givenUp: [idOf('example-2')],
      examined,
    });
    expect(found.survivor.name).toBe('example-2');
  });

  const gone = { givenUp: [idOf('example-0'), idOf('example-1')] };

  it.each<[string, Partial<PodFacts>]>([
    ['runs', {}],
    ['is on a node that is not heard of', { trouble: TROUBLE, host: { exists: true, ready: 'Unknown' } }],
    ['is on a node that is not ready', { trouble: TROUBLE, host: { exists: true, ready: 'False' } }],
    ['is on a node of which nothing is known', { trouble: TROUBLE }],
    ['is not of this operator', { owned: false, trouble: TROUBLE, host: { exists: true, ready: 'True' } }],
    [
      'has trouble with a container beside etcd',
      { trouble: { ...TROUBLE, container: 'proxy' }, host: { exists: true, ready: 'True' } },
    ],
  ])('are not given up on the word of a person when the pod %s', (_, pod) => {
    const observation = without([{ lost: true }, { pod }, { revision: 41 }]);
    expect(faultOf(observation, gone)).toContain('may come back');
  });

  it.each<[string, PodFacts['host']]>([
    ['a ready node says that its etcd does not run', { exists: true, ready: 'True' }],
    ['its node is gone', { exists: false }],
    ['its node is out of service', { exists: true, ready: 'Unknown', outOfService: true }],
  ])('are given up on the word of a person when %s', (_, host) => {
    const observation = without([{ lost: true }, { pod: { trouble: TROUBLE, host } }, { revision: 41 }]);
    expect(recovered(observation, gone).givenUp[1]?.why).toContain('a person gave it up');
    expect(faultOf(observation, { givenUp: [idOf('example-0')] })).toContain('may come back');
  });
});

describe('the survivor', () => {
  it('is the one with the highest revision, and the higher index of two with the same', () => {
    const lost = { lost: true } as const;
    const more = without([lost, lost, lost, { revision: 41, index: 99 }, { revision: 42, index: 12 }]);
    expect(recovered(more).survivor.name).toBe('example-4');
    expect(recovered(more).givenUp.at(-1)).toMatchObject({
      name: 'example-3',
      why: 'its data is not newer than that of example-4',
    });
    const same = without([lost, lost, lost, { revision: 41, index: 9 }, { revision: 41, index: 10 }]);
    expect(recovered(same).survivor.name).toBe('example-4');
    const equal = without([lost, lost, lost, { revision: 41 }, { revision: 41 }]);
    expect(recovered(equal).survivor.name).toBe('example-3');
  });

  it('is chosen when nobody is left that may have more', () => {
    const lost = { lost: true } as const;
    expect(faultOf(without([lost, lost, lost, { revision: 41 }, {}]))).toContain(
      'example-4 does not answer, its pod is Running, its claim is Bound: its data may be newer',
    );
  });

  it('is none that says nothing of its revision', () => {
    const observation = without([{ lost: true }, { lost: true }, { revision: 41 }]);
    const { 'example-2': said } = observation.probes;
    const { revision: _, ...silent } = said as { revision?: string };
    expect(faultOf({ ...observation, probes: { 'example-2': silent as never } })).toContain(
      'example-2 answers',
    );
  });

  it('is the first of two with the higher index, in whatever order they are looked at', () => {
    const lost = { lost: true } as const;
    const rows = [lost, lost, lost, { revision: 41, index: 10 }, { revision: 41, index: 9 }];
    expect(recovered(without(rows)).survivor.name).toBe('example-3');
  });

  it('is none that is a learner: it does not count for a quorum', () => {
    const observation = without([
      { lost: true },
      { lost: true },
      { revision: 41 },
      { revision: 99, learner: true },
    ]);
    expect(recovered(observation)).toMatchObject({ survivor: { name: 'example-2' }, revision: 41 });
    expect(recovered(observation).givenUp).toHaveLength(3);
  });

  it('is none when all volumes are gone', () => {
    const lost = { lost: true } as const;
    expect(faultOf(without([lost, lost, lost]))).toContain('no member is left');
  });
});

describe('a recovery that was approved', () => {
  const survivor = {
    member: 'example-2',
    memberID: idOf('example-2'),
    claimUID: 'claim-example-2',
    revision: 41,
    givenUp: [idOf('example-0'), idOf('example-1')],
  };
  const source = {
    location: 'survivor://shop/example-2',
    size: 1,
    sha256: '',
    snapshotSize: 1,
    compression: 'none' as const,
    revision: 41,
  };
  const restore = (change: Partial<RestoreOfCluster> = {}): RestoreOfCluster => ({
    ...{ name: 'r', uid: 'u', createdAt: NOW, revisionBump: 0, confirmClusterId: CLUSTER_ID, survivor },
    ...change,
  });
  const judged = (observation: Observation, change?: Partial<RestoreOfCluster>): string | undefined =>
    judgeConfirmation(situationOf(observation, {}), restore(change))?.message;
  const rows: readonly About[] = [{ lost: true }, { lost: true }, { revision: 41 }];

  it('goes on while every fact is as it was', () => {
    expect(judged(without(rows))).toBeUndefined();
  });

  it.each<[string, Partial<RestoreOfCluster>, string]>([
    ['the cluster', { confirmClusterId: 'abc' }, 'the id of the cluster is'],
    ['the claim', { survivor: { ...survivor, claimUID: 'another' } }, 'has the newest data'],
    ['the member', { survivor: { ...survivor, memberID: 'ff' } }, 'has the newest data'],
    ['the revision', { survivor: { ...survivor, revision: 40 } }, 'has revision 41, and 40 was approved'],
    ['who is given up', { survivor: { ...survivor, givenUp: ['a0'] } }, 'would be given up'],
  ])('is refused when it is not %s that was approved', (_, change, why) => {
    expect(judged(without(rows), change)).toContain(why);
  });

  it('is refused for good when a lost member may come back, also while the others are being stopped', () => {
    expect(judged(without([{ lost: true }, { noPod: true }, { revision: 41 }]))).toContain('may come back');
    const fenced = without([{ lost: true }, {}, { noPod: true }]);
    expect(judged(fenced, { source })).toContain('may come back');
  });

  it('goes on when its survivor was examined and is stopped, with a member that a person gave up', () => {
    const stopped = without([{ lost: true }, { noPod: true }, { pod: { deleting: true } }]);
    expect(judged(stopped, { source })).toBeUndefined();
    expect(judged(stopped)).toContain('may come back');
    // It was not stopped by anybody: it is silent, and nobody knows why.
    expect(judged(without([{ lost: true }, { noPod: true }, {}]), { source })).toContain('may come back');
    expect(judged(without([{ lost: true }, { lost: true }, {}]), { source })).toContain('no member is left');
  });
});
