import { describe, expect, test } from 'vitest';
import { GROUP } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { KnownResources, resourceFrom } from '../../../src/watcher/resources/known-resources.ts';
import { keyOf, ownerOf, refOf, resourceOf } from '../../../src/watcher/resources/owner-key.ts';
import { secretReferences } from '../../../src/watcher/resources/secret-references.ts';
import { slimOwned, slimSecret } from '../../../src/watcher/resources/slim.ts';
import { concernedBy } from '../../../src/watcher/resources/watched-kinds.ts';
import { owned, refTo, resource, secret } from '../objects.ts';

const cluster = refTo('EtcdCluster', 'example');

function knowing(...objects: KubeObject[]): KnownResources {
  const known = new KnownResources();
  for (const object of objects) {
    const found = resourceFrom(object);
    if (found !== undefined) known.put(found);
  }
  return known;
}

describe('the three kinds are their own owners', () => {
  test.each(['EtcdCluster', 'EtcdBackup', 'EtcdRestore'] as const)('%s', kind => {
    const ref = refTo(kind, 'example');
    expect(resourceOf(resource(ref))).toEqual(ref);
    expect(refOf(keyOf(ref))).toEqual(ref);
  });

  test('a kind of the same name in another group is not ours', () => {
    expect(resourceOf({ ...resource(cluster), apiVersion: 'druid.gardener.cloud/v1' })).toBeUndefined();
  });

  test('any version of our group is ours', () => {
    expect(resourceOf({ ...resource(cluster), apiVersion: `${GROUP}/v1` })).toEqual(cluster);
  });

  test.each(['', 'EtcdCluster/default/example', 'Pod/a/b/c', 'EtcdCluster/a/b/c/d'])(
    '"%s" is no key',
    text => {
      expect(() => refOf(text)).toThrow(RangeError);
    },
  );
});

describe('an owned object concerns its owner', () => {
  const known = knowing(resource(cluster));

  test.each(['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget', 'Secret'])('%s', kind => {
    const object = owned(kind, 'example-0', cluster);
    expect(ownerOf(object)).toEqual(cluster);
    expect(concernedBy(kind === 'Secret' ? slimSecret(object) : slimOwned(object), known)).toEqual([
      keyOf(cluster),
    ]);
  });

  test('the controller counts before other owners', () => {
    const object = owned('Pod', 'example-0', cluster);
    const backup = refTo('EtcdBackup', 'nightly');
    object.metadata.ownerReferences?.unshift({
      apiVersion: `${GROUP}/v1beta2`,
      kind: backup.kind,
      name: backup.name,
      uid: backup.uid,
    });
    expect(ownerOf(object)).toEqual(cluster);
  });

  test('an owner of another group does not count, the labels do', () => {
    const object = owned('Pod', 'example-0', cluster);
    object.metadata.ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'x', uid: 'y' }];
    expect(ownerOf(object)).toEqual({ ...cluster, uid: undefined });
  });

  test('a retained claim without owner concerns the cluster of its label, also a later one', () => {
    const claim = owned('PersistentVolumeClaim', 'example-0', cluster);
    delete claim.metadata.ownerReferences;
    const later = refTo('EtcdCluster', 'example', 2);
    expect(concernedBy(claim, knowing(resource(later)))).toEqual([keyOf(later)]);
  });

  test('what belonged to an earlier cluster of the name does not concern the later one', () => {
    const later = refTo('EtcdCluster', 'example', 2);
    expect(concernedBy(owned('Pod', 'example-0', cluster), knowing(resource(later)))).toEqual([]);
  });

  test('what belongs to no resource here enqueues nothing', () => {
    const foreign = owned('Pod', 'web-0', cluster);
    delete foreign.metadata.ownerReferences;
    for (const labels of [
      {},
      { app: 'etcd' },
      { app: 'web', etcd_cluster: 'example' },
      { app: 'etcd', etcd_cluster: '' },
    ]) {
      foreign.metadata.labels = labels;
      expect(ownerOf(foreign)).toBeUndefined();
      expect(concernedBy(foreign, known)).toEqual([]);
    }
  });

  test('nothing is concerned when the owner is gone', () => {
    const empty = knowing(resource(cluster));
    empty.remove(keyOf(cluster));
    expect(concernedBy(owned('Pod', 'example-0', cluster), empty)).toEqual([]);
  });
});

