import { describe, expect, test } from 'vitest';
import { NOT_ACTED_ON_YET } from '../../../src/api/validation/ignored-fields.ts';
import type { Kind } from '../../../src/api/names.ts';
import { customResourceDefinitions } from '../../../src/api/schemas/crd.ts';
import type { EtcdBackupSpec, EtcdClusterSpec, EtcdRestoreSpec } from '../../../src/api/schemas/types.ts';
import {
  validateBackup,
  validateCluster,
  validateRestore,
  type Validation,
} from '../../../src/api/validation/validate.ts';
import { ACCEPTED_CLUSTERS, STORED_BEFORE } from '../accepted-clusters.ts';
import { nodesOf } from '../structural-rules.ts';

const cluster = (spec: EtcdClusterSpec, name = 'example') => ({
  metadata: { name, namespace: 'default', uid: 'u' },
  spec,
});
const find = (validation: Validation, type: string) =>
  validation.conditions.find(entry => entry.type === type);

describe('a cluster', () => {
  test.each([...ACCEPTED_CLUSTERS, ...STORED_BEFORE].map(row => [row.what, row] as const))(
    'with %s',
    (_what, { spec, shows }) => {
      const [type, status, reason, ...words] = shows;
      const found = find(validateCluster(cluster(spec)), type);
      expect(found).toMatchObject({ type, status, reason });
      for (const text of words) expect(found?.message).toContain(text);
    },
  );

  test('that is well blocks nothing', () => {
    expect(validateCluster(cluster({ size: 3, version: '3.6.16' })).blocking).toEqual([]);
  });

  test('of an even size, an outdated version, with ignored fields and a tight volume is warned about and built', () => {
    const storage = { volumeClaimTemplate: { spec: { resources: { requests: { storage: '1Gi' } } } } };
    const validation = validateCluster(
      cluster({ size: 2, version: '3.5.3', storage, pod: { busyboxImage: 'b' } }),
    );
    expect(validation.blocking).toEqual([]);
    const raised = ['VersionOutdated', 'EvenSize', 'StorageTight', 'FieldsIgnored'];
    expect(raised.map(type => find(validation, type)?.status)).toEqual(['True', 'True', 'True', 'True']);
  });

  test('of a version that is not supported is not built', () => {
    const { blocking } = validateCluster(cluster({ version: '3.2.13' }));
    expect(blocking.map(({ type, status }) => [type, status])).toEqual([['VersionSupported', 'False']]);
  });

  test('keeps its recorded version when its specification names none', () => {
    const message = find(validateCluster(cluster({ version: '' }), '3.7.3'), 'VersionSupported')?.message;
    expect(message).toContain('etcd 3.7.3');
  });
});

/** Objects that are older than the schema can hold what the API server now refuses. */
describe('an old cluster', () => {
  test.each<[string, EtcdClusterSpec, string, string?]>([
    ['size 9', { size: 9 }, 'spec.size is 9: write a number from 1 to 7'],
    ['a long name', {}, 'metadata.name has 53 characters: use at most 52', 'a'.repeat(53)],
    ['a name with a dot', {}, 'cannot name a Service', 'my.etcd'],
    [
      'a reserved label',
      { pod: { labels: { app: 'x' } } },
      'spec.pod.labels sets app, which the operator sets itself',
    ],
    ['a dangerous variable', { pod: { etcdEnv: [{ name: 'ETCD_UNSAFE_NO_FSYNC' }] } }, 'endangers the data'],
    [
      'two storage forms',
      { pod: { persistentVolumeClaimSpec: {} }, storage: { emptyDir: {} } },
      'spec.storage.emptyDir and spec.pod.persistentVolumeClaimSpec exclude each other: keep one',
    ],
    [
      'an invalid volume',
      { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: 'big' } } } } },
      'the storage request "big" is no size',
    ],
    [
      'a volume that is a copy of another',
      { storage: { volumeClaimTemplate: { spec: { dataSource: { kind: 'VolumeSnapshot', name: 'a' } } } } },
      'has dataSource, and a member begins on an empty volume: remove it',
    ],
    ['a hasty election', { etcd: { electionTimeoutMs: 100 } }, 'write at least 500'],
    [
      'an invalid quota',
      { etcd: { quotaBackendBytes: 'much' } },
      'spec.etcd.quotaBackendBytes "much" is no size',
    ],
    ['a quota that is full at once', { etcd: { quotaBackendBytes: '8Mi' } }, 'write at least 16Mi'],
    [
      'an invalid retention',
      { etcd: { autoCompaction: { retention: 'soon' } } },
      'is no duration: write one such as 1h',
    ],
    [
      'a malformed label on its Service',
      { service: { labels: { a: 'ä' } } },
      'spec.service.labels has the value',
    ],
  ])('with %s is not changed, and the reason is reported', (_what, spec, words, name) => {
    const { blocking } = validateCluster(cluster(spec, name));
    expect(blocking).toMatchObject([{ type: 'SpecValid', status: 'False', reason: 'Invalid' }]);
    expect(blocking[0]?.message).toContain(words);
  });

  test('with version latest is not touched, and the message says what to write', () => {
    const { blocking } = validateCluster(cluster({ version: 'latest' }));
    expect(blocking).toMatchObject([{ type: 'VersionSupported', reason: 'Malformed' }]);
    expect(blocking[0]?.message).toContain('write one of 3.5.35, 3.6.16, 3.7.3');
  });

  test('with several faults gets all of them reported', () => {
    const spec = { size: 9, pod: { labels: { app: 'x' } } };
    const message = find(validateCluster(cluster(spec, 'A')), 'SpecValid')?.message;
    for (const words of ['metadata.name "A"', 'spec.size is 9', 'sets app']) expect(message).toContain(words);
  });
});

