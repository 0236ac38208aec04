/** EtcdBackups and EtcdRestores that the API server must refuse, each with the words that it must say. */
import type { Rejected } from './rejected-clusters.ts';

const gcs = { storageType: 'GCS', gcs: { path: 'bucket/etcd' } };
const endpoints = { etcdEndpoints: ['https://example-client:2379'] };
const ok = { ...endpoints, ...gcs };
const ONE_SOURCE = 'exactly one of etcdEndpoints and clusterRef must be given';
const policy = (backupPolicy: object) => ({ ...ok, backupPolicy });
const CRON = 'must be a cron expression of five fields such as "30 2 * * *"';

const SAME = 'would be lost together';
const second = (secondStore: object, first: object = gcs) => ({ ...endpoints, ...first, secondStore });

const SECOND_STORES: readonly Rejected[] = [
  {
    what: 'a second store without its type',
    spec: second({ gcs: { path: 'far/etcd' } }),
    says: ['spec.secondStore.storageType', 'Required value'],
  },
  {
    what: 'a second store without its block',
    spec: second({ storageType: 'S3' }),
    says: ['spec.secondStore', 'storageType S3 needs the block s3 with path'],
  },
  {
    what: 'a second store without a path',
    spec: second({ storageType: 'S3', s3: {} }),
    says: ['spec.secondStore.s3.path', 'Required value'],
  },
  {
    what: 'a second store that is the first one',
    spec: second({ storageType: 'GCS', gcs: { path: 'bucket/etcd' } }),
    says: ['spec.secondStore', 'secondStore must be another bucket', SAME],
  },
  {
    what: 'a second store in the same bucket, with the same Secret',
    spec: second({ storageType: 'GCS', gcs: { path: 'bucket/copies' } }),
    says: ['spec.secondStore', SAME],
  },
  {
    what: 'a second store below the path of the first one, with another Secret',
    spec: second({ storageType: 'GCS', gcs: { path: 'bucket/etcd_v', gcpSecret: 'other' } }),
    says: ['spec.secondStore', SAME],
  },
  {
    what: 'a second store on the same claim',
    spec: second(
      { storageType: 'File', file: { claim: 'backups', path: 'far' } },
      { storageType: 'File', file: { claim: 'backups', path: 'near' } },
    ),
    says: ['spec.secondStore', 'secondStore must be another claim'],
  },
];

