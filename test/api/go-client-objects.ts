/**
 * Whole objects in the form that the CoreOS operator's Go client wrote them: zero values, empty texts and nulls included
 * wherever a Go struct has no omitempty, or has it on a type that is never empty (metav1.Time).
 */

export type GoClientObject = { readonly what: string; readonly object: Readonly<Record<string, unknown>> };

const apiVersion = 'etcd.database.coreos.com/v1beta2';
const metadata = (name: string) => ({ name, namespace: 'default', creationTimestamp: null });

const emptyStatus = {
  phase: '',
  controlPaused: false,
  size: 0,
  members: {},
  currentVersion: '',
  targetVersion: '',
};

export const GO_CLIENT_OBJECTS: readonly GoClientObject[] = [
  {
    what: 'a cluster with an empty version and repository',
    object: {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: metadata('go-empty'),
      spec: { size: 3, repository: '', version: '' },
      status: emptyStatus,
    },
  },
  {
    what: 'a cluster with generateName',
    object: {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: { generateName: 'go-generated-', namespace: 'default', creationTimestamp: null },
      spec: { size: 1, repository: 'quay.io/coreos/etcd', version: '3.2.13' },
      status: emptyStatus,
    },
  },
  {
    what: 'a cluster with a whole pod policy',
    object: {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: metadata('go-pod'),
      spec: {
        size: 3,
        repository: 'quay.io/coreos/etcd',
        version: '3.2.13',
        paused: true,
        pod: {
          labels: { team: 'storage' },
          nodeSelector: { disk: 'ssd' },
          antiAffinity: true,
          resources: { limits: { cpu: '300m', memory: '200Mi' }, requests: { cpu: '200m', memory: '100Mi' } },
          tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoSchedule' }],
          etcdEnv: [{ name: 'ETCD_AUTO_COMPACTION_RETENTION', value: '1' }],
          persistentVolumeClaimSpec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            storageClassName: 'standard',
          },
          annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '2379' },
          busyboxImage: 'busybox:1.28.0-glibc',
          securityContext: { runAsUser: 9000, fsGroup: 9000 },
          DNSTimeoutInSecond: 0,
          ClusterDomain: '.cluster.local',
        },
      },
      status: emptyStatus,
    },
  },
  {
    what: 'a cluster with an empty pod policy',
    object: {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: metadata('go-empty-pod'),
      spec: { size: 3, repository: '', version: '', pod: { resources: {}, ClusterDomain: '' } },
      status: emptyStatus,
    },
  },
  {
    what: 'a cluster with static TLS',
    object: {
      apiVersion,
      kind: 'EtcdCluster',
      metadata: metadata('go-tls'),
      spec: {
        size: 3,
        repository: '',
        version: '',
        TLS: {
          static: {
            member: { peerSecret: 'etcd-peer-tls', serverSecret: 'etcd-server-tls' },
            operatorSecret: 'etcd-client-tls',
          },
        },
      },
      status: {
        ...emptyStatus,
        phase: 'Running',
        conditions: [
          {
            type: 'Available',
            status: 'True',
            lastUpdateTime: '2020-01-01T00:00:00Z',
            lastTransitionTime: '2020-01-01T00:00:00Z',
            reason: 'Cluster available',
          },
        ],
        members: { ready: ['go-tls-abcdefghij'] },
      },
    },
  },
  {
    what: 'a backup without times',
    object: {
      apiVersion,
      kind: 'EtcdBackup',
      metadata: metadata('go-backup'),
      spec: {
        etcdEndpoints: ['http://example-etcd-cluster-client:2379'],
        storageType: 'S3',
        backupPolicy: { timeoutInSecond: 0, backupIntervalInSecond: 0, maxBackups: 0 },
        s3: { path: 'mybucket/etcd.backup', awsSecret: 'aws', endpoint: '', forcePathStyle: false },
      },
      status: { succeeded: false, lastSuccessDate: null },
    },
  },
  {
    what: 'a periodic backup to Azure',
    object: {
      apiVersion,
      kind: 'EtcdBackup',
      metadata: metadata('go-backup-abs'),
      spec: {
        etcdEndpoints: ['https://a-client:2379', 'https://b-client:2379'],
        storageType: 'ABS',
        backupPolicy: { timeoutInSecond: 60, backupIntervalInSecond: 125, maxBackups: 4 },
        abs: { path: 'container/etcd/', absSecret: 'abs' },
        clientTLSSecret: 'etcd-client-tls',
      },
      status: { succeeded: false, lastSuccessDate: null },
    },
  },
  {
    what: 'a restore from OSS',
    object: {
      apiVersion,
      kind: 'EtcdRestore',
      metadata: metadata('go-restore'),
      spec: {
        backupStorageType: 'OSS',
        oss: {
          path: 'bucket/etcd.backup',
          ossSecret: 'oss',
          endpoint: 'http://oss-cn-hangzhou.aliyuncs.com',
        },
        etcdCluster: { name: 'example-etcd-cluster' },
      },
      status: { succeeded: false },
    },
  },
];
