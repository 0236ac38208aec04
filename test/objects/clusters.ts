/** Clusters for the builders' tests, each standing for a way in which users ask for one. */
import type { EtcdCluster, EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { MemberStart } from '../../src/objects/first-start.ts';
import type { PodMember } from '../../src/objects/pod.ts';

export const TOKEN = '5f1c0c52-6a56-4c1e-9f5e-0c8b4b0d1a77';

export function cluster(spec: EtcdClusterSpec, name = 'example', status?: EtcdClusterStatus): EtcdCluster {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: { name, namespace: 'shop', uid: '0b7e6e34-55a2-4d5e-8a53-7c2d3a1f9e10', generation: 1 },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

export function member(
  start: MemberStart,
  storage: PodMember['storage'] = 'PersistentVolumeClaim',
  name = 'example-0',
): PodMember {
  return { name, token: TOKEN, start, storage };
}

export const BOOTSTRAP: MemberStart = { state: 'new', members: ['example-0', 'example-1', 'example-2'] };

/** Every field of the pod policy, as hostile to the operator's own values as the schema lets it be. */
export const FULL_POD: EtcdClusterSpec = {
  size: 5,
  version: 'v3.5.35',
  repository: 'registry.example.com/mirror/etcd',
  pod: {
    labels: { team: 'payments', app: 'not-etcd', etcd_cluster: 'someone-else' },
    annotations: { 'example.com/owner': 'payments', 'etcd.version': '9.9.9' },
    nodeSelector: { disk: 'nvme' },
    antiAffinity: true,
    tolerations: [{ key: 'dedicated', operator: 'Equal', value: 'etcd', effect: 'NoSchedule' }],
    resources: {
      requests: { cpu: '1', memory: '2Gi' },
      limits: { cpu: '3500m', memory: '4Gi' },
      claims: [{ name: 'unknown-to-this-code' }],
    },
    securityContext: { runAsUser: 1000, fsGroup: 2000, supplementalGroupsPolicy: 'Strict' },
    etcdEnv: [
      { name: 'ETCD_AUTO_COMPACTION_MODE', value: 'revision' },
      { name: 'ETCD_AUTO_COMPACTION_RETENTION', value: '5000' },
      { name: 'ETCD_NAME', value: 'impostor' },
      { name: 'ETCD_FORCE_NEW_CLUSTER', value: 'true' },
      { name: 'ETCD_SNAPSHOT_COUNT', value: '7' },
      { name: 'GOGC', value: '50' },
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ],
    ClusterDomain: '.corp.internal',
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { etcd_cluster: 'example' } },
      },
    ],
    priorityClassName: 'system-cluster-critical',
    imagePullSecrets: [{ name: 'mirror' }],
    serviceAccountName: 'etcd',
    terminationGracePeriodSeconds: 90,
  },
  storage: {
    volumeClaimTemplate: {
      metadata: { labels: { backup: 'yes', etcd_node: 'x' }, annotations: { 'example.com/tier': 'gold' } },
      spec: {
        accessModes: ['ReadWriteOncePod'],
        storageClassName: 'fast',
        resources: { requests: { storage: '40Gi' } },
        volumeAttributesClassName: 'unknown-to-this-code',
      },
    },
  },
  etcd: {
    quotaBackendBytes: '4Gi',
    snapshotCount: 20000,
    heartbeatIntervalMs: 250,
    electionTimeoutMs: 2500,
    logLevel: 'warn',
    maxRequestBytes: '3Mi',
  },
  service: {
    type: 'LoadBalancer',
    labels: { team: 'payments', app: 'not-etcd' },
    annotations: { 'example.com/internal': 'true' },
    trafficDistribution: 'PreferClose',
  },
};

const STATIC_TLS: EtcdClusterSpec = {
  version: '3.6.16',
  TLS: {
    static: { member: { peerSecret: 'peer', serverSecret: 'server' }, operatorSecret: 'operator' },
  },
};

/** Status that says which keys the Secrets were seen to have. */
const CERT_MANAGER_KEYS: EtcdClusterStatus = {
  tls: {
    mode: 'static',
    peer: true,
    client: false,
    certificates: [{ role: 'peer', secret: 'peer-certificate', keys: 'Standard' }],
  },
};

export const CLUSTERS: readonly { title: string; cluster: EtcdCluster; member: PodMember }[] = [
  { title: 'minimal-3.5.3', cluster: cluster({ size: 3, version: '3.5.3' }), member: member(BOOTSTRAP) },
  { title: 'full-pod-policy', cluster: cluster(FULL_POD), member: member({ state: 'restart' }) },
  {
    title: 'empty-dir',
    cluster: cluster({ storage: { emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } } }),
    member: member(BOOTSTRAP, 'EmptyDir'),
  },
  {
    title: 'development',
    cluster: cluster({ size: 1, profile: 'Development' }),
    member: member({ state: 'new', members: ['example-0'] }, 'EmptyDir'),
  },
  { title: 'tls-static-3.6', cluster: cluster(STATIC_TLS), member: member(BOOTSTRAP) },
  {
    title: 'tls-peer-only-3.7',
    cluster: cluster(
      { version: '3.7.3', TLS: { static: { member: { peerSecret: 'peer-certificate' } } } },
      'example',
      CERT_MANAGER_KEYS,
    ),
    member: member(BOOTSTRAP),
  },
  {
    title: 'tls-auto-3.5',
    cluster: cluster({ version: '3.5.35', TLS: { auto: {} }, pod: { ClusterDomain: 'corp.internal' } }),
    member: member(BOOTSTRAP),
  },
  {
    title: 'learner-3.6',
    cluster: cluster({ version: '3.6.16' }),
    member: member(
      {
        state: 'join',
        members: [
          { name: 'example-0', peerUrl: 'http://example-0.example.shop.svc:2380' },
          { name: 'example-4', peerUrl: 'http://example-4.example.shop.svc:2380' },
        ],
      },
      'PersistentVolumeClaim',
      'example-4',
    ),
  },
  {
    title: 'kubernetes-3.7',
    cluster: cluster({ version: '3.7.3', profile: 'Kubernetes', pod: { persistentVolumeClaimSpec: {} } }),
    member: member(BOOTSTRAP),
  },
];
