import { describe, expect, test } from 'vitest';
import { FINALIZER } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { slimOwned, slimPod, slimResource, slimSecret } from '../../../src/watcher/resources/slim.ts';
import { isOfOperation, isWorthEnqueueing } from '../../../src/watcher/resources/event-filter.ts';
import { type Change, edit, owned, refTo, resource, secret } from '../objects.ts';

const cluster = refTo('EtcdCluster', 'example');

/** Whether the change would be enqueued, seen through the same slimming as in life. */
function isEnqueued(slim: (object: KubeObject) => KubeObject, before: KubeObject, change: Change): boolean {
  const after = structuredClone(before);
  after.metadata.resourceVersion = `${after.metadata.resourceVersion}0`;
  change(after);
  return isWorthEnqueueing({ type: 'updated', object: slim(after), previous: slim(before) });
}

test('new and deleted objects enqueue', () => {
  for (const object of [slimResource(resource(cluster)), slimOwned(owned('Service', 'a', cluster))]) {
    expect(isWorthEnqueueing({ type: 'added', object })).toBe(true);
    expect(isWorthEnqueueing({ type: 'deleted', object })).toBe(true);
  }
});

describe('a change may be the doing of an operation', () => {
  const isOurs = (slim: (object: KubeObject) => KubeObject, before: KubeObject, change: Change): boolean => {
    const after = structuredClone(before);
    change(after);
    return isOfOperation({ type: 'updated', object: slim(after), previous: slim(before) });
  };
  const pod = owned('Pod', 'example-0', cluster, { status: { phase: 'Pending' } });
  const status = { observedGeneration: 1, clusterID: 'beef' };
  const before = resource(cluster, { metadata: { finalizers: [FINALIZER] }, status });

  test('of what belongs to its cluster, unless that is deleted', () => {
    const object = slimPod(pod);
    expect(isOfOperation({ type: 'added', object })).toBe(true);
    expect(isOurs(slimPod, pod, edit(['status', 'phase'], 'Running'))).toBe(true);
    expect(isOurs(slimPod, pod, edit(['metadata', 'deletionTimestamp'], 'now'))).toBe(false);
    expect(isOfOperation({ type: 'deleted', object })).toBe(false);
  });

  test('of its cluster, unless that was edited or something was taken away', () => {
    const stamp = { 'etcd.database.coreos.com/cluster-id': 'beef' };
    expect(isOurs(slimResource, before, edit(['metadata', 'annotations'], stamp))).toBe(true);
    expect(isOurs(slimResource, before, edit(['metadata', 'generation'], 2))).toBe(false);
    expect(isOurs(slimResource, before, edit(['metadata', 'deletionTimestamp'], 'now'))).toBe(false);
    expect(isOurs(slimResource, before, edit(['metadata', 'finalizers'], []))).toBe(false);
    expect(isOurs(slimResource, before, edit(['status', 'clusterID'], undefined))).toBe(false);
    expect(isOfOperation({ type: 'added', object: slimResource(before) })).toBe(false);
  });

  test('of no other resource, and of no Secret', () => {
    expect(isOfOperation({ type: 'added', object: slimSecret(secret('peer')) })).toBe(false);
    const backup = slimResource(resource(refTo('EtcdBackup', 'nightly')));
    expect(isOfOperation({ type: 'updated', object: backup, previous: backup })).toBe(false);
  });
});

describe('the identity in the status of a cluster', () => {
  const status = { observedGeneration: 1, incarnation: { token: 'example-1' } };
  const before = resource(cluster, { status });
  test.each<[string, boolean, Change]>([
    ['is not enqueued when the operator adds to it', false, edit(['status', 'clusterID'], 'beef')],
    ['is enqueued when it is altered', true, edit(['status', 'incarnation', 'token'], 'example-2')],
    ['is enqueued when a part is removed', true, edit(['status', 'incarnation'], undefined)],
    ['is enqueued when the status is removed', true, edit(['status'], undefined)],
  ])('%s', (_, expected, change) => {
    expect(isEnqueued(slimResource, before, change)).toBe(expected);
  });
});

describe('a custom resource', () => {
  const before = resource(cluster, { spec: { size: 3 }, status: { phase: 'Creating' } });
  const cases: readonly [string, boolean, Change][] = [
    ['a status written by the operator', false, edit(['status', 'phase'], 'Running')],
    [
      'a condition written by the watcher',
      false,
      edit(['status', 'conditions'], [{ type: 'TemporalUnavailable' }]),
    ],
    [
      'a finalizer of our own',
      false,
      edit(['metadata', 'finalizers'], ['etcd.database.coreos.com/operator']),
    ],
    ['managed fields', false, edit(['metadata', 'managedFields'], [{ manager: 'etcd-operator' }])],
    ['nothing at all', false, () => {}],
    ['a new generation', true, edit(['metadata', 'generation'], 2)],
    ['deletion', true, edit(['metadata', 'deletionTimestamp'], '2026-01-01T00:00:00Z')],
    ['an annotation', true, edit(['metadata', 'annotations'], { 'etcd.database.coreos.com/paused': 'true' })],
    ['a label', true, edit(['metadata', 'labels'], { team: 'a' })],
    [
      'what kubectl notes for itself',
      false,
      edit(['metadata', 'annotations'], { 'kubectl.kubernetes.io/last-applied-configuration': '{}' }),
    ],
    [
      'who keeps its member busy, renewed every few seconds',
      false,
      edit(['metadata', 'annotations'], { 'etcd.database.coreos.com/maintenance': '{}' }),
    ],
  ];
  test.each(cases)('%s: %s', (_, expected, change) => {
    expect(isEnqueued(slimResource, before, change)).toBe(expected);
  });
});

