/**
 * Kubeconfig files, by the library that knows all their forms. Loaded only where there is one (credentials.ts): its clients
 * of every API come with it and take 60 MiB, and in a pod nothing of them is needed.
 */
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import {
  KubeconfigError,
  type Connection,
  type ConnectionSource,
  connectionOf,
  type TlsMaterial,
} from './connection.ts';

export interface KubeConfigOptions {
  /** Absent: the rules that kubectl follows. */
  readonly file: string | undefined;
  readonly context: string | undefined;
}

/** Follows the file; a program that gives credentials is asked again when they expire, or were refused. */
export function kubeConfig(options: KubeConfigOptions): ConnectionSource {
  let config: KubeConfig | undefined;
  return {
    read() {
      if (config === undefined || options.file !== undefined) config = newer(config, load(options));
      return readConnection(config);
    },
    // client-node keeps tokens for a minute and exec credentials until they expire: a new KubeConfig forgets both.
    forget() {
      config = undefined;
    },
  };
}

/** The context that the options lead to. @throws KubeconfigError, or a file error */
export function kubeContext(options: KubeConfigOptions): {
  readonly name: string;
  /** Undefined: the context names none, which stands for `default`. */
  readonly namespace: string | undefined;
} {
  const config = load(options);
  const name = config.getCurrentContext();
  return { name, namespace: config.getContextObject(name)?.namespace };
}

/** The kubeconfig as it is now; the one at hand when nothing changed, for the sake of its token caches. */
function newer(former: KubeConfig | undefined, loaded: KubeConfig): KubeConfig {
  const unchanged = former !== undefined && former.exportConfig() === loaded.exportConfig();
  return unchanged ? former : loaded;
}

/** @throws Error of client-node, or ours that says what is missing. */
function load({ file, context }: KubeConfigOptions): KubeConfig {
  const config = new KubeConfig();
  if (file === undefined) config.loadFromDefault();
  else config.loadFromFile(file);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new KubeconfigError(
      `the kubeconfig has no cluster for the context "${config.getCurrentContext()}"`,
    );
  }
  // What client-node falls back on when it finds nothing; nobody means it.
  if (file === undefined && cluster.server === 'http://localhost:8080') {
    throw new KubeconfigError(
      'no cluster is configured: set KUBECONFIG, or run in a pod with a service account',
    );
  }
  return config;
}

async function readConnection(config: KubeConfig): Promise<Connection> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new KubeconfigError('the kubeconfig has no current cluster');
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
  return connectionOf({
    server: new URL(cluster.server),
    proxyUrl: cluster.proxyUrl,
    headers: Object.fromEntries(headers),
    tls,
  });
}

function pem(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') return Buffer.from(value);
  throw new KubeconfigError('the kubeconfig gives a certificate or key in an unknown form');
}
