/** What is a difference between an object that is there and the one that would be made now, and what is not. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_RENDERED } from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { disruptionBudget } from '../../src/objects/budget.ts';
import { firstDrift, removals, type StoredObject } from '../../src/objects/drift.ts';
import type { ManifestObject } from '../../src/objects/manifest.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { canonical } from '../../src/api/values/canonical.ts';
import { differences } from '../../src/objects/rendered.ts';
import { clientService, peerService } from '../../src/objects/services.ts';
import { BOOTSTRAP, cluster, FULL_POD, member } from './clusters.ts';

const BASE: EtcdClusterSpec = { version: '3.6.16' };

function podOf(
  spec: EtcdClusterSpec,
  start: Parameters<typeof member>[0] = { state: 'restart' },
): ManifestObject {
  return memberPod(cluster({ ...BASE, ...spec }), member(start));
}

function stampOf(object: ManifestObject): string | undefined {
  return object.metadata.annotations?.[ANNOTATION_RENDERED];
}

describe('the budget', () => {
  it('takes the place of one that counts those that may go', () => {
    const wanted = disruptionBudget(cluster({ ...BASE, size: 3 }), 2);
    const old = { ...wanted, spec: { ...wanted.spec, maxUnavailable: 1, minAvailable: undefined } };
    expect(wanted.spec).toMatchObject({ minAvailable: 2 });
    expect(removals(old as unknown as StoredObject, wanted)).toMatchObject({
      spec: { maxUnavailable: null },
    });
  });
});

describe('a pod that was made from another specification', () => {
  const rows: readonly { change: EtcdClusterSpec; from?: EtcdClusterSpec; said: readonly string[] }[] = [
    { change: { etcd: { snapshotCount: 5 } }, said: ['argument --snapshot-count added'] },
    { from: { etcd: { snapshotCount: 5 } }, change: {}, said: ['argument --snapshot-count removed'] },
    { change: { etcd: { logLevel: 'warn' } }, said: ['argument --log-level changed'] },
    {
      change: { pod: { resources: { requests: { cpu: '1' } } } },
      said: ['spec.containers[0].resources added'],
    },
    {
      from: { pod: { resources: { requests: { cpu: '1' } } } },
      change: { pod: { resources: { requests: { cpu: '2' } } } },
      said: ['spec.containers[0].resources changed'],
    },
    {
      change: { pod: { etcdEnv: [{ name: 'GOGC', value: '50' }] } },
      said: ['environment variable GOGC added'],
    },
    { change: { pod: { nodeSelector: { disk: 'nvme' } } }, said: ['spec.nodeSelector added'] },
    { change: { pod: { antiAffinity: true } }, said: ['spec.affinity changed'] },
    { change: { pod: { labels: { team: 'x' } } }, said: ['metadata.labels[team] added'] },
    { change: { pod: { annotations: { 'a/b': 'x' } } }, said: ['metadata.annotations[a/b] added'] },
    { change: { repository: 'mirror.example.com/etcd' }, said: ['spec.containers[0].image changed'] },
    {
      change: { pod: { terminationGracePeriodSeconds: 90 } },
      said: ['spec.terminationGracePeriodSeconds changed'],
    },
  ];
  it.each(rows)('is described as $said', ({ from = {}, change, said }) => {
    expect(differences(stampOf(podOf(from)), podOf(change))).toEqual(said);
  });

  it('is none for what does not concern pods', () => {
    const other: EtcdClusterSpec = {
      size: 5,
      paused: true,
      service: { type: 'NodePort' },
      storage: { retain: 'Retain' },
    };
    expect(differences(stampOf(podOf({})), podOf(other))).toEqual([]);
  });

  it('is none for how the member was started first', () => {
    expect(differences(stampOf(podOf({}, BOOTSTRAP)), podOf({}))).toEqual([]);
  });

  it('is none for a pod without a stamp, or with one that a user damaged', () => {
    for (const stamp of [undefined, '', '{', 'null', '7']) {
      expect(differences(stamp, podOf({ etcd: { logLevel: 'warn' } }))).toEqual([]);
    }
  });

  it('is none for a specification that only has other words for the same', () => {
    const before = podOf({ pod: { resources: { limits: { cpu: '1', memory: '1Gi' } } } });
    const after = podOf({
      pod: { resources: { limits: { memory: '1Gi', cpu: '1' } } },
      etcd: { logLevel: 'info' },
    });
    expect(differences(stampOf(before), after)).toEqual([]);
  });
});

it('the stamp of the largest pod is small beside what annotations may hold', () => {
  const pod = memberPod(cluster(FULL_POD), member({ state: 'restart' }));
  expect((stampOf(pod) ?? '').length).toBeLessThan(8_192);
});

it('canonical JSON is equal for equal values, whatever the order of their keys', () => {
  expect(canonical({ b: [1, { d: null, c: 'x' }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}');
  expect(canonical({ x: 1, y: 2 })).toBe(canonical({ y: 2, x: 1 }));
  expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
});

describe('an object that a user edited', () => {
  const example = cluster({
    ...BASE,
    service: { annotations: { 'a/b': '1' }, trafficDistribution: 'PreferClose' },
  });
  const wanted = {
    client: clientService(example),
    peer: peerService(example),
    budget: disruptionBudget(cluster({ ...BASE, size: 3 }), 2),
  };
  /** As the apiserver would return it, with the defaults that it adds. */
  const stored = (object: ManifestObject, change: (stored: Record<string, never>) => void = () => {}) => {
    const copy = structuredClone(object) as unknown as Record<string, never>;
    Object.assign((copy['spec'] ?? {}) as object, {
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
    change(copy);
    return copy as unknown as StoredObject;
  };

  type Change = (stored: {
    metadata: Record<string, Record<string, unknown>>;
    spec: Record<string, unknown>;
  }) => void;
  const rows: readonly {
    what: string;
    object: keyof typeof wanted;
    change: Change;
    said: string | undefined;
  }[] = [
    { what: 'nothing but defaults', object: 'client', change: () => {}, said: undefined },
    {
      what: 'a label of somebody else',
      object: 'client',
      change: ({ metadata }) => void (metadata['labels'] = { ...metadata['labels'], team: 'x' }),
      said: undefined,
    },
    {
      what: 'a port of somebody else',
      object: 'client',
      change: ({ spec }) => void (spec['ports'] as unknown[]).push({ port: 80, protocol: 'TCP' }),
      said: undefined,
    },
    {
      what: 'a node port that the apiserver gave',
      object: 'client',
      change: ({ spec }) => void Object.assign((spec['ports'] as object[])[0] ?? {}, { nodePort: 31234 }),
      said: undefined,
    },
    {
      what: 'another type',
      object: 'client',
      change: ({ spec }) => void (spec['type'] = 'NodePort'),
      said: 'spec.type changed',
    },
    {
      what: 'a narrower selector',
      object: 'client',
      change: ({ spec }) => void (spec['selector'] = { ...(spec['selector'] as object), more: 'x' }),
      said: 'spec.selector changed',
    },
    {
      what: 'another target port',
      object: 'client',
      change: ({ spec }) => void Object.assign((spec['ports'] as object[])[0] ?? {}, { targetPort: 1 }),
      said: 'spec.ports[2379/TCP].targetPort changed',
    },
    {
      what: 'a port that is gone',
      object: 'peer',
      change: ({ spec }) => void (spec['ports'] as object[]).pop(),
      said: 'spec.ports[2380/TCP] changed',
    },
    {
      what: 'a label of ours',
      object: 'budget',
      change: ({ metadata }) => void Object.assign(metadata['labels'] ?? {}, { app: 'x' }),
      said: 'metadata.labels.app changed',
    },
    {
      what: 'not ready addresses hidden',
      object: 'peer',
      change: ({ spec }) => void delete spec['publishNotReadyAddresses'],
      said: 'spec.publishNotReadyAddresses changed',
    },
    {
      what: 'another budget',
      object: 'budget',
      change: ({ spec }) => void (spec['minAvailable'] = 0),
      said: 'spec.minAvailable changed',
    },
  ];
  it.each(rows)('$what in $object: $said', ({ object, change, said }) => {
    expect(firstDrift(stored(wanted[object], change as never), wanted[object])).toBe(said);
  });

  it('that once had more of ours is recognized, and cleared of it', () => {
    const less = clientService(cluster(BASE));
    expect(firstDrift(stored(wanted.client), less)).toBe('spec.trafficDistribution removed');
    expect(removals(stored(wanted.client), less)).toEqual({
      metadata: { labels: {}, annotations: { 'a/b': null } },
      spec: { trafficDistribution: null },
    });
    expect(removals(stored(less), less)).toBeUndefined();
  });

  it('by a field that excludes ours is cleared of that', () => {
    const edited = stored(wanted.budget, ((copy: { spec: Record<string, unknown> }) => {
      delete copy.spec['minAvailable'];
      copy.spec['maxUnavailable'] = 3;
    }) as never);
    expect(removals(edited, wanted.budget)).toMatchObject({
      spec: { maxUnavailable: null, minAvailable: 2 },
    });
  });
});