export const REJECTED_BACKUPS: readonly Rejected[] = [
  { what: 'no spec', spec: undefined, says: ['spec', 'Required value'] },
  {
    what: 'an unknown storageType',
    spec: { ...ok, storageType: 'Floppy' },
    says: ['spec.storageType', 'supported values', '"S3"', '"ABS"', '"GCS"', '"OSS"', '"File"'],
  },
  {
    what: 'storageType s3 in small letters',
    spec: { ...ok, storageType: 's3' },
    says: ['spec.storageType', 'supported values'],
  },
  {
    what: 'an empty storageType',
    spec: { ...ok, storageType: '' },
    says: ['spec.storageType', 'supported values'],
  },
  { what: 'no storageType', spec: endpoints, says: ['spec.storageType', 'Required value'] },
  { what: 'null as storageType', spec: { ...ok, storageType: null }, says: ['spec.storageType'] },
  ...SECOND_STORES,
  {
    what: 'neither endpoints nor a cluster',
    spec: gcs,
    says: [ONE_SOURCE, 'clusterRef.name for a cluster of this operator'],
  },
  { what: 'no endpoint in the list', spec: { ...gcs, etcdEndpoints: [] }, says: [ONE_SOURCE] },
  { what: 'endpoints and a cluster', spec: { ...ok, clusterRef: { name: 'example' } }, says: [ONE_SOURCE] },
  {
    what: 'an empty endpoint',
    spec: { ...gcs, etcdEndpoints: [''] },
    says: ['spec.etcdEndpoints[0]', 'at least 1 chars'],
  },
  {
    what: 'a cluster without name',
    spec: { ...gcs, clusterRef: {} },
    says: ['spec.clusterRef.name', 'Required value'],
  },
  ...(['S3', 'ABS', 'GCS', 'OSS', 'File'] as const).map(storageType => ({
    what: `storageType ${storageType} without its block`,
    spec: { ...endpoints, storageType },
    says: [`storageType ${storageType} needs the block ${storageType.toLowerCase()} with`, 'path'],
  })),
  {
    what: 'S3 with the block of GCS',
    spec: { ...endpoints, storageType: 'S3', gcs: { path: 'a/b' } },
    says: ['storageType S3 needs the block s3 with path'],
  },
  {
    what: 'a path without key',
    spec: { ...endpoints, storageType: 'S3', s3: { path: 'bucket' } },
    says: ['spec.s3.path', 'must be bucket/key, such as backups/etcd/example'],
  },
  {
    what: 'a path without bucket',
    spec: { ...endpoints, storageType: 'S3', s3: { path: '/key' } },
    says: ['spec.s3.path', 'must be bucket/key'],
  },
  {
    what: 'a block without path',
    spec: { ...endpoints, storageType: 'S3', s3: { awsSecret: 'aws' } },
    says: ['spec.s3.path', 'Required value'],
  },
  ...(['S3', 'ABS', 'GCS', 'OSS'] as const).flatMap(storageType => {
    const block = storageType.toLowerCase();
    const store = (more: object) => ({ ...endpoints, storageType, [block]: { path: 'bucket/key', ...more } });
    return [
      {
        what: `the path s3://bucket/key in ${storageType}`,
        spec: store({ path: 's3://bucket/key' }),
        says: [`spec.${block}.path`, 'without a scheme such as s3://'],
      },
      ...['bucket/../other/key', 'bucket/..', 'bucket/a/./b', '../key'].map(path => ({
        what: `the path ${path} in ${storageType}`,
        spec: store({ path }),
        says: [`spec.${block}.path`, 'must not have . or .. as a part'],
      })),
      ...['ftp://store.example.com', 'file:///etc/passwd', 'httpss://store.example.com', '://x', '/x'].map(
        endpoint => ({
          what: `the endpoint ${endpoint} in ${storageType}`,
          spec: store({ endpoint }),
          says: [`spec.${block}.endpoint`, 'with https:// or http://'],
        }),
      ),
    ];
  }),
  {
    what: 'an address of a member that is none of HTTP',
    spec: { ...gcs, etcdEndpoints: ['https://example-client:2379', 'ftp://example-client:2379'] },
    says: ['spec.etcdEndpoints[1]', 'with https:// or http://'],
  },
  {
    what: 'a file outside of its volume',
    spec: { ...endpoints, storageType: 'File', file: { claim: 'backups', path: '../etc/passwd' } },
    says: ['spec.file.path', 'must be a path within the volume'],
  },
  {
    what: 'a file with an absolute path',
    spec: { ...endpoints, storageType: 'File', file: { claim: 'backups', path: '/etc/passwd' } },
    says: ['spec.file.path', 'must be a path within the volume'],
  },
  {
    what: 'a time limit beyond a day',
    spec: policy({ timeoutInSecond: 86_401 }),
    says: ['spec.backupPolicy.timeoutInSecond', 'must be at most 86400, a day'],
  },
  {
    what: 'a negative interval',
    spec: policy({ backupIntervalInSecond: -1 }),
    says: ['spec.backupPolicy.backupIntervalInSecond', 'must not be negative: write 0 for a single backup'],
  },
  {
    what: 'negative maxBackups',
    spec: policy({ maxBackups: -1 }),
    says: ['spec.backupPolicy.maxBackups', 'must not be negative: write 0 to keep all backups'],
  },
  {
    what: 'an interval that is text',
    spec: policy({ backupIntervalInSecond: '1h' }),
    says: ['backupIntervalInSecond', 'must be of type integer'],
  },
  {
    what: 'a schedule of words',
    spec: policy({ schedule: 'every night' }),
    says: ['spec.backupPolicy.schedule', CRON],
  },
  {
    what: 'a schedule of six fields',
    spec: policy({ schedule: '0 0 2 * * *' }),
    says: ['spec.backupPolicy.schedule', CRON],
  },
  {
    what: 'a schedule and an interval',
    spec: policy({ schedule: '@daily', backupIntervalInSecond: 60 }),
    says: ['schedule and backupIntervalInSecond exclude each other'],
  },
  {
    what: 'a time zone without schedule',
    spec: policy({ timeZone: 'UTC' }),
    says: ['timeZone belongs to schedule'],
  },
  {
    what: 'a jitter without schedule',
    spec: policy({ jitterInSecond: 60 }),
    says: ['jitterInSecond belongs to schedule'],
  },
  {
    what: 'a jitter of two days',
    spec: policy({ schedule: '@daily', jitterInSecond: 172_800 }),
    says: ['spec.backupPolicy.jitterInSecond', 'must be at most 86400'],
  },
  {
    what: 'a time zone with a space',
    spec: policy({ schedule: '@daily', timeZone: 'my zone' }),
    says: ['spec.backupPolicy.timeZone', 'such as UTC or Europe/Paris'],
  },
  {
    what: 'retention and maxBackups',
    spec: policy({ maxBackups: 3, retention: { daily: 7 } }),
    says: ['retention and maxBackups exclude each other'],
  },
  {
    what: 'a negative retention',
    spec: policy({ retention: { daily: -7 } }),
    says: ['retention.daily', 'greater than or equal to 0'],
  },
  {
    what: 'verify Maybe',
    spec: { ...ok, verify: 'Maybe' },
    says: ['spec.verify', '"Checksum", "Structure", "Restore"'],
  },
  {
    what: 'compression rar',
    spec: { ...ok, compression: 'rar' },
    says: ['spec.compression', '"none", "gzip", "zstd"'],
  },
];

