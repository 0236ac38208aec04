import { describe, expect, it } from 'vitest';
import { lossOf } from '../../../src/planner/checks/evidence.ts';
import { memberViews } from '../../../src/planner/model/member-view.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { aClaim, aPod, aRunningCluster } from '../../worlds/builders.ts';

/** A cluster of three whose second member does not answer, with what is known of its pod and claim. */
function silent(given: { pod?: Partial<PodFacts>; claims?: Observation['claims'] }): Observation {
  const whole = aRunningCluster();
  const name = 'example-1';
  const probes = { ...whole.probes, [name]: { answered: false as const, message: 'refused' } };
  const pods = whole.pods.filter(pod => pod.name !== name);
  return {
    ...whole,
    probes,
    pods: given.pod === undefined ? pods : [...pods, aPod({ ...whole.pods[1], name, ...given.pod })],
    claims: given.claims ?? whole.claims,
  };
}

function verdict(observation: Observation): string | undefined {
  const view = memberViews(observation).find(({ name }) => name === 'example-1');
  return view && lossOf(observation, view);
}

const crashed = (message: string) => ({ ready: false, trouble: { reason: 'CrashLoopBackOff', message } });
const ALONE =
  'discovery failed: cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';
const ephemeral = (observation: Observation): Observation => {
  const { cluster } = observation;
  const storage = { kind: 'EmptyDir', decidedBy: 'Spec' } as const;
  return { ...observation, cluster: { ...cluster, status: { ...cluster.status, storage } } };
};
const GONE = { node: 'node-1', exists: false };
const withoutClaim = aRunningCluster().claims.filter(claim => claim.name !== 'example-1');

describe('a member that does not answer', () => {
  it.each([
    ['whose pod runs is not lost', silent({ pod: { ready: false } }), undefined],
    ['without a pod is not lost while its claim is there', silent({}), undefined],
    ['without pod and claim is lost', silent({ claims: withoutClaim }), 'its claim is gone'],
    [
      'that was evicted while its claim was being deleted is lost: no pod is started on that any more',
      silent({
        pod: { phase: 'Failed', ready: false },
        claims: [...withoutClaim, aClaim({ name: 'example-1', deleting: true })],
      }),
      'its claim is being deleted, and no pod can use it any more',
    ],
    [
      'that runs while its claim is being deleted is not lost',
      silent({
        pod: { ready: false },
        claims: [...withoutClaim, aClaim({ name: 'example-1', deleting: true })],
      }),
      undefined,
    ],
    [
      'whose claim lost its volume is not lost while a pod of its name runs, with any owner',
      silent({
        pod: { owned: false },
        claims: [...withoutClaim, aClaim({ name: 'example-1', phase: 'Lost' })],
      }),
      undefined,
    ],
    [
      'whose claim is gone is not lost while a pod of its name runs, with any owner',
      silent({ pod: { owned: false }, claims: withoutClaim }),
      undefined,
    ],
    [
      'whose volume is on a node that is gone is lost',
      silent({ claims: [...withoutClaim, aClaim({ name: 'example-1', home: GONE })] }),
      'its volume is on node node-1, which is gone',
    ],
    [
      'that still runs, though no Node is there that its volume can be on, is not lost',
      silent({ pod: {}, claims: [...withoutClaim, aClaim({ name: 'example-1', home: GONE })] }),
      undefined,
    ],
    [
      'whose claim lost its stamps is not lost',
      silent({ claims: [...withoutClaim, aClaim({ name: 'example-1', owned: false })] }),
      undefined,
    ],
    [
      'that was started as its own initial cluster and found no log is lost',
      silent({ pod: { ...crashed(ALONE), firstStart: 'sealed' } }),
      'etcd found the volume empty',
    ],
    [
      'that keeps its data in its pod and found no log is lost',
      ephemeral(silent({ pod: { ...crashed(ALONE), firstStart: 'sealed' }, claims: [] })),
      'etcd found the volume empty',
    ],
    [
      'that keeps its data in its pod is lost with it',
      ephemeral(silent({ claims: [] })),
      'its pod is gone, and its data was stored in the pod',
    ],
    [
      'that keeps its data in its pod is not lost while a pod of its name exists, with any owner',
      ephemeral(silent({ pod: { owned: false }, claims: [] })),
      undefined,
    ],
    [
      'that may not write on its volume is not lost',
      silent({
        pod: {
          ...crashed('discovery failed: cannot access data directory: permission denied'),
          firstStart: 'sealed',
        },
      }),
      undefined,
    ],
    [
      'whose port is in use is not lost',
      silent({
        pod: {
          ...crashed('discovery failed: listen tcp 0.0.0.0:2380: bind: address already in use'),
          firstStart: 'sealed',
        },
      }),
      undefined,
    ],
    [
      'that bootstrapped, has started and is refused by its peers is lost',
      silent({ pod: { ...crashed('member 8e9e05c5 has already been bootstrapped'), firstStart: 'open' } }),
      'etcd found the volume empty',
    ],
    [
      'that joined, has started and is refused by its peers is lost',
      silent({
        pod: { ...crashed('error validating peerURLs: member count is unequal'), firstStart: 'open' },
      }),
      'etcd found the volume empty',
    ],
    [
      'that crashes for another reason is not lost',
      silent({ pod: { ...crashed('wal: crc mismatch'), firstStart: 'sealed' } }),
      undefined,
    ],
  ])('%s', (_, observation, expected) => {
    expect(verdict(observation)).toBe(expected);
  });
});
