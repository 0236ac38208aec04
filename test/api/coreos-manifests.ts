/**
 * Manifests in the API of the CoreOS operator that use every field of it, as users who ran it have them; and the definitions that its
 * three programs made when they started, as an API server stores them.
 */
import { randomUUID } from 'node:crypto';
import type { ObstacleReason } from '../../src/api/obstacles/catalogue.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { COREOS_STATUS } from '../worlds/coreos-cluster.ts';

const STORES = ['s3', 'abs', 'gcs', 'oss'];
const API = 'etcd.database.coreos.com/v1beta2';

const SECRETS = {
  static: {
    member: { peerSecret: 'etcd-peer-tls', serverSecret: 'etcd-server-tls' },
    operatorSecret: 'etcd-client-tls',
  },
};

interface ClusterManifest {
  readonly what: string;
  readonly spec: EtcdClusterSpec;
  readonly obstacle?: ObstacleReason;
}

/** Its EtcdClusters, and what keeps each from being created; absent: it is created. */
export const COREOS_CLUSTERS: readonly ClusterManifest[] = [
  { what: 'size and version alone', spec: { size: 3, version: '3.2.13' }, obstacle: 'SpecInvalid' },
  { what: 'a version with v', spec: { size: 3, version: 'v3.5.35' } },
  { what: 'no version', spec: { size: 1 } },
  {
    what: 'a repository and a pause',
    spec: { size: 3, version: '3.5.35', repository: 'registry.example.org/etcd', paused: true },
    obstacle: 'Paused',
  },
  {
    what: 'every field of the pod policy',
    spec: {
      size: 5,
      version: '3.5.35',
      pod: {
        labels: { team: 'shop' },
        annotations: { 'prometheus.io/scrape': 'true' },
        nodeSelector: { disk: 'ssd' },
        antiAffinity: true,
        resources: { requests: { cpu: '200m', memory: '100Mi' }, limits: { memory: '1Gi' } },
        tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoSchedule' }],
        etcdEnv: [{ name: 'ETCD_AUTO_COMPACTION_RETENTION', value: '1' }],
        persistentVolumeClaimSpec: {
          storageClassName: 'fast',
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '10Gi' } },
        },
        busyboxImage: 'busybox:1.28.0-glibc',
        securityContext: { runAsNonRoot: true, runAsUser: 9000, fsGroup: 9000 },
        DNSTimeoutInSecond: 30,
        ClusterDomain: '.cluster.local',
      },
    },
  },
  {
    what: 'an affinity of its own',
    spec: {
      size: 3,
      version: '3.5.35',
      pod: {
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 100,
                podAffinityTerm: {
                  labelSelector: {
                    matchExpressions: [{ key: 'etcd_cluster', operator: 'In', values: ['example'] }],
                  },
                  topologyKey: 'kubernetes.io/hostname',
                },
              },
            ],
          },
        },
      },
    },
  },
  {
    what: 'TLS of peers and clients',
    spec: { size: 3, version: '3.5.35', TLS: SECRETS },
    obstacle: 'SecretMissing',
  },
  {
    what: 'TLS of peers alone',
    spec: { size: 3, version: '3.5.35', TLS: { static: { member: { peerSecret: 'etcd-peer-tls' } } } },
    obstacle: 'SecretMissing',
  },
];

/** Its EtcdBackups: each store, once and periodically. */
export const COREOS_BACKUPS = [
  {
    what: 'S3',
    spec: {
      etcdEndpoints: ['http://example-client:2379'],
      storageType: 'S3',
      s3: {
        path: 'bucket/etcd.backup',
        awsSecret: 'aws',
        endpoint: 'https://minio.example.org',
        forcePathStyle: true,
      },
    },
  },
  {
    what: 'S3 by interval, with TLS',
    spec: {
      etcdEndpoints: ['https://example-client:2379'],
      clientTLSSecret: 'etcd-client-tls',
      storageType: 'S3',
      backupPolicy: { backupIntervalInSecond: 125, maxBackups: 4, timeoutInSecond: 60 },
      s3: { path: 'bucket/etcd.backup', awsSecret: 'aws' },
    },
  },
  {
    what: 'Azure',
    spec: {
      etcdEndpoints: ['http://example-client:2379'],
      storageType: 'ABS',
      abs: { path: 'container/etcd.backup', absSecret: 'abs' },
    },
  },
  {
    what: 'Google',
    spec: {
      etcdEndpoints: ['http://example-client:2379'],
      storageType: 'GCS',
      gcs: { path: 'bucket/etcd.backup', gcpSecret: 'gcp' },
    },
  },
  {
    what: 'OSS',
    spec: {
      etcdEndpoints: ['http://example-client:2379'],
      storageType: 'OSS',
      oss: { path: 'bucket/etcd.backup', ossSecret: 'oss', endpoint: 'https://oss-cn-hangzhou.aliyuncs.com' },
    },
  },
] as const;

/** Its EtcdRestores: of each store. */
export const COREOS_RESTORES = COREOS_BACKUPS.filter(({ what }) => what !== 'S3 by interval, with TLS').map(
  ({ what, spec: { storageType, ...spec } }) => ({
    what,
    spec: { etcdCluster: { name: 'example' }, backupStorageType: storageType, ...storeOf(spec) },
  }),
);

function storeOf(spec: object): object {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => STORES.includes(field)));
}

/** Objects that have stood in an API server since that operator ran, with the status that it wrote. */
export const COREOS_OBJECTS = [
  {
    apiVersion: API,
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'default' },
    spec: { repository: 'quay.io/coreos/etcd', size: 3, version: '3.2.13' },
    status: COREOS_STATUS,
  },
  {
    apiVersion: API,
    kind: 'EtcdBackup',
    metadata: { name: 'nightly', namespace: 'default', finalizers: ['backup-operator-periodic'] },
    spec: COREOS_BACKUPS[1].spec,
    status: {
      succeeded: true,
      etcdVersion: '3.2.13',
      etcdRevision: 42,
      lastSuccessDate: '2020-03-01T10:00:00Z',
    },
  },
  {
    apiVersion: API,
    kind: 'EtcdBackup',
    metadata: { name: 'failed', namespace: 'default' },
    spec: COREOS_BACKUPS[0].spec,
    status: { succeeded: false, Reason: 'create etcd client failed' },
  },
  {
    apiVersion: API,
    kind: 'EtcdRestore',
    metadata: { name: 'example', namespace: 'default' },
    spec: COREOS_RESTORES[0]?.spec,
    status: { succeeded: true },
  },
] as const;

/** A definition without a schema or subresources, made through apiextensions.k8s.io/v1beta1, which is served no more. */
export function coreosDefinition(kind: string, shortNames: readonly string[] = []): object {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  const names = { plural, singular, shortNames, kind, listKind: `${kind}List` };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.etcd.database.coreos.com`,
      uid: randomUUID(),
      generation: 1,
      creationTimestamp: '2020-03-01T10:00:00Z',
    },
    spec: {
      group: 'etcd.database.coreos.com',
      names,
      scope: 'Namespaced',
      versions: [{ name: 'v1beta2', served: true, storage: true }],
      conversion: { strategy: 'None' },
      preserveUnknownFields: true,
    },
    status: {
      conditions: ['NamesAccepted', 'Established'].map(type => ({
        type,
        status: 'True',
        lastTransitionTime: '2020-03-01T10:00:00Z',
      })),
      acceptedNames: names,
      storedVersions: ['v1beta2'],
    },
  };
}