const store = { backupStorageType: 'S3', s3: { path: 'bucket/etcd' } };
const target = { etcdCluster: { name: 'example' } };
const ONE_BACKUP = 'exactly one of backupRef, backupStorageType, survivor and incarnation must be given';
const AT = 'must be Latest, a revision such as 4711, or a time such as 2026-11-21T12:00:00Z';

const goingBack = { ...target, incarnation: { token: 'example-00000001-1' }, confirmClusterID: 'abc' };

export const REJECTED_RESTORES: readonly Rejected[] = [
  {
    what: 'an incarnation and a backup',
    spec: { ...goingBack, ...store },
    says: [ONE_BACKUP],
  },
  {
    what: 'an incarnation without the id of what is given up',
    spec: { ...goingBack, confirmClusterID: undefined },
    says: ['spec.incarnation', 'incarnation needs confirmClusterID'],
  },
  {
    what: 'an incarnation for a new cluster',
    spec: { ...goingBack, clusterTemplate: { size: 1 } },
    says: ['spec.incarnation', 'no clusterTemplate'],
  },
  {
    what: 'an incarnation without a token',
    spec: { ...goingBack, incarnation: { token: '' } },
    says: ['spec.incarnation.token', 'at least 1 chars'],
  },
  { what: 'no cluster', spec: store, says: ['spec.etcdCluster', 'Required value'] },
  {
    what: 'an empty name of the cluster',
    spec: { ...store, etcdCluster: { name: '' } },
    says: ['spec.etcdCluster.name', 'must name an EtcdCluster'],
  },
  {
    what: 'a name of 53 characters for the cluster',
    spec: { ...store, etcdCluster: { name: 'a'.repeat(53) } },
    says: ['spec.etcdCluster.name', 'at most 52 characters'],
  },
  ...['Example', '0example', 'example-', 'example.shop', 'a/b', '../../secrets', 'a b'].map(name => ({
    what: `the name ${name} for the cluster`,
    spec: { ...store, etcdCluster: { name } },
    says: ['spec.etcdCluster.name', 'must name an EtcdCluster'],
  })),
  { what: 'no backup', spec: target, says: [ONE_BACKUP] },
  { what: 'two backups', spec: { ...target, ...store, backupRef: { name: 'nightly' } }, says: [ONE_BACKUP] },
  {
    what: 'an unknown storage type',
    spec: { ...target, backupStorageType: 'Tape' },
    says: ['spec.backupStorageType', 'supported values'],
  },
  {
    what: 'a storage type without its block',
    spec: { ...target, backupStorageType: 'GCS' },
    says: ['backupStorageType GCS needs the block gcs with path'],
  },
  {
    what: 'a backup of yesterday',
    spec: { ...target, backupRef: { name: 'nightly', at: 'yesterday' } },
    says: ['spec.backupRef.at', AT],
  },
  {
    what: 'a backup of revision -1',
    spec: { ...target, backupRef: { name: 'nightly', at: -1 } },
    says: ['spec.backupRef.at', AT],
  },
  {
    what: 'a cluster id that is no number',
    spec: { ...target, ...store, confirmClusterID: 'yes please' },
    says: ['spec.confirmClusterID', 'must be the cluster id in hexadecimal'],
  },
  {
    what: 'a negative revisionBump',
    spec: { ...target, ...store, revisionBump: -1 },
    says: ['spec.revisionBump', 'greater than or equal to 0'],
  },
  {
    what: 'a template of size 9',
    spec: { ...target, ...store, clusterTemplate: { size: 9 } },
    says: ['spec.clusterTemplate.size', 'must be from 1 to 7'],
  },
  {
    what: 'a template with a reserved label',
    spec: { ...target, ...store, clusterTemplate: { pod: { labels: { app: 'x' } } } },
    says: ['spec.clusterTemplate.pod.labels', 'are set by the operator'],
  },
];
