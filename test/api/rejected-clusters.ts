/** EtcdClusters that the API server must refuse, each with the words that it must say. */

export type Rejected = {
  /** The end of the sentence "an EtcdCluster with …". */
  readonly what: string;
  readonly spec: unknown;
  /** What the message must contain: which field, and what to write instead. */
  readonly says: readonly string[];
  readonly name?: string;
};

const SIZE =
  'must be from 1 to 7, best 3 or 5; to stop a cluster and keep its data set spec.hibernated to true';
const VERSION = 'must be a release of etcd of the form x.y.z, such as 3.6.16';
const RESERVED_LABELS =
  'the labels app, etcd.version, etcd_* and etcd.database.coreos.com/* are set by the operator';
const RESERVED_ANNOTATIONS =
  'the annotations app, etcd.version, etcd_* and etcd.database.coreos.com/* are set by';
const OPERATOR_ENV = 'are set by the operator: remove them; TLS is configured in spec.TLS';
const DANGEROUS_ENV = 'endanger the data of the cluster: remove them; settings of etcd belong in spec.etcd';
const TLS_PAIR = 'member.serverSecret and operatorSecret belong together';
const TLS_MODES = 'static, auto and certManager exclude each other: keep one of them';

const mebibyte = 'x'.repeat(2 ** 20);
const claim = (storage: unknown, more: object = {}) => ({ resources: { requests: { storage } }, ...more });
const template = (spec: unknown) => ({ storage: { volumeClaimTemplate: { spec } } });
const env = (name: string) => ({ pod: { etcdEnv: [{ name, value: 'x' }] } });

