/** Which differences of a pod somebody asked for, and which only came with another release of the operator. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_MADE_FROM, ANNOTATION_RENDERED } from '../../../src/api/names.ts';
import type { EtcdClusterSpec, EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { madeFrom, specificationNoted } from '../../../src/objects/made-from.ts';
import { memberPod } from '../../../src/objects/pod.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { changesBesidesImage, podChanges } from '../../../src/planner/checks/pod-changes.ts';
import { outdatedPods } from '../../../src/planner/report/outdated-pods.ts';
import { planRollout } from '../../../src/planner/operations/rollout/index.ts';
import { aCluster, aRunningCluster, aRunningStatus } from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const BEFORE: EtcdClusterSpec = { size: 3, version: '3.6.16', etcd: { snapshotCount: 5_000 } };
const AFTER: EtcdClusterSpec = { size: 3, version: '3.6.16', etcd: { snapshotCount: 9_000 } };

/** A cluster that asks for `spec`, whose pods were made from `BEFORE`; `given` says how each pod differs. */
function living(
  spec: EtcdClusterSpec,
  given: (pod: PodFacts) => Partial<PodFacts> = () => ({}),
  status: EtcdClusterStatus = {},
): Observation {
  const whole = aRunningCluster();
  const cluster = aCluster({ spec, status: { ...aRunningStatus(), ...status } });
  const made = aCluster({ spec: BEFORE, status: cluster.status });
  const pods = whole.pods.map(pod => {
    const { token = '' } = cluster.status.incarnation ?? {};
    const start = { state: 'restart' } as const;
    const object = {
      name: pod.name,
      token,
      start,
      storage: 'PersistentVolumeClaim',
      version: '3.6.16',
    } as const;
    const { annotations = {} } = memberPod(made.object, object).metadata;
    const facts = {
      ...pod,
      stamp: annotations[ANNOTATION_RENDERED],
      madeFrom: annotations[ANNOTATION_MADE_FROM],
    };
    return { ...facts, ...given(facts) };
  });
  return { ...whole, cluster, pods };
}

/** The pods were rendered by a release that had another `--log-level` in mind, and no variable `NEW`. */
const otherRelease = ({ stamp = '{}' }: PodFacts): Partial<PodFacts> => ({
  stamp: JSON.stringify({ ...(JSON.parse(stamp) as object), 'argument --log-level': 'other' }),
});

/** A user created them by hand: their bootstrap flags are arguments. */
const byHand = (): Partial<PodFacts> => ({ firstStart: 'fixed' });

const changesOf = (observation: Observation) => podChanges(observation, observation.pods[0] as PodFacts);

describe('a pod', () => {
  it('is made of no specification that asks for another way of TLS than the cluster has, so nothing is said of it', () => {
    const observation = living({ ...AFTER, TLS: { auto: {} } });
    expect(changesOf(observation)).toEqual({ asked: [], rendered: [] });
    const [pod] = observation.pods;
    expect(changesBesidesImage(observation, pod as PodFacts, '3.6.17')).toHaveLength(1);
  });

  it('as it would be made now differs in nothing', () => {
    expect(changesOf(living(BEFORE))).toEqual({ asked: [], rendered: [] });
    // A pod that names no version is made with that of the cluster.
    const unnamed = living(BEFORE, () => ({ version: undefined }), { currentVersion: '3.6.16' });
    expect(changesOf(unnamed)).toEqual({ asked: [], rendered: [] });
  });

  it('whose specification was changed differs as asked', () => {
    const asked = ['argument --snapshot-count changed'];
    expect(changesOf(living(AFTER))).toEqual({ asked, rendered: [] });
  });

  it('of another release differs as rendered', () => {
    const rendered = ['argument --log-level changed'];
    expect(changesOf(living(BEFORE, otherRelease))).toEqual({ asked: [], rendered });
  });

  it('of another release whose specification was changed differs in both', () => {
    expect(changesOf(living(AFTER, otherRelease))).toEqual({
      asked: ['argument --snapshot-count changed'],
      rendered: ['argument --log-level changed'],
    });
  });

  it('does not differ when the specification states the same settings in another form', () => {
    const same = { ...BEFORE, pod: { labels: {} } };
    expect(changesOf(living(same))).toEqual({ asked: [], rendered: [] });
    expect(changesOf(living(same, otherRelease)).asked).toEqual([]);
  });

  it.each(['', '{', '{}', '{"spec":null}', '{"spec":7}', '[]'])(
    'whose note was edited into %j is compared as it is',
    note => {
      const damaged = living(AFTER, () => ({ madeFrom: note }));
      expect(changesOf(damaged).asked).toEqual(['argument --snapshot-count changed']);
    },
  );

  it('without a stamp differs in nothing that is known', () => {
    expect(changesOf(living(AFTER, () => ({ stamp: undefined })))).toEqual({ asked: [], rendered: [] });
  });
});

