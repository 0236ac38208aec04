/** Which StorageClass is the default one: as Kubernetes says, or a cluster without a word about storage is kept in its pods. */
import { expect, it } from 'vitest';
import { findDefaultStorageClass } from '../../../src/activities/observe/storage-classes.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';

const STABLE = 'storageclass.kubernetes.io/is-default-class';
const BETA = 'storageclass.beta.kubernetes.io/is-default-class';

const aClass = (name: string, creationTimestamp: string, annotations: Readonly<Record<string, string>>) => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, creationTimestamp, annotations },
});

it.each([
  ['none', [aClass('a', '2026-01-01T00:00:00Z', { [STABLE]: 'false' })], undefined],
  [
    'one that is marked as Kubernetes did before 1.6',
    [aClass('a', '2026-01-01T00:00:00Z', { [BETA]: 'true' })],
    'a',
  ],
  [
    'the newest of several',
    [
      aClass('a', '2026-01-01T00:00:00Z', { [STABLE]: 'true' }),
      aClass('b', '2026-01-02T00:00:00Z', { [STABLE]: 'true' }),
      aClass('c', '2026-01-02T00:00:00Z', { [BETA]: 'true' }),
      aClass('d', '2026-01-03T00:00:00Z', {}),
    ],
    'b',
  ],
])('%s', async (_, classes, found) => {
  const kube = new FakeKube({});
  kube.seed(...classes);
  expect(await findDefaultStorageClass(kube)).toBe(found);
});