export const REJECTED_CLUSTERS: readonly Rejected[] = [
  { what: 'size 0', spec: { size: 0 }, says: ['spec.size', SIZE] },
  { what: 'size 8', spec: { size: 8 }, says: ['spec.size', SIZE] },
  { what: 'size -1', spec: { size: -1 }, says: ['spec.size', SIZE] },
  { what: 'size "three"', spec: { size: 'three' }, says: ['spec.size', 'must be of type integer: "string"'] },
  { what: 'size 2.5', spec: { size: 2.5 }, says: ['spec.size', 'must be of type integer: "number"'] },
  { what: 'size 10^12', spec: { size: 1e12 }, says: ['spec.size', SIZE] },
  { what: 'size [3]', spec: { size: [3] }, says: ['spec.size', 'must be of type integer: "array"'] },
  { what: 'version latest', spec: { version: 'latest' }, says: ['spec.version', VERSION] },
  { what: 'version 3', spec: { version: '3' }, says: ['spec.version', VERSION] },
  { what: 'version 3.5', spec: { version: '3.5' }, says: ['spec.version', VERSION] },
  { what: 'version 3.5.x', spec: { version: '3.5.x' }, says: ['spec.version', VERSION] },
  { what: 'version 3.6.0-rc.1', spec: { version: '3.6.0-rc.1' }, says: ['spec.version', VERSION] },
  { what: 'version with a space before it', spec: { version: ' 3.6.16' }, says: ['spec.version', VERSION] },
  { what: 'version vv3.6.16', spec: { version: 'vv3.6.16' }, says: ['spec.version', VERSION] },
  { what: 'version in Arabic digits', spec: { version: '٣.٦.١٦' }, says: ['spec.version', VERSION] },
  { what: 'a version of two lines', spec: { version: '3.6.16\n3.6.16' }, says: ['spec.version', VERSION] },
  {
    what: 'the number 3.5 as version',
    spec: { version: 3.5 },
    says: ['spec.version', 'must be of type string'],
  },
  {
    what: 'a version of 1 MiB',
    spec: { version: mebibyte },
    says: ['spec.version', 'may not be more than 64'],
  },
  {
    what: 'a repository with a tag',
    spec: { repository: 'registry.example/etcd:v3.6.16' },
    says: ['spec.repository', 'must be an image name without tag or digest'],
  },
  {
    what: 'a repository with a digest',
    spec: { repository: 'registry.example/etcd@sha256:00' },
    says: ['spec.repository', 'must be an image name without tag or digest'],
  },
  {
    what: 'a repository of 1 MiB',
    spec: { repository: mebibyte },
    says: ['spec.repository', 'may not be more than 512'],
  },
  { what: 'paused "yes"', spec: { paused: 'yes' }, says: ['spec.paused', 'must be of type boolean'] },
  { what: 'text as spec', spec: 'three members', says: ['spec', 'must be of type object: "string"'] },
  { what: 'text as pod', spec: { pod: 'small' }, says: ['spec.pod', 'must be of type object'] },
  {
    what: 'an unknown profile',
    spec: { profile: 'Huge' },
    says: ['spec.profile', 'supported values', '"Kubernetes"'],
  },

  {
    what: 'the label app',
    spec: { pod: { labels: { app: 'mine' } } },
    says: ['spec.pod.labels', RESERVED_LABELS],
  },
  {
    what: 'the label etcd_cluster',
    spec: { pod: { labels: { etcd_cluster: 'other' } } },
    says: ['spec.pod.labels', RESERVED_LABELS],
  },
  {
    what: 'the label etcd_anything',
    spec: { pod: { labels: { etcd_anything: 'x' } } },
    says: ['spec.pod.labels', RESERVED_LABELS],
  },
  {
    what: 'the label etcd.version',
    spec: { pod: { labels: { 'etcd.version': '3.6.16' } } },
    says: ['spec.pod.labels', RESERVED_LABELS],
  },
  {
    what: "an annotation of the operator's own prefix",
    spec: { pod: { annotations: { 'etcd.database.coreos.com/serial': '7' } } },
    says: ['spec.pod.annotations', RESERVED_ANNOTATIONS],
  },
  {
    what: 'the annotation etcd.version',
    spec: { pod: { annotations: { 'etcd.version': '3.6.16' } } },
    says: ['spec.pod.annotations', RESERVED_ANNOTATIONS],
  },
  {
    what: 'a label value of 64 characters',
    spec: { pod: { labels: { tier: 'x'.repeat(64) } } },
    says: ['spec.pod.labels.tier', 'may not be more than 63'],
  },
  {
    what: 'a label whose value is a number',
    spec: { pod: { labels: { tier: 1 } } },
    says: ['spec.pod.labels.tier', 'must be of type string'],
  },
  {
    what: '65 labels',
    spec: { pod: { labels: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`label-${n}`, 'x'])) } },
    says: ['spec.pod.labels', 'must have at most 64 items'],
  },

  {
    what: 'a variable that is named twice',
    spec: {
      pod: {
        etcdEnv: [
          { name: 'A', value: 'x' },
          { name: 'B', value: 'x' },
          { name: 'A', value: 'y' },
        ],
      },
    },
    says: ['spec.pod.etcdEnv', 'a variable must be named once'],
  },
  { what: 'ETCD_NAME', spec: env('ETCD_NAME'), says: ['spec.pod.etcdEnv', OPERATOR_ENV] },
  { what: 'ETCD_DATA_DIR', spec: env('ETCD_DATA_DIR'), says: ['spec.pod.etcdEnv', OPERATOR_ENV] },
  {
    what: 'ETCD_INITIAL_CLUSTER',
    spec: env('ETCD_INITIAL_CLUSTER'),
    says: ['spec.pod.etcdEnv', OPERATOR_ENV],
  },
  {
    what: 'ETCD_LISTEN_PEER_URLS',
    spec: env('ETCD_LISTEN_PEER_URLS'),
    says: ['spec.pod.etcdEnv', OPERATOR_ENV],
  },
  {
    what: 'ETCD_ADVERTISE_CLIENT_URLS',
    spec: env('ETCD_ADVERTISE_CLIENT_URLS'),
    says: ['spec.pod.etcdEnv', OPERATOR_ENV],
  },
  {
    what: 'ETCD_TRUSTED_CA_FILE',
    spec: env('ETCD_TRUSTED_CA_FILE'),
    says: ['spec.pod.etcdEnv', OPERATOR_ENV],
  },
  { what: 'ETCD_DISCOVERY_SRV', spec: env('ETCD_DISCOVERY_SRV'), says: ['spec.pod.etcdEnv', OPERATOR_ENV] },
  {
    what: 'MEMBER_INITIAL_CLUSTER_STATE',
    spec: env('MEMBER_INITIAL_CLUSTER_STATE'),
    says: ['spec.pod.etcdEnv', OPERATOR_ENV],
  },
  {
    what: 'ETCD_FORCE_NEW_CLUSTER',
    spec: env('ETCD_FORCE_NEW_CLUSTER'),
    says: ['spec.pod.etcdEnv', DANGEROUS_ENV],
  },
  {
    what: 'ETCD_UNSAFE_NO_FSYNC',
    spec: env('ETCD_UNSAFE_NO_FSYNC'),
    says: ['spec.pod.etcdEnv', DANGEROUS_ENV],
  },
  {
    what: 'ETCD_STRICT_RECONFIG_CHECK',
    spec: env('ETCD_STRICT_RECONFIG_CHECK'),
    says: ['spec.pod.etcdEnv', DANGEROUS_ENV],
  },
  { what: 'ETCD_CONFIG_FILE', spec: env('ETCD_CONFIG_FILE'), says: ['spec.pod.etcdEnv', DANGEROUS_ENV] },
  {
    what: 'a variable without name',
    spec: { pod: { etcdEnv: [{ value: 'x' }] } },
    says: ['etcdEnv[0].name', 'Required value'],
  },
  {
    what: 'a variable of 1 MiB',
    spec: { pod: { etcdEnv: [{ name: 'A', value: mebibyte }] } },
    says: ['etcdEnv[0].value', 'may not be more than 32768'],
  },
  {
    what: '129 variables',
    spec: { pod: { etcdEnv: Array.from({ length: 129 }, (_, n) => ({ name: `N${n}` })) } },
    says: ['spec.pod.etcdEnv', 'must have at most 128 items'],
  },
  {
    what: 'a cluster domain with a slash',
    spec: { pod: { ClusterDomain: 'cluster/local' } },
    says: ['spec.pod.ClusterDomain', 'must be a DNS domain such as cluster.local'],
  },
  {
    what: 'tolerations that are no list',
    spec: { pod: { tolerations: {} } },
    says: ['spec.pod.tolerations', 'must be of type array'],
  },
  {
    what: 'resources that are text',
    spec: { pod: { resources: '1Gi' } },
    says: ['spec.pod.resources', 'must be of type object'],
  },
  {
    what: 'limits that are text',
    spec: { pod: { resources: { limits: '1Gi' } } },
    says: ['spec.pod.resources.limits', 'must be of type object'],
  },
  {
    what: 'a limit that is no quantity',
    spec: { pod: { resources: { limits: { cpu: 'lots' } } } },
    says: ['spec.pod.resources.limits.cpu', 'should match'],
  },
  {
    what: 'less than no processor',
    spec: { pod: { resources: { requests: { cpu: '-1' } } } },
    says: ['spec.pod.resources.requests.cpu', 'should match'],
  },
  {
    what: 'less than no memory, as a number',
    spec: { pod: { resources: { requests: { memory: -0.5 } } } },
    says: ['spec.pod.resources.requests.memory', 'should be greater than or equal to 0'],
  },
  {
    what: 'huge pages with a unit that there is not',
    spec: { pod: { resources: { limits: { 'hugepages-2Mi': '4MB' } } } },
    says: ['spec.pod.resources.limits.hugepages-2Mi', 'should match'],
  },
  {
    what: 'a claim whose limit is no quantity',
    spec: { storage: { volumeClaimTemplate: { spec: { resources: { limits: { storage: '8GB' } } } } } },
    says: ['spec.storage.volumeClaimTemplate.spec.resources.limits.storage', 'should match'],
  },

  {
    what: 'serverSecret without operatorSecret',
    spec: { TLS: { static: { member: { serverSecret: 's' } } } },
    says: ['spec.TLS.static', TLS_PAIR],
  },
  {
    what: 'operatorSecret without serverSecret',
    spec: { TLS: { static: { member: { peerSecret: 'p' }, operatorSecret: 'o' } } },
    says: ['spec.TLS.static', TLS_PAIR],
  },
  {
    what: 'operatorSecret and an empty serverSecret',
    spec: { TLS: { static: { member: { serverSecret: '' }, operatorSecret: 'o' } } },
    says: ['spec.TLS.static', TLS_PAIR],
  },
  {
    what: 'two ways of TLS',
    spec: { TLS: { auto: {}, certManager: { issuerRef: { name: 'ca' } } } },
    says: ['spec.TLS', TLS_MODES],
  },
  {
    what: 'cert-manager without issuer',
    spec: { TLS: { certManager: {} } },
    says: ['spec.TLS.certManager.issuerRef', 'Required value'],
  },
  {
    what: 'a Secret name in capitals',
    spec: { TLS: { static: { member: { peerSecret: 'Peer_Secret' } } } },
    says: ['spec.TLS.static.member.peerSecret', 'must be the name of a Secret'],
  },

  {
    what: 'volumeClaimTemplate and emptyDir',
    spec: { storage: { volumeClaimTemplate: { spec: claim('8Gi') }, emptyDir: {} } },
    says: ['spec.storage', 'volumeClaimTemplate and emptyDir exclude each other'],
  },
  {
    what: 'persistentVolumeClaimSpec and volumeClaimTemplate',
    spec: { pod: { persistentVolumeClaimSpec: claim('8Gi') }, ...template(claim('8Gi')) },
    says: ['pod.persistentVolumeClaimSpec and storage both say where members keep their data'],
  },
  {
    what: 'persistentVolumeClaimSpec and emptyDir',
    spec: { pod: { persistentVolumeClaimSpec: claim('8Gi') }, storage: { emptyDir: {} } },
    says: ['pod.persistentVolumeClaimSpec and storage both say where members keep their data'],
  },
  {
    what: 'a volumeClaimTemplate without spec',
    spec: { storage: { volumeClaimTemplate: {} } },
    says: ['spec.storage.volumeClaimTemplate.spec', 'Required value'],
  },
  {
    what: 'a volume of "big"',
    spec: template(claim('big')),
    says: ['requests.storage', 'must be a size above zero such as 8Gi'],
  },
  {
    what: 'a volume of 0',
    spec: template(claim(0)),
    says: ['requests.storage', 'must be a size above zero such as 8Gi'],
  },
  {
    what: 'a volume of -1Gi',
    spec: template(claim('-1Gi')),
    says: ['requests.storage', 'must be a size above zero such as 8Gi'],
  },
  {
    what: 'retain Archive',
    spec: { storage: { retain: 'Archive' } },
    says: ['spec.storage.retain', 'supported values: "Delete", "Retain"'],
  },
  {
    what: 'retainDeadMemberFor "a day"',
    spec: { storage: { retainDeadMemberFor: 'a day' } },
    says: ['spec.storage.retainDeadMemberFor', 'must be a duration such as 90s, 30m or 24h'],
  },

  {
    what: 'an election timeout below five heartbeats',
    spec: { etcd: { heartbeatIntervalMs: 300, electionTimeoutMs: 1000 } },
    says: ['spec.etcd', 'electionTimeoutMs must be at least five times heartbeatIntervalMs'],
  },
  {
    what: 'an election timeout below five default heartbeats',
    spec: { etcd: { electionTimeoutMs: 400 } },
    says: ['spec.etcd', 'electionTimeoutMs must be at least five times heartbeatIntervalMs'],
  },
  {
    what: 'a quota of 15Mi',
    spec: { etcd: { quotaBackendBytes: '15Mi' } },
    says: ['spec.etcd.quotaBackendBytes', 'must be bytes or a size such as 16Mi, from 16Mi to 64Gi'],
  },
  {
    what: 'a quota of 1Ti',
    spec: { etcd: { quotaBackendBytes: '1Ti' } },
    says: ['spec.etcd.quotaBackendBytes', 'must be bytes or a size such as 16Mi, from 16Mi to 64Gi'],
  },
  {
    what: 'a quota of "much"',
    spec: { etcd: { quotaBackendBytes: 'much' } },
    says: ['spec.etcd.quotaBackendBytes', 'must be bytes or a size such as 16Mi, from 16Mi to 64Gi'],
  },
  {
    what: 'a quota that is true',
    spec: { etcd: { quotaBackendBytes: true } },
    says: ['spec.etcd.quotaBackendBytes', 'must be of type integer,string'],
  },
  {
    what: 'a retention of revisions that is a time',
    spec: { etcd: { autoCompaction: { mode: 'revision', retention: '1h' } } },
    says: ['spec.etcd.autoCompaction', 'with mode revision, retention is a number of revisions such as 1000'],
  },
  {
    what: 'a retention that is no time',
    spec: { etcd: { autoCompaction: { retention: 'soon' } } },
    says: ['spec.etcd.autoCompaction', 'with mode periodic, retention is a duration such as 1h or 30m'],
  },
  {
    what: 'log level loud',
    spec: { etcd: { logLevel: 'loud' } },
    says: ['spec.etcd.logLevel', 'supported values'],
  },
  {
    what: 'a negative snapshotCount',
    spec: { etcd: { snapshotCount: -1 } },
    says: ['spec.etcd.snapshotCount', 'greater than or equal to 0'],
  },
  {
    what: 'a negative soak time',
    spec: { upgrade: { soakSeconds: -5 } },
    says: ['spec.upgrade.soakSeconds', 'greater than or equal to 0'],
  },
  {
    what: 'upgrade strategy YOLO',
    spec: { upgrade: { strategy: 'YOLO' } },
    says: ['spec.upgrade.strategy', 'supported values: "Automatic", "Supervised"'],
  },
  {
    what: 'a negative replaceAfterSeconds',
    spec: { repair: { replaceAfterSeconds: -1 } },
    says: ['spec.repair.replaceAfterSeconds', 'greater than or equal to 0'],
  },
  {
    what: 'a defragmentation schedule of four fields',
    spec: { maintenance: { defragment: { schedule: '0 2 * *' } } },
    says: ['spec.maintenance.defragment.schedule', 'must be a cron expression of five fields'],
  },
  {
    what: "a maintenance window at 25 o'clock",
    spec: { maintenance: { defragment: { window: { start: '25:00', duration: '1h' } } } },
    says: ['window.start', 'must be a time of day from 00:00 to 23:59'],
  },
  {
    what: 'a total loss that makes an empty cluster',
    spec: { recovery: { totalLoss: 'Bootstrap' } },
    says: ['spec.recovery.totalLoss', 'supported values: "Report", "RestoreLatestBackup"'],
  },
  {
    what: 'Service type ExternalName',
    spec: { service: { type: 'ExternalName' } },
    says: ['spec.service.type', 'supported values'],
  },

  {
    what: 'a name of 53 characters',
    name: `a${'b'.repeat(52)}`,
    spec: {},
    says: ['metadata.name may have at most 52 characters', 'write a shorter one'],
  },
  {
    what: 'a name that begins with a digit',
    name: '3members',
    spec: {},
    says: ['metadata.name must name a Service', 'a letter first'],
  },
  {
    what: 'a name with a dot',
    name: 'my.etcd',
    spec: {},
    says: ['metadata.name must name a Service', 'no dots'],
  },
  {
    what: 'a name in Greek',
    name: 'ετσιντί',
    spec: {},
    says: ['metadata.name', 'must consist of lower case alphanumeric'],
  },
  {
    what: 'a name in capitals',
    name: 'Example',
    spec: {},
    says: ['metadata.name', 'must consist of lower case alphanumeric'],
  },
];
