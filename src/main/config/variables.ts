/** Every environment variable of the operator: read by config.ts, documented from here, and in no other place. */
import { LOG_LEVELS } from '../../telemetry/logger.ts';
import type { TextRule } from './environment.ts';

interface Common {
  readonly meaning: string;
}
export interface TextVariable extends Common {
  readonly type: 'text';
  readonly default: string;
  readonly rule: TextRule;
}
export interface OptionalVariable extends Common {
  readonly type: 'optional';
  /** What holds when it is not given. */
  readonly otherwise: string;
  readonly rule?: TextRule;
}
export interface IntegerVariable extends Common {
  readonly type: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}
export interface FlagVariable extends Common {
  readonly type: 'flag';
  readonly default: boolean;
}
export interface DerivedFlagVariable extends Common {
  readonly type: 'derivedFlag';
  /** What it is when it is not given. */
  readonly otherwise: string;
}
export interface ChoiceVariable extends Common {
  readonly type: 'choice';
  readonly choices: readonly string[];
  readonly default: string;
}
export interface ListVariable extends Common {
  readonly type: 'list';
  /** What an empty list means. */
  readonly otherwise: string;
}
export type Variable =
  | TextVariable
  | OptionalVariable
  | IntegerVariable
  | FlagVariable
  | DerivedFlagVariable
  | ChoiceVariable
  | ListVariable;

