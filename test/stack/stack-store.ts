/** The stores' servers as the pods of a stack reach them, each with the Secret and the block that a person would write. */
import { Readable } from 'node:stream';
import type { StoreBlocks } from '../../src/api/derived/store-of-specification.ts';
import { ANNOTATION_HOSTS } from '../../src/api/names.ts';
import type { StoreSpec } from '../../src/store/opening.ts';
import { openStore } from '../../src/store/open.ts';
import { secret } from '../fakes/certificates.ts';
import type { World } from './e2e.ts';
import { FakeOss, OSS_KEYS } from '../fakes/oss.ts';
import { type Forward, forward } from './forward.ts';
import type { Front } from '../fakes/store-front.ts';
import {
  AZURE_ACCOUNT,
  S3_KEYS,
  startAzurite,
  startGoogle,
  startVersity,
  type StoreServer,
} from './store-servers.ts';

export type CloudType = 'S3' | 'ABS' | 'GCS' | 'OSS';

/** One store. `stop` ends it and forgets what it holds. */
export interface StackStore {
  readonly type: CloudType;
  /** Where a test does to requests what a bad day does. */
  readonly front: Front;
  /** As pods reach it. */
  readonly endpoint: string;
  /** What the Secret holds, by key. */
  readonly credentials: Readonly<Record<string, string>>;
  /** The secret parts of it. */
  readonly canaries: readonly string[];
  /** Everything that the store holds, by key; read with the credentials of its Secret. */
  readonly contents: () => Promise<ReadonlyMap<string, Buffer>>;
  /** Puts a file there, as users do with the tools of their store. */
  readonly put: (key: string, bytes: Buffer) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** The Secrets that the stores' blocks name; that of Google as in the published samples. */
export const STORE_SECRETS = { S3: 'aws', ABS: 'azure', GCS: 'gcp-secret', OSS: 'alibaba' } as const;

/** The store's block of an EtcdBackup or EtcdRestore, for `bucket/key`. */
export function blockOf(
  { type, endpoint }: Pick<StackStore, 'type' | 'endpoint'>,
  path: string,
): StoreBlocks {
  const name = STORE_SECRETS[type];
  const blocks = {
    S3: { s3: { path, endpoint, awsSecret: name, forcePathStyle: true } },
    ABS: { abs: { path, endpoint, absSecret: name } },
    GCS: { gcs: { path, endpoint, gcpSecret: name } },
    OSS: { oss: { path, endpoint, ossSecret: name } },
  } as const;
  return blocks[type];
}

/** Starts the server of a store and makes the Secret for it in the namespace. */
export async function startStackStore(world: World, namespace: string, type: CloudType): Promise<StackStore> {
  const forwards: Forward[] = [];
  const reach = async (url: string): Promise<string> => {
    const made = await forward(bridgeAddress(world), url);
    forwards.push(made);
    return made.url;
  };
  const { server, path = '', ...known } = await STARTS[type](reach);
  const endpoint = `${await reach(server.front.url)}${path}`;
  const local = { type, path: 'bucket/any', endpoint: `${server.front.url}${path}`, forcePathStyle: true };
  const stop = async (): Promise<void> => {
    for (const each of forwards) each.stop();
    await server.stop();
  };
  const made = secret(namespace, STORE_SECRETS[type], known.credentials);
  const annotations = { [ANNOTATION_HOSTS]: new URL(endpoint).hostname };
  await world.kube.apply({ ...made, metadata: { ...made.metadata, annotations } });
  const contents = () => contentsOf(local, known.credentials);
  const put = (key: string, bytes: Buffer) => putInto(local, known.credentials, { key, bytes });
  return { type, front: server.front, endpoint, ...known, contents, put, stop };
}

/** Where pods reach this machine: the first address of the stack's network. */
export function bridgeAddress({ stack }: World): string {
  return stack.temporalAddress.replace(/\.\d+:\d+$/, '.1');
}

interface Started extends Pick<StackStore, 'credentials' | 'canaries'> {
  readonly server: StoreServer;
  /** Of the endpoint. */
  readonly path?: string;
}

const STARTS: Readonly<Record<CloudType, (reach: (url: string) => Promise<string>) => Promise<Started>>> = {
  S3: async () => ({
    server: await startVersity(),
    credentials: {
      credentials: `[default]\naws_access_key_id = ${S3_KEYS.access}\naws_secret_access_key = ${S3_KEYS.secret}\n`,
      config: '[default]\nregion = us-east-1\n',
    },
    canaries: [S3_KEYS.secret, S3_KEYS.access],
  }),
  ABS: async () => ({
    server: await startAzurite(),
    path: `/${AZURE_ACCOUNT.name}`,
    credentials: { 'storage-account': AZURE_ACCOUNT.name, 'storage-key': AZURE_ACCOUNT.key },
    canaries: [AZURE_ACCOUNT.key],
  }),
  GCS: async reach => {
    const server = await startGoogle();
    const tokens = new URL(server.credentials['token_uri'] ?? '');
    const token_uri = `${await reach(tokens.origin)}${tokens.pathname}`;
    const key = server.credentials['private_key'] ?? '';
    return {
      server,
      credentials: { 'credentials.json': JSON.stringify({ ...server.credentials, token_uri }) },
      canaries: [server.accessToken, ...linesOf(key)],
    };
  },
  OSS: async () => ({
    server: await new FakeOss().start(),
    credentials: { accessKeyID: OSS_KEYS.id, accessKeySecret: OSS_KEYS.secret },
    canaries: [OSS_KEYS.id, OSS_KEYS.secret],
  }),
};

/** What is secret in a key in PEM: its lines without the first and the last. */
export function linesOf(pem: string): string[] {
  return pem.trim().split('\n').slice(1, -1);
}

async function contentsOf(
  spec: StoreSpec,
  credentials: StackStore['credentials'],
): Promise<ReadonlyMap<string, Buffer>> {
  const store = await openStore(spec, credentials);
  const found = new Map<string, Buffer>();
  try {
    for await (const { key } of store.list('')) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await store.get(key)).body) chunks.push(chunk);
      found.set(key, Buffer.concat(chunks));
    }
    return found;
  } finally {
    await store.close();
  }
}

async function putInto(
  spec: StoreSpec,
  credentials: StackStore['credentials'],
  { key, bytes }: { readonly key: string; readonly bytes: Buffer },
): Promise<void> {
  const store = await openStore(spec, credentials);
  try {
    await store.put(key, Readable.from([bytes]));
  } finally {
    await store.close();
  }
}