test('an old cluster with a variable that is named twice continues, and the message says which one counts', () => {
  const etcdEnv = ['A', 'B', 'A'].map((name, index) => ({ name, value: `${index}` }));
  const validation = validateCluster(cluster({ pod: { etcdEnv } }));
  expect(validation.blocking).toEqual([]);
  const said = find(validation, 'FieldsIgnored');
  expect(said).toMatchObject({ status: 'True' });
  expect(said?.message).toContain('spec.pod.etcdEnv[0]: A is named again after it');
  expect(said?.message).not.toContain('etcdEnv[1]');
});

describe('a backup', () => {
  const spec: EtcdBackupSpec = { clusterRef: { name: 'example' }, storageType: 'S3', s3: { path: 'a/b' } };
  const scheduled = (schedule: string, timeZone?: string): EtcdBackupSpec => ({
    ...spec,
    backupPolicy: { schedule, ...(timeZone === undefined ? {} : { timeZone }) },
  });

  test('that is well blocks nothing', () => {
    expect(validateBackup({ spec: scheduled('30 2 * * *', 'Europe/Paris') }).blocking).toEqual([]);
  });

  test.each<[EtcdBackupSpec, string]>([
    [scheduled('0 25 * * *'), 'spec.backupPolicy.schedule "0 25 * * *": hour "25"'],
    [scheduled('@daily', 'Mars/Olympus'), 'spec.backupPolicy.timeZone "Mars/Olympus"'],
  ])('with a schedule that does not parse does not run: %j', (bad, words) => {
    const { blocking } = validateBackup({ spec: bad });
    expect(blocking).toMatchObject([{ type: 'ScheduleValid', status: 'False', reason: 'Malformed' }]);
    expect(blocking[0]?.message).toContain(words);
  });

  test('of an unknown storage type, older than the schema, gets a message with what to write', () => {
    const { blocking } = validateBackup({ spec: { ...spec, storageType: 'Floppy' as 'S3' } });
    expect(blocking[0]?.message).toContain(
      'spec.storageType "Floppy" is unknown: write S3, ABS, GCS, OSS or File',
    );
  });

  test.each<[string, EtcdBackupSpec, string]>([
    ['a scheme', { ...spec, s3: { path: 's3://b/c' } }, 'spec.s3.path "s3://b/c" must begin with the bucket'],
    ['a path', { ...spec, s3: { path: 'a/../b/c' } }, 'spec.s3.path "a/../b/c" must not have . or ..'],
    [
      'an endpoint',
      { ...spec, s3: { path: 'a/b', endpoint: 'ftp://store' } },
      'spec.s3.endpoint "ftp://store" must begin with https:// or http://',
    ],
    [
      'a region with a blank',
      { ...spec, s3: { path: 'a/b', region: 'eu-central-1 ' } },
      'spec.s3.region "eu-central-1 " must be the name of a region, such as eu-central-1, without spaces',
    ],
    [
      'an address of a member',
      { storageType: 'S3', s3: { path: 'a/b' }, etcdEndpoints: ['example:2379', 'ftp://example:2379'] },
      'spec.etcdEndpoints[1] "ftp://example:2379" must begin with',
    ],
  ])(
    'with %s that leads nowhere, older than the schema, gets a message with what to write',
    (_what, bad, words) => {
      const { blocking } = validateBackup({ spec: bad });
      expect(blocking).toMatchObject([{ type: 'SpecValid', status: 'False' }]);
      expect(blocking[0]?.message).toContain(words);
    },
  );

  test('that names blocks of other stores gets a message that they do nothing', () => {
    const ignored = find(validateBackup({ spec: { ...spec, gcs: { path: 'c/d' } } }), 'FieldsIgnored');
    expect(ignored?.message).toContain('spec.gcs: storageType is S3');
  });
});

