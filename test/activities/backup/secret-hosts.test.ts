/** Where the content of a Secret may be sent, when the user who names it and an endpoint may not read it. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { storeOpener } from '../../../src/activities/backup/open-store.ts';
import type { StoreOwner } from '../../../src/activities/runtime/dependencies.ts';
import { openSource } from '../../../src/activities/backup/source.ts';
import { ANNOTATION_HOSTS } from '../../../src/api/names.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { secret } from '../../fakes/certificates.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';
import { messageOf } from '../../../src/api/values/message-of.ts';

const NAMESPACE = 'shop';
const DATA = {
  GCS: { 'access-token': 'a-bearer-token' },
  ABS: { 'storage-account': 'backups', 'storage-key': Buffer.from('a-key').toString('base64') },
  OSS: { accessKeyID: 'an-id', accessKeySecret: 'a-secret' },
  S3: {
    credentials: '[default]\naws_access_key_id = AN-ID\naws_secret_access_key = a-secret\n',
    config: '[default]\nregion = us-east-1\n',
  },
} as const;
type Type = keyof typeof DATA;

function specOf(type: Type, endpoint: string | undefined): StoreOwner['spec'] {
  const at = { path: 'bucket/key', ...(endpoint !== undefined && { endpoint }) };
  const blocks = {
    GCS: { gcs: { ...at, gcpSecret: 'theirs' } },
    ABS: { abs: { ...at, absSecret: 'theirs' } },
    OSS: { oss: { ...at, ossSecret: 'theirs' } },
    S3: { s3: { ...at, awsSecret: 'theirs', forcePathStyle: true } },
  };
  return { storageType: type, ...blocks[type] };
}

interface Named {
  readonly type: Type;
  readonly endpoint?: string | undefined;
  /** Of the Secret. */
  readonly hosts?: string | undefined;
  readonly ofAdministrators?: readonly string[];
}

async function open({ type, endpoint, hosts, ofAdministrators = [] }: Named) {
  const kube = new FakeKube({});
  const theirs = secret(NAMESPACE, 'theirs', DATA[type]);
  const annotations = hosts === undefined ? {} : { [ANNOTATION_HOSTS]: hosts };
  kube.seed({ ...theirs, metadata: { ...theirs.metadata, annotations } });
  const opener = storeOpener({
    kube,
    now: () => 0,
    image: async () => 'operator',
    identityNamespaces: [],
    environment: {},
    storesAllowed: ['127.0.0.1'],
    time: new PassingTime(),
    memory: new StoreMemory(),
    credentialHosts: ofAdministrators,
  });
  const metadata = { namespace: NAMESPACE, name: 'nightly', uid: 'u-1' };
  return opener({ kind: 'EtcdBackup', metadata, spec: specOf(type, endpoint) });
}

async function outcome(named: Named): Promise<string> {
  try {
    await (await open(named)).close();
    return 'opened';
  } catch (error) {
    return messageOf(error);
  }
}

let server: Server;
let received: IncomingMessage[];
let url: string;
beforeEach(async () => {
  received = [];
  server = createServer((request, response) => {
    received.push(request);
    response.writeHead(403).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => void server.close());

describe.each(['GCS', 'ABS', 'OSS'] as const)('of a Secret for %s', type => {
  const clouds = {
    GCS: 'https://storage.googleapis.com',
    ABS: 'https://backups.blob.core.windows.net',
    OSS: 'https://oss-eu-central-1.aliyuncs.com',
  };

  it('nothing is sent to a server of the choice of who names it, and the message says what to do', async () => {
    expect(await outcome({ type, endpoint: url })).toMatch(
      /^\w+\.endpoint http:\/\/127\.0\.0\.1 is not a host of the cloud, .* annotation etcd\.database\.coreos\.com\/hosts of the Secret, or to CREDENTIAL_HOSTS_ALLOWED/,
    );
    expect(received).toEqual([]);
  });

  it.each([
    [undefined, undefined],
    [clouds[type], undefined],
    ['https://minio.example.org:9000', 'minio.example.org'],
    ['https://minio.example.org', 'other.example, *.example.org'],
    ['https://[fd00::1]:9000', 'fd00::/8'],
  ])('may be sent to %s when its annotation says %s', async (endpoint, hosts) => {
    expect(await outcome({ type, endpoint, hosts })).toBe('opened');
  });

  it.each([
    [clouds[type].replace('https', 'http'), undefined],
    [`${clouds[type]}.evil.example`, undefined],
    [`https://evil${new URL(clouds[type]).hostname.replaceAll('.', '-')}.example`, undefined],
    [`${clouds[type].replace('//', '//x@')}:80@evil.example`, undefined],
    ['https://evil.example', 'minio.example.org'],
    ['https://minio.example.org.evil.example', 'minio.example.org, *.example.org'],
    ['https://evil.example', 'not a host!, , /'],
  ])('is not sent to %s when its annotation says %s', async (endpoint, hosts) => {
    expect(await outcome({ type, endpoint, hosts })).not.toBe('opened');
  });

  it('administrators may open hosts for all', async () => {
    expect(await outcome({ type, endpoint: url, ofAdministrators: ['127.0.0.0/8'] })).toBe('opened');
    expect(await outcome({ type, endpoint: url, ofAdministrators: ['*'] })).toBe('opened');
  });
});

it('a request for S3 may go anywhere: its signature is for the host that it is sent to, and for no other', async () => {
  const store = await open({ type: 'S3', endpoint: url });
  await store.head('key').catch(() => undefined);
  await store.close();
  const [request] = received;
  expect(request?.headers.authorization).toMatch(/SignedHeaders=[^,]*\bhost\b/);
  expect(JSON.stringify(request?.headers)).not.toContain('a-secret');
});

describe('the name and password of an etcd', () => {
  async function source(hosts: string | undefined, ofAdministrators: readonly string[] = []) {
    const { clusterRef: _, ...spec } = SPEC;
    const world = new BackupWorld({ ...spec, etcdEndpoints: ['http://10.0.0.9:2379'], authSecret: 'root' });
    const root = secret(NAMESPACE, 'root', { username: 'root', password: 'of-root' });
    const annotations = hosts === undefined ? {} : { [ANNOTATION_HOSTS]: hosts };
    world.kube.seed({ ...root, metadata: { ...root.metadata, annotations } });
    const member = vi.spyOn(world.etcd, 'member');
    const deps = { ...world.deps, endpointsAllowed: ['10.0.0.0/8'], credentialHosts: ofAdministrators };
    const said = await openSource(deps, world.backup).then(
      () => '',
      (error: unknown) => String(error),
    );
    return { said, sent: member.mock.calls.flatMap(([{ credentials }]) => credentials ?? []) };
  }

  it('are not sent to an address outside of the namespace, unless the Secret or an administrator names it', async () => {
    const { said, sent } = await source(undefined);
    expect(said).toContain(
      '10.0.0.9 is not in namespace shop, and the contents of Secret shop/root would be sent',
    );
    expect(sent).toEqual([]);
    expect((await source('10.0.0.8')).sent).toEqual([]);
    expect((await source('10.0.0.9')).sent).not.toEqual([]);
    expect((await source(undefined, ['10.0.0.0/16'])).sent).not.toEqual([]);
  });
});