describe('another release of the operator', () => {
  it('restarts no member, and reports what it would render differently', () => {
    const observation = living(BEFORE, otherRelease);
    expect(planRollout(situationOf(observation))).toBeUndefined();
    expect(outdatedPods(situationOf(observation))).toMatchObject([
      {
        type: 'PodsOutdated',
        status: 'True',
        reason: 'MadeByEarlierRelease',
        message: ['example-0', 'example-1', 'example-2']
          .map(name => `${name}: argument --log-level changed`)
          .join('; '),
      },
    ]);
  });

  it('reads nothing from notes that a user edited into nonsense', () => {
    const nonsense = ['{', '[]', '{"spec":null}', '{"size":"nonsense"}', '{"spec":{"pod":{"etcdEnv":7}}}'];
    for (const madeFrom of nonsense) {
      const observation = living(AFTER, () => ({ madeFrom }));
      expect(planRollout(situationOf(observation))).toEqual(
        planRollout(situationOf(living(AFTER, () => ({ madeFrom: undefined })))),
      );
      expect(specificationNoted(madeFrom)).toBeUndefined();
    }
  });

  it('names the pods that would start on an empty volume', () => {
    const observation = living(BEFORE, byHand);
    expect(planRollout(situationOf(observation))).toBeUndefined();
    expect(outdatedPods(situationOf(observation))).toMatchObject([
      { type: 'PodsOutdated', reason: 'MayStartEmpty' },
    ]);
  });

  it('brings its own with the next change that is asked for, which is named as the cause', () => {
    const decision = planRollout(situationOf(living(AFTER, otherRelease)));
    expect(decision).toMatchObject({
      kind: 'operate',
      step: { kind: 'stopMember', because: 'argument --snapshot-count changed' },
    });
  });

  it('says nothing of pods that are as it would make them', () => {
    expect(outdatedPods(situationOf(living(BEFORE)))).toEqual([]);
    expect(outdatedPods(situationOf(living(AFTER)))).toEqual([]);
  });
});

describe('the note of a specification', () => {
  it('is left out when it is of absurd size', () => {
    const annotations = { note: 'x'.repeat(40_000) };
    expect(madeFrom(aCluster({ spec: { pod: { annotations } } }).object)).toEqual({});
  });

  it('knows which keys the Secrets of a user had', () => {
    const TLS = { static: { member: { peerSecret: 'peer' } } };
    const certificate = { role: 'peer', secret: 'peer', notAfter: '2027-01-01T00:00:00Z' } as const;
    const withKeys = (keys: 'CoreOS' | 'Standard') =>
      madeFrom(
        aCluster({
          spec: { TLS },
          status: {
            tls: { mode: 'static', peer: true, client: false, certificates: [{ ...certificate, keys }] },
          },
        }).object,
      );
    expect(withKeys('CoreOS')).not.toEqual(withKeys('Standard'));
    expect(JSON.stringify(withKeys('CoreOS'))).not.toContain('2027');
  });
});
