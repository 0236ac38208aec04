/** Every environment variable of the operator: read by config.ts, documented from here, and in no other place. */
import { LOG_LEVELS } from '../../telemetry/logger.ts';
import type { Variable } from './variable-types.ts';

const hostAndPort = {
  pattern: /^(?:[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/i,
  hint: 'write host:port without a scheme, for example temporal-frontend.temporal.svc:7233',
};
/** Of a namespace of Kubernetes (RFC 1123, a label). */
export const namespaceName = {
  pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  hint: 'write one namespace: lower-case letters, digits and dashes, at most 63',
};
const podName = {
  pattern: /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
  hint: 'write the name of the pod: lower-case letters, digits, dashes and dots',
};
/** Names within Temporal. Its server allows more; these can be typed in a shell and in a query. */
const temporalName = {
  pattern: /^[A-Za-z0-9][\w.-]{0,199}$/,
  hint: 'write letters, digits, dots, dashes and underscores, for example etcd-operator',
};
const absolutePath = { pattern: /^\//, hint: 'write the absolute path of a file' };
const absoluteFolder = { pattern: /^\//, hint: 'write the absolute path of a folder' };
const port = { min: 1, max: 65_535 };

/** In the order in which they are documented. Those of Temporal are called as its own CLI calls them. */
export const VARIABLES = {
  TEMPORAL_ADDRESS: {
    type: 'text',
    default: 'temporal-frontend.temporal.svc:7233',
    rule: hostAndPort,
    meaning: "host:port of Temporal's frontend.",
  },
  TEMPORAL_NAMESPACE: {
    type: 'text',
    default: 'etcd-operator',
    rule: temporalName,
    meaning: 'The Temporal namespace. The operator registers it if it does not exist.',
  },
  TEMPORAL_RETENTION_DAYS: {
    type: 'integer',
    default: 30,
    min: 7,
    max: 3650,
    meaning: 'The retention of closed workflows in days; used if the operator registers the namespace.',
  },
  TEMPORAL_TLS: {
    type: 'derivedFlag',
    otherwise: 'true if TEMPORAL_API_KEY_PATH or one of the four variables after it is set',
    meaning:
      'Whether to use TLS for connections to Temporal. false with an API key is accepted only if TEMPORAL_ADDRESS is a loopback address.',
  },
  TEMPORAL_API_KEY_PATH: {
    type: 'optional',
    otherwise: 'no API key',
    rule: absolutePath,
    isNeverQuoted: true,
    meaning:
      'File with the API key for Temporal, which each request carries (`authorization: Bearer`). It is read again when it changes.',
  },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    type: 'optional',
    otherwise: 'the authorities that Node trusts',
    rule: absolutePath,
    meaning: 'File with the CA certificates for the server certificate.',
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: {
    type: 'optional',
    otherwise: 'no client certificate',
    rule: absolutePath,
    meaning: "File with the operator's client certificate; requires its key.",
  },
  TEMPORAL_TLS_CLIENT_KEY_PATH: {
    type: 'optional',
    otherwise: 'no client certificate',
    rule: absolutePath,
    meaning: 'File with the key of the client certificate.',
  },
  TEMPORAL_TLS_SERVER_NAME: {
    type: 'optional',
    otherwise: 'the host of TEMPORAL_ADDRESS',
    meaning: "Name in the server's certificate.",
  },
  TEMPORAL_CODEC_KEYS: {
    type: 'optional',
    otherwise: 'payloads are not encrypted',
    rule: absoluteFolder,
    meaning:
      'Folder with the keys that encrypt what workflows carry, as a mounted Secret: each file is a key (its name is the id, its content 32 bytes in base64), and the file `active` contains the id of the one that encrypts, or `none`.',
  },
  TEMPORAL_CODEC_SERVER_PORT: {
    type: 'derivedInteger',
    otherwise: 'no codec server',
    ...port,
    meaning:
      "Port of the codec server, which decrypts payloads for Temporal's UI and CLI. It listens on the loopback of the pod only: use `kubectl port-forward`.",
  },
  TEMPORAL_CODEC_SERVER_ORIGINS: {
    type: 'list',
    otherwise: 'no web page may ask',
    meaning:
      "Origins of Temporal's UI whose pages may ask the codec server, such as https://temporal.example.org.",
  },
  TEMPORAL_CODEC_SERVER_ENCODES: {
    type: 'flag',
    default: false,
    meaning: 'Whether the codec server also encrypts, for messages that users send with the CLI.',
  },
  TASK_QUEUE: {
    type: 'text',
    default: 'etcd-operator',
    rule: temporalName,
    meaning:
      'The task queue of the workflows. Operators that share a Temporal namespace need different ones.',
  },
  ROLES: {
    type: 'list',
    otherwise: 'worker,watcher',
    meaning:
      'The roles of this process: worker (runs workflows), watcher (signals them about changes), or both.',
  },
  WATCH_NAMESPACE: {
    type: 'list',
    otherwise: 'all namespaces',
    meaning: 'The only namespaces whose resources the operator manages: one, or up to 50.',
  },
  POD_NAME: {
    type: 'optional',
    otherwise: 'the host name',
    rule: podName,
    meaning:
      "Name of this replica, in Leases and, with the installation after an @, as Temporal's worker identity.",
  },
  POD_NAMESPACE: {
    type: 'text',
    default: 'etcd-operator',
    rule: namespaceName,
    meaning: 'The namespace of this replica, which contains the Lease of the watchers.',
  },
  OPERATOR_IMAGE: {
    type: 'optional',
    otherwise: "the image of the operator's own pod",
    meaning: 'The image of helper pods, such as those that serve a claim for backups.',
  },
  IDENTITY_NAMESPACES: {
    type: 'list',
    otherwise: 'none',
    meaning:
      "The namespaces whose backups and restores may use the identity of the operator's pod if they name no Secret: names, or * for all.",
  },
  BACKUP_ENDPOINTS_ALLOWED: {
    type: 'list',
    otherwise: 'only Services and pods of the namespace of the EtcdBackup',
    meaning:
      "Additional destinations for spec.etcdEndpoints: hosts (*.example.org: all subdomains), addresses, blocks, or * for everything that the operator's pod can reach, including the etcd of other namespaces.",
  },
  STORE_ADDRESSES_ALLOWED: {
    type: 'list',
    otherwise: 'everywhere except this machine, its link and the metadata services of the clouds',
    meaning:
      'Additional addresses for stores, in the form of BACKUP_ENDPOINTS_ALLOWED. For the hosts that it names, errors are reported in full; for others only the errors of a store.',
  },
  CREDENTIAL_HOSTS_ALLOWED: {
    type: 'list',
    otherwise:
      "the clouds' own hosts, and the hosts in the Secret's annotation etcd.database.coreos.com/hosts",
    meaning:
      "Additional hosts for credentials that any receiver could use: Google's tokens, requests signed for Azure or OSS, and an authSecret for an etcd outside of its namespace. In the form of BACKUP_ENDPOINTS_ALLOWED.",
  },
  LEADER_ELECTION: {
    type: 'flag',
    default: true,
    meaning: 'Whether the replicas elect the one that watches. false is safe only for a single replica.',
  },
  LEASE_NAME: {
    type: 'text',
    default: 'etcd-operator-watcher',
    rule: podName,
    meaning: 'The Lease for the election.',
  },
  KUBECONFIG: {
    type: 'optional',
    otherwise: "the pod's service account, or outside of a pod the configuration of kubectl",
    meaning: 'A kubeconfig file.',
  },
  KUBERNETES_SERVICE_HOST: {
    type: 'optional',
    otherwise: 'the operator does not run in a pod',
    meaning: 'Set by the kubelet in every pod. Do not set it.',
  },
  KUBERNETES_SERVICE_PORT: {
    type: 'text',
    default: '443',
    rule: { pattern: /^[1-9]\d{0,4}$/, hint: 'write a port number' },
    meaning: 'Set by the kubelet in every pod. Do not set it.',
  },
  HEALTH_PORT: { type: 'integer', default: 8080, ...port, meaning: 'Port of /healthz and /readyz.' },
  METRICS_PORT: { type: 'integer', default: 9464, ...port, meaning: "Port of the operator's /metrics." },
  TEMPORAL_METRICS_PORT: {
    type: 'integer',
    default: 9465,
    ...port,
    meaning: "Port of the /metrics of Temporal's SDK: its requests, workflows and activities.",
  },
  METRICS_RESOURCES: {
    type: 'integer',
    default: 1000,
    min: 0,
    max: 100_000,
    meaning:
      'So many EtcdClusters, and as many EtcdBackups, have gauges of their own (about ten each); if there are more, those that need attention most. 0: only the gauges of the fleet.',
  },
  BACKUP_JITTER_SECONDS: {
    type: 'integer',
    default: 0,
    min: 0,
    max: 86_400,
    meaning:
      'Seconds by which scheduled backups may begin later than their `schedule` says, unless they set `backupPolicy.jitterInSecond`. Each EtcdBackup has a delay of its own, always the same. Set it for a fleet whose backups have the same schedule.',
  },
  LOG_LEVEL: {
    type: 'choice',
    default: 'info',
    choices: LOG_LEVELS,
    meaning: 'The lowest level that is logged.',
  },
  REDACT: {
    type: 'list',
    otherwise: 'only values that are recognized as secrets',
    meaning: 'Exact strings that are removed from all output of the process.',
  },
  MAX_CACHED_WORKFLOWS: {
    type: 'integer',
    default: 150,
    min: 0,
    max: 100_000,
    meaning:
      'Workflows in the cache; each needs about 150 kB of the heap of the workflow thread, and as much or twice that besides. More resources still work: one that is not in the cache is replayed when something happens to it.',
  },
  MAX_CONCURRENT_ACTIVITIES: {
    type: 'integer',
    default: 100,
    min: 1,
    max: 10_000,
    meaning: 'Passes and steps that one replica runs at once.',
  },
  MAX_CONCURRENT_TRANSFERS: {
    type: 'integer',
    default: 20,
    min: 1,
    max: 1000,
    meaning:
      'Backups, copies, verifications, restores, comparisons of data, defragmentations and compactions that one replica runs at once; others wait. They have their own slots, separate from passes and steps.',
  },
  MAX_BACKUPS_PER_STORE: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 1000,
    meaning:
      'Backups that one replica writes to one store (bucket, container or claim) at once, and never more than leave one of `MAX_CONCURRENT_TRANSFERS` to other stores. Others wait for their turn; `status.progress.message` says for what.',
  },
  MAX_BACKUPS_PER_NODE: {
    type: 'integer',
    default: 8,
    min: 1,
    max: 1000,
    meaning:
      'Snapshots that one replica reads at once from the members on one node, of all clusters together, since they share its disk; half of them go to one store at most. Others wait for their turn; `status.progress.message` says for what.',
  },
  MAX_CONCURRENT_WORKFLOW_TASKS: {
    type: 'integer',
    default: 8,
    min: 2,
    max: 10_000,
    meaning:
      'Workflow tasks that one replica runs at once. They compute on one thread; after a restart each replays a history first, and many at once would all end late.',
  },
} as const satisfies Readonly<Record<string, Variable>>;

/** The names of the variables of one type. */
export type VariableOf<Type extends Variable['type']> = {
  [Name in keyof typeof VARIABLES]: (typeof VARIABLES)[Name]['type'] extends Type ? Name : never;
}[keyof typeof VARIABLES];
