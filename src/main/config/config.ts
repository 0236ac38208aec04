/** The operator's settings: everything that the environment says, parsed once. Nothing else reads it. */
import { hostname } from 'node:os';
import { isAllowedEntry } from '../../store/addresses.ts';
import type { LogLevel } from '../../telemetry/logger.ts';
import { type Environment, EnvironmentReader } from './environment.ts';
import { namespaceName, type VariableOf } from './variables.ts';

/** The files are read again whenever they have changed. */
export interface TemporalTls {
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Name in the server's certificate, when it is not the host of the address. */
  readonly serverName: string | undefined;
}

/** Who may have payloads decrypted, and where. */
export interface CodecServer {
  readonly port: number;
  /** Of web pages, such as `https://temporal.example.org`. */
  readonly origins: readonly string[];
  /** Whether it also encrypts. */
  readonly encodes: boolean;
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
    /** Holds the API key, and is read again whenever it has changed; undefined: none is sent. */
    readonly apiKeyFile: string | undefined;
  };
  /** How payloads are encrypted; undefined: not at all. */
  readonly codec: { readonly keysFolder: string; readonly server: CodecServer | undefined } | undefined;
  readonly taskQueue: string;
  readonly roles: { readonly worker: boolean; readonly watcher: boolean };
  /** Undefined: all namespaces. Sorted, each once. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly pod: { readonly name: string; readonly namespace: string };
  /** Of pods that help the operator; undefined: the image of its own pod. */
  readonly image: string | undefined;
  /** Whose backups may reach stores with the identity of the operator's pod; `*`: everybody's. */
  readonly identityNamespaces: readonly string[];
  /** Where EtcdBackups may name endpoints, stores be, and what Secrets hold be sent, besides what all may: hosts, addresses, blocks; `*`: anywhere. */
  readonly allowed: Readonly<Record<'endpoints' | 'stores' | 'credentials', readonly string[]>>;
  /** Without election every replica with the watcher role watches; only for one that runs alone. */
  readonly leaderElection: boolean;
  readonly leaseName: string;
  /** A kubeconfig file; undefined: the pod's service account, or what kubectl would use outside of a pod. */
  readonly kubeconfig: string | undefined;
  /** Where a pod finds the apiserver; undefined: not in a pod. */
  readonly inCluster: { readonly host: string; readonly port: string } | undefined;
  readonly ports: { readonly health: number; readonly metrics: number; readonly temporalMetrics: number };
  /** So many clusters, and as many backups, have gauges of their own. */
  readonly metricsResources: number;
  /** By how much scheduled backups may begin later that do not say themselves. */
  readonly backupJitterSeconds: number;
  readonly logLevel: LogLevel;
  /** Exact texts that never leave the process. */
  readonly redact: readonly string[];
  readonly worker: {
    readonly maxCachedWorkflows: number;
    readonly maxConcurrentActivities: number;
    readonly maxConcurrentTransfers: number;
    readonly maxBackupsPerStore: number;
    readonly maxBackupsPerNode: number;
    readonly maxConcurrentWorkflowTasks: number;
  };
}

/**
 * @param environment usually process.env
 * @throws ConfigError that names every variable that cannot be used, its value, and what to write instead
 */