describe('a pod', () => {
  const before = owned('Pod', 'example-0', cluster, {
    spec: { containers: [{ name: 'etcd', image: 'etcd:v3.5.3' }], nodeName: 'node-1' },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: 'a', message: 'm' }],
      containerStatuses: [
        { name: 'etcd', ready: false, restartCount: 0, state: { running: { startedAt: 'a' } } },
      ],
    },
  });
  const container = { name: 'etcd', ready: false, restartCount: 0, state: { running: { startedAt: 'a' } } };
  const cases: readonly [string, boolean, Change][] = [
    ['phase', true, edit(['status', 'phase'], 'Failed')],
    ['address', true, edit(['status', 'podIP'], '10.0.0.2')],
    ['eviction', true, edit(['status', 'reason'], 'Evicted')],
    ['readiness', true, edit(['status', 'conditions'], [{ type: 'Ready', status: 'True' }])],
    [
      'a message or a time of a condition',
      true,
      edit(
        ['status', 'conditions'],
        [{ type: 'Ready', status: 'False', lastTransitionTime: 'b', message: 'n' }],
      ),
    ],
    ['node', true, edit(['spec', 'nodeName'], 'node-2')],
    ['image', true, edit(['spec', 'containers'], [{ name: 'etcd', image: 'etcd:v3.5.21' }])],
    ['deletion', true, edit(['metadata', 'deletionTimestamp'], '2026-01-01T00:00:00Z')],
    ['a restart', true, edit(['status', 'containerStatuses'], [{ ...container, restartCount: 1 }])],
    [
      'an exit',
      true,
      edit(['status', 'containerStatuses'], [{ ...container, state: { terminated: { exitCode: 1 } } }]),
    ],
    [
      'an image that cannot be pulled',
      true,
      edit(
        ['status', 'containerStatuses'],
        [{ ...container, state: { waiting: { reason: 'ErrImagePull' } } }],
      ),
    ],
    [
      'the time a container started',
      true,
      edit(['status', 'containerStatuses'], [{ ...container, state: { running: { startedAt: 'b' } } }]),
    ],
    [
      'our annotation',
      true,
      edit(['metadata', 'annotations'], { 'etcd.database.coreos.com/member-id': '1' }),
    ],
    ['its owner taken away', true, edit(['metadata', 'ownerReferences'], [])],
    ['the node that answers for it', true, edit(['status', 'hostIPs'], [{ ip: '1.1.1.1' }])],
  ];
  test.each(cases)('%s: %s', (_, expected, change) => {
    expect(isEnqueued(slimPod, before, change)).toBe(expected);
  });
});

describe('other owned objects', () => {
  const claim = owned('PersistentVolumeClaim', 'example-0', cluster, {
    spec: { volumeName: '' },
    status: { phase: 'Pending' },
  });
  const service = owned('Service', 'example-client', cluster, {
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 2379 }] },
    status: { loadBalancer: {} },
  });
  const budget = owned('PodDisruptionBudget', 'example', cluster, {
    spec: { maxUnavailable: 1 },
    status: { disruptionsAllowed: 0 },
  });
  const cases: readonly [string, boolean, KubeObject, Change][] = [
    ['a claim is bound', true, claim, edit(['status', 'phase'], 'Bound')],
    ['a claim loses its volume', true, claim, edit(['status', 'phase'], 'Lost')],
    ['a claim grew', true, claim, edit(['status', 'capacity'], { storage: '16Gi' })],
    [
      'a claim waits for its file system to grow',
      true,
      claim,
      edit(['status', 'conditions'], [{ type: 'FileSystemResizePending', status: 'True' }]),
    ],
    ['a claim is being deleted', true, claim, edit(['metadata', 'deletionTimestamp'], 'now')],
    ['a service is edited by hand', true, service, edit(['spec', 'ports'], [{ port: 1 }])],
    [
      'a service gets its load balancer',
      true,
      service,
      edit(['status', 'loadBalancer'], { ingress: [{ ip: '1.1.1.1' }] }),
    ],
    [
      'the order of fields',
      false,
      service,
      edit(['spec'], { ports: [{ port: 2379 }], clusterIP: '10.0.0.1' }),
    ],
    ['a budget is edited by hand', true, budget, edit(['spec', 'maxUnavailable'], 3)],
    ['a budget counts its pods', false, budget, edit(['status', 'disruptionsAllowed'], 1)],
  ];
  test.each(cases)('%s: %s', (_, expected, before, change) => {
    expect(isEnqueued(slimOwned, before, change)).toBe(expected);
  });
});

describe('a Secret', () => {
  const data = Buffer.from('hunter2').toString('base64');
  const before = secret('peer', { data: { password: data }, type: 'Opaque' });
  before.metadata.annotations = {
    'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ data }),
    'x/y': data,
  };

  test('a new version enqueues, whatever it changed', () => {
    expect(isEnqueued(slimSecret, before, edit(['data', 'password'], 'eA=='))).toBe(true);
  });

  test('the same version once more is not', () => {
    expect(
      isWorthEnqueueing({ type: 'updated', object: slimSecret(before), previous: slimSecret(before) }),
    ).toBe(false);
  });

  test('neither data nor the copies of it in annotations are kept', () => {
    const kept = JSON.stringify(
      slimSecret({ ...before, stringData: { password: 'hunter2' }, immutable: true }),
    );
    expect(kept).not.toContain(data);
    expect(kept).not.toContain('hunter2');
    expect(JSON.parse(kept)).toMatchObject({
      kind: 'Secret',
      metadata: { name: 'peer', uid: 'uid-of-peer' },
    });
  });
});