describe('a Secret concerns what refers to it', () => {
  const references: readonly [string, KubeObject, string[]][] = [
    [
      'cluster with TLS of its own',
      resource(cluster, {
        spec: {
          TLS: {
            static: { member: { peerSecret: 'peer', serverSecret: 'server' }, operatorSecret: 'client' },
          },
        },
      }),
      ['client', 'peer', 'server'],
    ],
    [
      'backup to S3',
      resource(refTo('EtcdBackup', 'b'), {
        spec: { clientTLSSecret: 'tls', authSecret: 'auth', s3: { path: 'a/b', awsSecret: 'aws' } },
      }),
      ['auth', 'aws', 'tls'],
    ],
    ['backup to ABS', resource(refTo('EtcdBackup', 'b'), { spec: { abs: { absSecret: 'abs' } } }), ['abs']],
    [
      'restore from GCS',
      resource(refTo('EtcdRestore', 'r'), { spec: { gcs: { gcpSecret: 'gcp' } } }),
      ['gcp'],
    ],
    [
      'restore from OSS into a new cluster',
      resource(refTo('EtcdRestore', 'r'), {
        spec: {
          oss: { ossSecret: 'oss' },
          clusterTemplate: { TLS: { static: { member: { peerSecret: 'peer' } } } },
        },
      }),
      ['oss', 'peer'],
    ],
    [
      'empty texts of old clients',
      resource(refTo('EtcdBackup', 'b'), { spec: { clientTLSSecret: '', s3: { awsSecret: '' } } }),
      [],
    ],
    ['nonsense', resource(refTo('EtcdBackup', 'b'), { spec: { clientTLSSecret: 7, s3: [] } }), []],
    ['no spec', resource(refTo('EtcdBackup', 'b'), { spec: null }), []],
    [
      'a backup with a second store',
      resource(refTo('EtcdBackup', 'one'), {
        spec: { s3: { awsSecret: 'near' }, secondStore: { abs: { absSecret: 'far' } } },
      }),
      ['far', 'near'],
    ],
  ];

  test.each(references)('%s', (_, object, names) => {
    expect(secretReferences(object)).toEqual(names);
    const known = knowing(object);
    const ref = resourceOf(object);
    if (ref === undefined) throw new Error('not a resource');
    for (const name of names) expect(concernedBy(slimSecret(secret(name)), known)).toEqual([keyOf(ref)]);
    expect(concernedBy(slimSecret(secret('another')), known)).toEqual([]);
    known.remove(keyOf(ref));
    for (const name of names) expect(concernedBy(slimSecret(secret(name)), known)).toEqual([]);
  });

  test('one Secret of two resources concerns both; the same name elsewhere concerns neither', () => {
    const spec = { clientTLSSecret: 'shared' };
    const [one, two] = [refTo('EtcdBackup', 'one'), refTo('EtcdBackup', 'two')];
    const known = knowing(resource(one, { spec }), resource(two, { spec }));
    expect(concernedBy(slimSecret(secret('shared')), known)).toEqual([keyOf(one), keyOf(two)]);
    const elsewhere = secret('shared');
    elsewhere.metadata.namespace = 'other';
    expect(concernedBy(slimSecret(elsewhere), known)).toEqual([]);
  });

  test('a reference that is changed moves', () => {
    const backup = refTo('EtcdBackup', 'one');
    const known = knowing(resource(backup, { spec: { authSecret: 'old' } }));
    const found = resourceFrom(resource(backup, { spec: { authSecret: 'new' } }));
    if (found !== undefined) known.put(found);
    expect(known.referringTo('default', 'old')).toEqual([]);
    expect(known.referringTo('default', 'new')).toEqual([keyOf(backup)]);
  });
});