const hostAndPort = {
  pattern: /^(?:[a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/i,
  hint: 'write host:port without a scheme, for example temporal-frontend.temporal.svc:7233',
};
const dnsLabel = {
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
    meaning: 'The namespace of Temporal. It is registered when it is missing.',
  },
  TEMPORAL_RETENTION_DAYS: {
    type: 'integer',
    default: 30,
    min: 7,
    max: 3650,
    meaning: 'How long closed workflows stay readable; used when the namespace has to be registered.',
  },
  TEMPORAL_TLS: {
    type: 'derivedFlag',
    otherwise: 'true when one of the four below is given',
    meaning: 'Whether to talk TLS to Temporal.',
  },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    type: 'optional',
    otherwise: 'the authorities that Node trusts',
    rule: absolutePath,
    meaning: 'File of the certificates that sign the certificate of the server.',
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: {
    type: 'optional',
    otherwise: 'no client certificate',
    rule: absolutePath,
    meaning: 'File of the certificate that the operator shows; needs its key.',
  },
  TEMPORAL_TLS_CLIENT_KEY_PATH: {
    type: 'optional',
    otherwise: 'no client certificate',
    rule: absolutePath,
    meaning: 'File of the key of that certificate.',
  },
  TEMPORAL_TLS_SERVER_NAME: {
    type: 'optional',
    otherwise: 'the host of TEMPORAL_ADDRESS',
    meaning: "Name in the server's certificate.",
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
    meaning: 'What this process does: worker (runs workflows), watcher (tells them of changes), or both.',
  },
  WATCH_NAMESPACE: {
    type: 'optional',
    otherwise: 'all namespaces',
    rule: dnsLabel,
    meaning: 'The one namespace whose resources are looked after.',
  },
  POD_NAME: {
    type: 'optional',
    otherwise: 'the host name',
    rule: podName,
    meaning: "Name of this replica, in leases and as Temporal's worker identity.",
  },
  POD_NAMESPACE: {
    type: 'text',
    default: 'etcd-operator',
    rule: dnsLabel,
    meaning: 'The namespace of this replica, which holds the lease of the watchers.',
  },
  OPERATOR_IMAGE: {
    type: 'optional',
    otherwise: "the image of the operator's own pod",
    meaning: 'The image of the pods that help the operator, such as those that lend it a claim for backups.',
  },
  IDENTITY_NAMESPACES: {
    type: 'list',
    otherwise: 'nobody',
    meaning:
      "The namespaces whose backups and restores may reach their store as the operator's pod when they name no Secret: names, or * for all.",
  },
  BACKUP_ENDPOINTS_ALLOWED: {
    type: 'list',
    otherwise: 'only Services and pods of the namespace of the EtcdBackup',
    meaning:
      "Where spec.etcdEndpoints may lead besides: hosts (*.example.org: all below), addresses, blocks, or * for anywhere that the operator's pod reaches, the etcd of other namespaces included.",
  },
  STORE_ADDRESSES_ALLOWED: {
    type: 'list',
    otherwise: 'anywhere but at this machine, its link and the metadata services of the clouds',
    meaning:
      'Where stores may be besides, in the form of BACKUP_ENDPOINTS_ALLOWED. Of the hosts that it names, errors are told in full, of others only what a store says itself.',
  },
  CREDENTIAL_HOSTS_ALLOWED: {
    type: 'list',
    otherwise:
      "the clouds' own hosts, and those that a Secret names in its annotation etcd.database.coreos.com/hosts",
    meaning:
      "Where what Secrets hold that would serve whoever receives it may be sent besides: Google's tokens, requests signed for Azure or OSS, and an authSecret to an etcd that is not of its namespace. In the form of BACKUP_ENDPOINTS_ALLOWED.",
  },
  LEADER_ELECTION: {
    type: 'flag',
    default: true,
    meaning:
      'Whether replicas elect the one that watches. Only for an operator that runs alone is false safe.',
  },
  LEASE_NAME: {
    type: 'text',
    default: 'etcd-operator-watcher',
    rule: podName,
    meaning: 'The Lease that they elect with.',
  },
  KUBECONFIG: {
    type: 'optional',
    otherwise: "the pod's service account, or what kubectl would use outside of a pod",
    meaning: 'A kubeconfig file.',
  },
  KUBERNETES_SERVICE_HOST: {
    type: 'optional',
    otherwise: 'the operator does not run in a pod',
    meaning: 'Set by the kubelet in every pod; never by hand.',
  },
  KUBERNETES_SERVICE_PORT: {
    type: 'text',
    default: '443',
    rule: { pattern: /^[1-9]\d{0,4}$/, hint: 'write a port number' },
    meaning: 'Set by the kubelet in every pod; never by hand.',
  },
  HEALTH_PORT: { type: 'integer', default: 8080, ...port, meaning: 'Port of /healthz and /readyz.' },
  METRICS_PORT: { type: 'integer', default: 9464, ...port, meaning: "Port of the operator's /metrics." },
  TEMPORAL_METRICS_PORT: {
    type: 'integer',
    default: 9465,
    ...port,
    meaning: "Port of the /metrics of Temporal's SDK: its requests, workflows and activities.",
  },
  LOG_LEVEL: { type: 'choice', default: 'info', choices: LOG_LEVELS, meaning: 'The least that is logged.' },
  REDACT: {
    type: 'list',
    otherwise: 'nothing but what is recognised as a secret by itself',
    meaning: 'Exact texts that are taken out of everything that leaves the process.',
  },
  MAX_CACHED_WORKFLOWS: {
    type: 'integer',
    default: 1000,
    min: 0,
    max: 100_000,
    meaning:
      'Workflows kept in memory; each takes about 150 kB. More resources than that still work, more slowly.',
  },
  MAX_CONCURRENT_ACTIVITIES: {
    type: 'integer',
    default: 100,
    min: 1,
    max: 10_000,
    meaning: 'Passes and steps that one replica makes at once.',
  },
  MAX_CONCURRENT_TRANSFERS: {
    type: 'integer',
    default: 20,
    min: 1,
    max: 1000,
    meaning:
      'Backups, verifications and restores whose data one replica moves at once; others wait. They take no place of passes and steps.',
  },
  MAX_CONCURRENT_WORKFLOW_TASKS: {
    type: 'integer',
    default: 40,
    min: 2,
    max: 10_000,
    meaning:
      'Decisions that one replica makes at once for workflows in its memory. Of others, which are replayed first, it takes four for each processor.',
  },
} as const satisfies Readonly<Record<string, Variable>>;

/** The names of the variables of one type. */
export type VariableOf<Type extends Variable['type']> = {
  [Name in keyof typeof VARIABLES]: (typeof VARIABLES)[Name]['type'] extends Type ? Name : never;
}[keyof typeof VARIABLES];
