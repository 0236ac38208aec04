import { createHash } from 'node:crypto';
import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import { KubeConfig } from '@kubernetes/client-node';
import { errorFields, KubeError } from './errors.ts';
import type { KubeLogger } from './port.ts';

/** TLS options of undici's connector. Buffers are PEM. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly servername?: string;
  readonly rejectUnauthorized?: boolean;
}

/** How to reach and convince the apiserver right now. Holds secrets: never log or keep one. */
export interface Connection {
  readonly server: URL;
  readonly proxyUrl: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
  /** Changes whenever a new TLS connection would be made differently. */
  readonly fingerprint: string;
}

export interface Credentials {
  /** @throws KubeError of reason `Credentials` when there is none, and never was. */
  connection(): Promise<Connection>;
  /** The apiserver has refused them: read everything anew on the next call. */
  invalidate(): void;
}

/** Where the kubeconfig comes from: a file, the pod's service account, or the rules that kubectl follows. */
export type KubeConfigSource = { readonly file: string } | 'in-cluster' | 'default';

export interface CredentialsOptions {
  readonly source: KubeConfigSource;
  readonly context?: string | undefined;
  /** For `in-cluster`: what stands before /var/run/secrets/kubernetes.io/serviceaccount; nothing in a pod. */
  readonly mountPrefix?: string | undefined;
  readonly logger: KubeLogger;
  /** How long what was read from files counts as fresh; 10 s by default. Kubernetes rotates well ahead of expiry. */
  readonly refreshMs?: number | undefined;
}

/**
 * Credentials that follow their files: tokens, client certificates, CA and the kubeconfig itself are read again
 * when they are older than `refreshMs`, and at once after the apiserver refused them. A read that fails, or finds
 * a certificate without its key because a rotation is half done, leaves the former credentials in use.
 */
export class KubeConfigCredentials implements Credentials {
  readonly #options: CredentialsOptions;
  #config: KubeConfig | undefined;
  #current: Connection | undefined;
  #freshUntil = 0;
  #reading: Promise<Connection> | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  async connection(): Promise<Connection> {
    if (this.#current !== undefined && performance.now() < this.#freshUntil) return this.#current;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  invalidate(): void {
    this.#freshUntil = 0;
    // client-node keeps tokens for a minute and exec credentials until they expire: a new KubeConfig forgets both.
    this.#config = undefined;
  }

  async #read(): Promise<Connection> {
    try {
      if (this.#config === undefined || typeof this.#options.source === 'object') {
        this.#config = this.#reloaded();
      }
      this.#current = await connectionOf(this.#config);
    } catch (error) {
      if (this.#current === undefined) throw credentialsError(error);
      this.#options.logger.warn(
        'credentials could not be read again; the former ones stay in use',
        errorFields(error),
      );
    }
    this.#freshUntil = performance.now() + (this.#options.refreshMs ?? 10_000);
    return this.#current;
  }

  /** The kubeconfig as it is now; the one at hand when nothing changed, for the sake of its token caches. */
  #reloaded(): KubeConfig {
    const loaded = loadKubeConfig(this.#options);
    const unchanged = this.#config !== undefined && this.#config.exportConfig() === loaded.exportConfig();
    return unchanged && this.#config !== undefined ? this.#config : loaded;
  }
}

/** @throws Error of client-node, or ours that says what is missing. */
export function loadKubeConfig(options: Omit<CredentialsOptions, 'logger'>): KubeConfig {
  const { source, context } = options;
  const config = new KubeConfig();
  if (source === 'in-cluster') config.loadFromCluster(options.mountPrefix);
  else if (source === 'default') config.loadFromDefault();
  else config.loadFromFile(source.file);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new ConfigError(`the kubeconfig has no cluster for the context "${config.getCurrentContext()}"`);
  }
  // What client-node falls back on when it finds nothing; nobody means it.
  if (source === 'default' && cluster.server === 'http://localhost:8080') {
    throw new ConfigError('no cluster is configured: set KUBECONFIG, or run in a pod with a service account');
  }
  return config;
}

/** An error whose text is ours, and so holds no secret. */
class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

async function connectionOf(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new ConfigError('the kubeconfig has no current cluster');
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  if (typeof options.auth === 'string') {
    headers.push(['authorization', `Basic ${Buffer.from(options.auth).toString('base64')}`]);
  }
  const tls: TlsMaterial = {
    ...(options.ca === undefined ? {} : { ca: pem(options.ca) }),
    ...(options.cert === undefined ? {} : { cert: pem(options.cert) }),
    ...(options.key === undefined ? {} : { key: pem(options.key) }),
    ...(options.servername === undefined ? {} : { servername: options.servername }),
    ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
  };
  // Throws when certificate and key do not belong together.
  createSecureContext(tls);
  return {
    server: new URL(cluster.server),
    proxyUrl: cluster.proxyUrl,
    headers: Object.fromEntries(headers),
    tls,
    fingerprint: fingerprintOf(
      [cluster.server, cluster.proxyUrl, tls.servername, tls.rejectUnauthorized],
      tls,
    ),
  };
}

function fingerprintOf(settings: readonly unknown[], tls: TlsMaterial): string {
  const hash = createHash('sha256').update(JSON.stringify(settings));
  for (const part of [tls.ca, tls.cert, tls.key]) hash.update('\0').update(part ?? '');
  return hash.digest('hex');
}

function pem(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') return Buffer.from(value);
  throw new ConfigError('the kubeconfig gives a certificate or key in an unknown form');
}

/** File errors name the file; the texts of other libraries are not passed on. */
function credentialsError(error: unknown): KubeError {
  const isOurs = error instanceof ConfigError || (error instanceof Error && 'syscall' in error);
  const said = isOurs ? error.message : error instanceof Error ? error.name : typeof error;
  return new KubeError({
    code: 0,
    reason: 'Credentials',
    message: `the credentials for the apiserver could not be loaded: ${said}`,
    retry: 'later',
    notProcessed: true,
  });
}
