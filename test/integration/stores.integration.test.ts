/** Every store of a cloud against its server or emulator: what the port promises, on good days and on bad ones. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoreSpec } from '../../src/store/opening.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { type ContractSubject, storeContract } from '../store/contract.ts';
import { type FaultSubject, faultContract } from '../store/fault-contract.ts';
import { FakeOss, OSS_KEYS } from '../fakes/oss.ts';
import {
  AZURE_ACCOUNT,
  type GoogleServer,
  S3_KEYS,
  type StoreServer,
  startAzurite,
  startGoogle,
  startVersity,
} from '../stack/store-servers.ts';

interface Described extends Omit<FaultSubject, 'open'> {
  readonly spec: (bucket: string) => StoreSpec;
  readonly secret: Readonly<Record<string, string>>;
  /** What the server can take; some keep objects in memory, several times over. */
  readonly longestMiB: number;
}

/** With `ETCD_OPERATOR_LONG_TESTS=1` streams of 1 GiB where the server can take them. */
const LONG = process.env['ETCD_OPERATOR_LONG_TESTS'] === '1';

/** What issue 5 allows a process that streams a backup. */
const MOST_MEMORY_MIB = 250;

const STREAM = fileURLToPath(new URL('../stack/store-stream.ts', import.meta.url));
const run = promisify(execFile);

function suite(
  name: string,
  start: () => Promise<StoreServer>,
  describeIt: (server: StoreServer) => Described,
): void {
  describe(`${name}`, () => {
    let server: StoreServer | undefined;
    let subject: (Described & FaultSubject & ContractSubject) | undefined;
    const there = () => {
      if (subject === undefined) throw new Error('the server did not start');
      return subject;
    };
    beforeAll(async () => {
      server = await start();
      const described = describeIt(server);
      const open: FaultSubject['open'] = ({ bucket = 'bucket', secret = described.secret, options } = {}) =>
        openStore(described.spec(bucket), secret, options);
      const store: Store = await open();
      subject = { ...described, open, store };
    });
    afterAll(async () => {
      await subject?.store.close();
      await server?.stop();
    });
    storeContract(there);
    faultContract(there);

    test('a long stream comes back equal, through a process that stays small', async () => {
      const { spec, secret, longestMiB } = there();
      const mebibytes = Math.min(LONG ? 1024 : 48, longestMiB);
      const task = JSON.stringify({ spec: spec('bucket'), secret, mebibytes });
      const { stdout } = await run(process.execPath, [STREAM, task], { timeout: 500_000 });
      const figures = JSON.parse(stdout);
      if (LONG) console.log(name, mebibytes, 'MiB', figures);
      expect(figures).toMatchObject({ equal: true });
      expect(figures.peakMiB).toBeLessThan(MOST_MEMORY_MIB);
    }, 600_000);
  });
}

const awsSecret = (access: string, secret: string) => ({
  credentials: `[default]\naws_access_key_id = ${access}\naws_secret_access_key = ${secret}\n`,
  config: '[default]\nregion = us-east-1\n',
});

suite('S3', startVersity, ({ front, uploadsOf }) => {
  const client = new S3Client({
    endpoint: front.url,
    forcePathStyle: true,
    region: 'us-east-1',
    credentials: { accessKeyId: S3_KEYS.access, secretAccessKey: S3_KEYS.secret },
  });
  return {
    front,
    spec: bucket => ({ type: 'S3', path: `${bucket}/x`, endpoint: front.url, forcePathStyle: true }),
    secret: awsSecret(S3_KEYS.access, S3_KEYS.secret),
    wrongSecrets: {
      'wrong secret': awsSecret(S3_KEYS.access, 'canary-wrong-secret'),
      'unknown key': awsSecret('AKIANOBODYNOBODYNOBO', S3_KEYS.secret),
    },
    canaries: [S3_KEYS.secret, S3_KEYS.access, 'canary-wrong-secret', 'AKIANOBODYNOBODYNOBO'],
    makesObject: ({ method, path }) =>
      (method === 'PUT' && !path.includes('partNumber')) || (method === 'POST' && path.includes('uploadId')),
    leftovers: async prefix => {
      const found = await client.send(new ListMultipartUploadsCommand({ Bucket: 'bucket', Prefix: prefix }));
      return Math.max(found.Uploads?.length ?? 0, (await uploadsOf?.(prefix)) ?? 0);
    },
    keepsParts: true,
    longestMiB: 2048,
  };
});

suite('Azure Blob Storage', startAzurite, ({ front }) => {
  const secret = (key: string, account = AZURE_ACCOUNT.name) => ({
    'storage-account': account,
    'storage-key': key,
  });
  const wrongKey = Buffer.from('canary-wrong-key').toString('base64');
  return {
    front,
    spec: bucket => ({ type: 'ABS', path: `${bucket}/x`, endpoint: `${front.url}/${AZURE_ACCOUNT.name}` }),
    secret: secret(AZURE_ACCOUNT.key),
    wrongSecrets: { 'wrong key': secret(wrongKey) },
    canaries: [AZURE_ACCOUNT.key, wrongKey],
    makesObject: ({ method, path }) => method === 'PUT' && !path.includes('comp=block&'),
    leftovers: async () => 0,
    keepsParts: false,
    longestMiB: 2048,
  };
});

suite('Google Cloud Storage', startGoogle, server => {
  const { front, credentials, accessToken } = server as GoogleServer;
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  return {
    front,
    spec: bucket => ({ type: 'GCS', path: `${bucket}/x`, endpoint: front.url }),
    secret: { 'credentials.json': JSON.stringify(credentials) },
    wrongSecrets: {
      'wrong token': { 'access-token': 'canary-wrong-token' },
      "another account's key": {
        'credentials.json': JSON.stringify({ ...credentials, private_key: otherKey }),
      },
    },
    canaries: [accessToken, `${credentials['private_key']}`, 'canary-wrong-token'],
    makesObject: ({ method, headers }) => method === 'PUT' && !`${headers['content-range']}`.endsWith('/*'),
    leftovers: async () => 0,
    keepsParts: false,
    longestMiB: 48,
  };
});

const oss = new FakeOss();
suite(
  'Alibaba OSS',
  () => oss.start(),
  ({ front }) => {
    const secret = (accessKeyID: string, accessKeySecret: string) => ({ accessKeyID, accessKeySecret });
    return {
      front,
      spec: bucket => ({ type: 'OSS', path: `${bucket}/x`, endpoint: front.url }),
      secret: secret(OSS_KEYS.id, OSS_KEYS.secret),
      wrongSecrets: {
        'wrong secret': secret(OSS_KEYS.id, 'canary-wrong-oss'),
        'unknown key': secret('LTAInobody', OSS_KEYS.secret),
      },
      canaries: [OSS_KEYS.secret, OSS_KEYS.id, 'canary-wrong-oss', 'LTAInobody'],
      makesObject: ({ method, path }) =>
        (method === 'PUT' && !path.includes('partNumber')) ||
        (method === 'POST' && path.includes('uploadId')),
      leftovers: async prefix => [...oss.uploads.values()].filter(({ key }) => key.startsWith(prefix)).length,
      keepsParts: true,
      longestMiB: 256,
    };
  },
);