export function parseConfig(environment: Environment): Config {
  const env = new EnvironmentReader(environment);
  const payloads = codec(env);
  const config: Config = {
    temporal: temporal(env),
    codec: payloads,
    taskQueue: env.text('TASK_QUEUE'),
    roles: roles(env),
    watchNamespaces: watchNamespaces(env),
    pod: {
      name: env.optional('POD_NAME') ?? hostname().toLowerCase(),
      namespace: env.text('POD_NAMESPACE'),
    },
    image: env.optional('OPERATOR_IMAGE'),
    identityNamespaces: env.list('IDENTITY_NAMESPACES'),
    allowed: {
      endpoints: addresses(env, 'BACKUP_ENDPOINTS_ALLOWED'),
      stores: addresses(env, 'STORE_ADDRESSES_ALLOWED'),
      credentials: addresses(env, 'CREDENTIAL_HOSTS_ALLOWED'),
    },
    leaderElection: env.flag('LEADER_ELECTION'),
    leaseName: env.text('LEASE_NAME'),
    kubeconfig: env.optional('KUBECONFIG'),
    inCluster: inCluster(env),
    ports: ports(env, payloads?.server?.port),
    metricsResources: env.integer('METRICS_RESOURCES'),
    backupJitterSeconds: env.integer('BACKUP_JITTER_SECONDS'),
    logLevel: env.choice('LOG_LEVEL'),
    redact: env.list('REDACT'),
    worker: {
      maxCachedWorkflows: env.integer('MAX_CACHED_WORKFLOWS'),
      maxConcurrentActivities: env.integer('MAX_CONCURRENT_ACTIVITIES'),
      maxConcurrentTransfers: env.integer('MAX_CONCURRENT_TRANSFERS'),
      maxBackupsPerStore: env.integer('MAX_BACKUPS_PER_STORE'),
      maxBackupsPerNode: env.integer('MAX_BACKUPS_PER_NODE'),
      maxConcurrentWorkflowTasks: env.integer('MAX_CONCURRENT_WORKFLOW_TASKS'),
    },
  };
  env.done();
  return config;
}

function temporal(env: EnvironmentReader): Config['temporal'] {
  const address = env.text('TEMPORAL_ADDRESS');
  const apiKeyFile = env.optional('TEMPORAL_API_KEY_PATH');
  const tls = temporalTls(env, apiKeyFile !== undefined);
  // Who reads the key on the network can use it until it expires. On this host it goes to a proxy that adds TLS.
  if (apiKeyFile !== undefined && tls === undefined && !isOnThisHost(address))
    env.refuse(
      'TEMPORAL_TLS',
      'write true or leave it out, because the key of TEMPORAL_API_KEY_PATH would be sent in plain text to another host',
    );
  return {
    address,
    namespace: env.text('TEMPORAL_NAMESPACE'),
    retentionDays: env.integer('TEMPORAL_RETENTION_DAYS'),
    tls,
    apiKeyFile,
  };
}

/** Whether a `host:port` is a loopback address. */
function isOnThisHost(address: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]):\d+$/i.test(address);
}

/**
 * The variables are those of Temporal's own CLI. A file given means TLS, unless TEMPORAL_TLS says false.
 * @param hasApiKey which means TLS as well
 */
function temporalTls(env: EnvironmentReader, hasApiKey: boolean): TemporalTls | undefined {
  const tls: TemporalTls = {
    caFile: env.optional('TEMPORAL_TLS_SERVER_CA_CERT_PATH'),
    certFile: env.optional('TEMPORAL_TLS_CLIENT_CERT_PATH'),
    keyFile: env.optional('TEMPORAL_TLS_CLIENT_KEY_PATH'),
    serverName: env.optional('TEMPORAL_TLS_SERVER_NAME'),
  };
  if (tls.certFile !== undefined && tls.keyFile === undefined) {
    env.refuse(
      'TEMPORAL_TLS_CLIENT_KEY_PATH',
      'set it to the path of the key for TEMPORAL_TLS_CLIENT_CERT_PATH',
    );
  }
  if (tls.keyFile !== undefined && tls.certFile === undefined) {
    env.refuse(
      'TEMPORAL_TLS_CLIENT_CERT_PATH',
      'set it to the path of the certificate for TEMPORAL_TLS_CLIENT_KEY_PATH',
    );
  }
  const isConfigured = hasApiKey || Object.values(tls).some(value => value !== undefined);
  return env.derivedFlag('TEMPORAL_TLS', isConfigured) ? tls : undefined;
}

