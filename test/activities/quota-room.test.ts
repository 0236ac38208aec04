/** What a quota that is full now has room for when pods have gone, in the words of the API server. */
import { expect, it } from 'vitest';
import { hasRoomWithout } from '../../src/activities/steps/shared/quota-room.ts';
import type { KubeObject } from '../../src/kube/port.ts';

const pod = (requests: object, { phase = 'Running', limits = {} } = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'example-0' },
    spec: { containers: [{ name: 'etcd', resources: { requests, limits } }, { name: 'proxy' }] },
    status: { phase },
  }) as unknown as KubeObject;
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'example-client' } } as KubeObject;
const forbidden = (requested: string, used: string, limited: string): string =>
  `pods "example-3" is forbidden: exceeded quota: all, requested: ${requested}, used: ${used}, limited: ${limited}`;

it.each<[string, string, readonly KubeObject[], boolean]>([
  [
    'the pod that goes makes room for one like it',
    forbidden('requests.cpu=1', 'requests.cpu=3', 'requests.cpu=3'),
    [pod({ cpu: '1000m' })],
    true,
  ],
  [
    'fractions fit exactly',
    forbidden('requests.cpu=100m', 'requests.cpu=300m', 'requests.cpu=300m'),
    [pod({ cpu: '0.1' })],
    true,
  ],
  [
    'a larger one does not fit in its place',
    forbidden('requests.memory=2Gi', 'requests.memory=3Gi', 'requests.memory=3Gi'),
    [pod({ memory: '1Gi' })],
    false,
  ],
  [
    'it does when three go',
    forbidden('requests.memory=2Gi', 'requests.memory=3Gi', 'requests.memory=3Gi'),
    [1, 2, 3].map(() => pod({ memory: '1Gi' })),
    true,
  ],
  [
    'cpu without a prefix is what is requested',
    forbidden('cpu=1', 'cpu=3', 'cpu=3'),
    [pod({ cpu: '1' })],
    true,
  ],
  [
    'every resource that is named must fit',
    forbidden('cpu=1,limits.memory=2Gi', 'cpu=3,limits.memory=3Gi', 'cpu=3,limits.memory=3Gi'),
    [pod({ cpu: '1' }, { limits: { memory: '1Gi' } })],
    false,
  ],
  ['pods are counted', forbidden('pods=1', 'pods=3', 'pods=3'), [pod({})], true],
  [
    'one that has ended takes no place',
    forbidden('cpu=1', 'cpu=3', 'cpu=3'),
    [pod({ cpu: '1' }, { phase: 'Failed' })],
    false,
  ],
  ['Services are counted', forbidden('services=1', 'services=2', 'services=2'), [service], true],
  [
    'a pod is no claim',
    forbidden('requests.storage=1Gi', 'requests.storage=3Gi', 'requests.storage=3Gi'),
    [pod({})],
    false,
  ],
  ['a quota that is overdrawn anyway', forbidden('cpu=1', 'cpu=9', 'cpu=3'), [pod({ cpu: '1' })], false],
  [
    'a quota of what nobody knows',
    forbidden('example.com/licence=1', 'example.com/licence=3', 'example.com/licence=3'),
    [pod({})],
    false,
  ],
  [
    'what must be specified is no matter of room',
    'pods "a" is forbidden: failed quota: all: must specify limits.cpu for: etcd',
    [pod({})],
    false,
  ],
  ['any other refusal', 'violates PodSecurity "restricted:latest"', [pod({})], false],
])('%s', (_, message, gone, expected) => {
  expect(hasRoomWithout(message, gone)).toBe(expected);
});