describe('a restore', () => {
  const spec: EtcdRestoreSpec = { etcdCluster: { name: 'example' }, backupRef: { name: 'nightly' } };

  test('that is well blocks nothing', () => {
    expect(validateRestore({ spec }).blocking).toEqual([]);
    const old: EtcdRestoreSpec = {
      etcdCluster: { name: 'example' },
      backupStorageType: 'OSS',
      oss: { path: 'a/b' },
    };
    expect(validateRestore({ spec: old }).blocking).toEqual([]);
  });

  test.each<[string, EtcdRestoreSpec, string]>([
    [
      'no backup',
      { etcdCluster: { name: 'example' } },
      'exactly one of spec.backupStorageType, spec.backupRef, spec.survivor and spec.incarnation',
    ],
    [
      'a type without its block',
      { etcdCluster: { name: 'example' }, backupStorageType: 'S3' },
      'needs the block spec.s3',
    ],
    [
      'an impossible cluster',
      { ...spec, etcdCluster: { name: 'My_Etcd' } },
      'spec.etcdCluster.name "My_Etcd"',
    ],
  ])('with %s gets a message with what to write', (_what, bad, words) => {
    expect(validateRestore({ spec: bad }).blocking[0]?.message).toContain(words);
  });
});

describe('what is not acted upon yet', () => {
  const kinds = customResourceDefinitions().filter(({ spec }) => spec.names.kind !== 'EtcdRequest');
  test.each(kinds)('is a field of the schema of $metadata.name', definition => {
    const schema = definition.spec.versions[0].schema.openAPIV3Schema;
    const paths = new Set(nodesOf(schema).map(([path]) => path));
    const unknown = NOT_ACTED_ON_YET[definition.spec.names.kind as Kind].filter(
      ({ field }) => !paths.has(`.${field}`),
    );
    expect(unknown).toEqual([]);
  });

  test.each(NOT_ACTED_ON_YET.EtcdCluster.filter(({ unless }) => unless !== undefined))(
    'is not said of $field when it asks for what happens anyway',
    ({ field, unless }) => {
      expect(ignoredFor(specWith(field, unless))).not.toContain(field);
    },
  );

  test.each(NOT_ACTED_ON_YET.EtcdCluster)(
    'is said of $field when it asks for something',
    ({ field, unless }) => {
      const other = typeof unless === 'number' ? unless + 1 : typeof unless === 'boolean' ? !unless : 'Other';
      expect(ignoredFor(specWith(field, other))).toContain(`${field}: not acted upon by this release`);
    },
  );
});

test('what is carried out is not called ignored', () => {
  expect(ignoredFor({ size: 3, recovery: { totalLoss: 'RestoreLatestBackup' } })).not.toContain('totalLoss');
  const restore = {
    etcdCluster: { name: 'example' },
    backupStorageType: 'S3',
    s3: { path: 'bucket/key', awsSecret: 'aws' },
  } as const;
  expect(find(validateRestore({ spec: restore }), 'FieldsIgnored')?.reason).toBe('NoneIgnored');
});

function specWith(field: string, value: unknown): EtcdClusterSpec {
  const keys = field.split('.').slice(1);
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as EtcdClusterSpec;
}

function ignoredFor(spec: EtcdClusterSpec): string {
  return find(validateCluster(cluster(spec)), 'FieldsIgnored')?.message ?? '';
}
