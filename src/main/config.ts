/** The operator's settings: everything that the environment says, parsed once. Nothing else reads it. */
import { hostname } from 'node:os';
import { LOG_LEVELS, type LogLevel } from '../telemetry/logger.ts';
import { type Environment, EnvironmentReader } from './environment.ts';

/** Files are read when connecting. */
export interface TemporalTls {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Name in the server's certificate, when it is not the host of the address. */
  readonly serverName: string | undefined;
}

export interface Config {
  readonly temporal: {
    /** host:port */
    readonly address: string;
    readonly namespace: string;
    /** How long closed workflows stay readable; used when the namespace has to be registered. */
    readonly retentionDays: number;
    /** Undefined: plain text. */
    readonly tls: TemporalTls | undefined;
  };
  readonly taskQueue: string;
  readonly roles: { readonly worker: boolean; readonly watcher: boolean };
  /** Undefined: all namespaces. */
  readonly watchNamespace: string | undefined;
  readonly pod: { readonly name: string; readonly namespace: string };
  /** Without election every replica with the watcher role watches; only for one that runs alone. */
  readonly leaderElection: boolean;
  readonly leaseName: string;
  /** A kubeconfig file; undefined: the pod's service account, or what kubectl would use outside of a pod. */
  readonly kubeconfig: string | undefined;
  readonly inCluster: boolean;
  readonly ports: { readonly health: number; readonly metrics: number; readonly temporalMetrics: number };
  readonly logLevel: LogLevel;
  /** Exact texts that never leave the process. */
  readonly redact: readonly string[];
  readonly worker: {
    readonly maxCachedWorkflows: number;
    readonly maxConcurrentActivities: number;
    readonly maxConcurrentWorkflowTasks: number;
  };
}

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

/**
 * @param environment usually process.env
 * @throws ConfigError that names every variable that cannot be used, its value, and what to write instead
 */
export function parseConfig(environment: Environment): Config {
  const env = new EnvironmentReader(environment);
  const config: Config = {
    temporal: {
      address: env.text('TEMPORAL_ADDRESS', 'temporal-frontend.temporal.svc:7233', hostAndPort),
      namespace: env.text('TEMPORAL_NAMESPACE', 'etcd-operator', temporalName),
      retentionDays: env.integer('TEMPORAL_RETENTION_DAYS', 30, { min: 7, max: 3650 }),
      tls: temporalTls(env),
    },
    taskQueue: env.text('TASK_QUEUE', 'etcd-operator', temporalName),
    roles: roles(env),
    watchNamespace: env.optional('WATCH_NAMESPACE', dnsLabel),
    pod: {
      name: env.text('POD_NAME', hostname().toLowerCase(), podName),
      namespace: env.text('POD_NAMESPACE', 'etcd-operator', dnsLabel),
    },
    leaderElection: env.flag('LEADER_ELECTION', true),
    leaseName: env.text('LEASE_NAME', 'etcd-operator-watcher', podName),
    kubeconfig: env.optional('KUBECONFIG'),
    inCluster: env.optional('KUBERNETES_SERVICE_HOST') !== undefined,
    ports: ports(env),
    logLevel: env.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    redact: env.list('REDACT'),
    worker: {
      maxCachedWorkflows: env.integer('MAX_CACHED_WORKFLOWS', 1000, { min: 0, max: 100_000 }),
      maxConcurrentActivities: env.integer('MAX_CONCURRENT_ACTIVITIES', 100, { min: 1, max: 10_000 }),
      maxConcurrentWorkflowTasks: env.integer('MAX_CONCURRENT_WORKFLOW_TASKS', 40, { min: 2, max: 10_000 }),
    },
  };
  env.done();
  return config;
}

/** The variables are those of Temporal's own CLI. A file given means TLS, unless TEMPORAL_TLS says false. */
function temporalTls(env: EnvironmentReader): TemporalTls | undefined {
  const tls: TemporalTls = {
    caFile: env.optional('TEMPORAL_TLS_SERVER_CA_CERT_PATH', absolutePath),
    certFile: env.optional('TEMPORAL_TLS_CLIENT_CERT_PATH', absolutePath),
    keyFile: env.optional('TEMPORAL_TLS_CLIENT_KEY_PATH', absolutePath),
    serverName: env.optional('TEMPORAL_TLS_SERVER_NAME'),
  };
  if (tls.certFile !== undefined && tls.keyFile === undefined) {
    env.refuse(
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
      'write the path of the key that belongs to TEMPORAL_TLS_CLIENT_CERT_PATH',
    );
  }
  if (tls.keyFile !== undefined && tls.certFile === undefined) {
    env.refuse(
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'write the path of the certificate of TEMPORAL_TLS_CLIENT_KEY_PATH',
    );
  }
  const given = Object.values(tls).some(value => value !== undefined);
  return env.flag('TEMPORAL_TLS', given) ? tls : undefined;
}

function roles(env: EnvironmentReader): Config['roles'] {
  const wanted = env.list('ROLES');
  const unknown = wanted.filter(role => role !== 'worker' && role !== 'watcher');
  if (unknown.length > 0) env.refuse('ROLES', 'write worker, watcher, or both with a comma between');
  if (wanted.length === 0) return { worker: true, watcher: true };
  return { worker: wanted.includes('worker'), watcher: wanted.includes('watcher') };
}

function ports(env: EnvironmentReader): Config['ports'] {
  const bounds = { min: 1, max: 65_535 };
  const chosen = {
    health: env.integer('HEALTH_PORT', 8080, bounds),
    metrics: env.integer('METRICS_PORT', 9464, bounds),
    temporalMetrics: env.integer('TEMPORAL_METRICS_PORT', 9465, bounds),
  };
  if (chosen.metrics === chosen.health)
    env.refuse('METRICS_PORT', 'write another port than that of HEALTH_PORT');
  if (chosen.temporalMetrics === chosen.health || chosen.temporalMetrics === chosen.metrics) {
    env.refuse('TEMPORAL_METRICS_PORT', 'write another port than those of HEALTH_PORT and METRICS_PORT');
  }
  return chosen;
}