function codec(env: EnvironmentReader): Config['codec'] {
  const keysFolder = env.optional('TEMPORAL_CODEC_KEYS');
  const server = codecServer(env);
  if (keysFolder === undefined && server !== undefined)
    env.refuse('TEMPORAL_CODEC_SERVER_PORT', 'set TEMPORAL_CODEC_KEYS as well, or leave it out');
  return keysFolder === undefined ? undefined : { keysFolder, server };
}

function codecServer(env: EnvironmentReader): CodecServer | undefined {
  const port = env.derivedInteger('TEMPORAL_CODEC_SERVER_PORT');
  const origins = env.list('TEMPORAL_CODEC_SERVER_ORIGINS');
  const encodes = env.flag('TEMPORAL_CODEC_SERVER_ENCODES');
  if (!origins.every(origin => URL.parse(origin)?.origin === origin))
    env.refuse('TEMPORAL_CODEC_SERVER_ORIGINS', 'write origins, such as https://temporal.example.org');
  return port === undefined ? undefined : { port, origins, encodes };
}

function addresses(env: EnvironmentReader, name: VariableOf<'list'>): readonly string[] {
  const entries = env.list(name);
  const isWrong = !entries.every(isAllowedEntry);
  if (isWrong)
    env.refuse(name, 'write hosts, addresses or blocks, such as *.example.org, 10.1.2.3, 10.1.0.0/16');
  return isWrong ? [] : entries;
}

/** Beyond that many, each with a watch for every kind, one watch of all namespaces is less to serve. */
const MOST_NAMESPACES = 50;

function watchNamespaces(env: EnvironmentReader): readonly string[] | undefined {
  const named = [...new Set(env.list('WATCH_NAMESPACE'))].toSorted();
  if (named.length === 0 && !env.isGiven('WATCH_NAMESPACE')) return undefined;
  const wrong = named.filter(name => !namespaceName.pattern.test(name));
  if (wrong.length > 0 || named.length === 0)
    env.refuse(
      'WATCH_NAMESPACE',
      'write namespaces with commas between them, such as shop,web (each of lower-case letters, digits and dashes, at most 63), or leave it out for all',
    );
  if (named.length > MOST_NAMESPACES)
    env.refuse(
      'WATCH_NAMESPACE',
      `write at most ${MOST_NAMESPACES} namespaces instead of ${named.length}, or leave it out to watch all`,
    );
  return named;
}

function inCluster(env: EnvironmentReader): Config['inCluster'] {
  const host = env.optional('KUBERNETES_SERVICE_HOST');
  const port = env.text('KUBERNETES_SERVICE_PORT');
  return host === undefined ? undefined : { host, port };
}

function roles(env: EnvironmentReader): Config['roles'] {
  const wanted = env.list('ROLES');
  const unknown = wanted.filter(role => role !== 'worker' && role !== 'watcher');
  if (unknown.length > 0) env.refuse('ROLES', 'set it to worker, watcher, or worker,watcher');
  if (wanted.length === 0) return { worker: true, watcher: true };
  return { worker: wanted.includes('worker'), watcher: wanted.includes('watcher') };
}

/** @param ofCodec the port of the codec server, if there is one */
function ports(env: EnvironmentReader, ofCodec: number | undefined): Config['ports'] {
  const chosen = {
    health: env.integer('HEALTH_PORT'),
    metrics: env.integer('METRICS_PORT'),
    temporalMetrics: env.integer('TEMPORAL_METRICS_PORT'),
  };
  if (chosen.metrics === chosen.health) env.refuse('METRICS_PORT', 'set it to a port other than HEALTH_PORT');
  if (chosen.temporalMetrics === chosen.health || chosen.temporalMetrics === chosen.metrics) {
    env.refuse('TEMPORAL_METRICS_PORT', 'set it to a port other than HEALTH_PORT and METRICS_PORT');
  }
  if (Object.values(chosen).some(port => port === ofCodec))
    env.refuse('TEMPORAL_CODEC_SERVER_PORT', 'set it to a port that no other variable names');
  return chosen;
}
