/** Every store of a cloud against its server or emulator: what the port promises, on good days and on bad ones. */
import { generateKeyPairSync } from 'node:crypto';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe } from 'vitest';
import { openStore, type StoreSpec } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { type ContractSubject, storeContract } from '../store/contract.ts';
import { type FaultSubject, faultContract } from '../store/fault-contract.ts';
import { FakeOss, OSS_KEYS } from '../support/fake-oss.ts';
import {
  AZURE_ACCOUNT,
  type GoogleServer,
  S3_KEYS,
  type StoreServer,
  startAzurite,
  startGoogle,
  startVersity,
} from '../support/store-servers.ts';

interface Described extends Omit<FaultSubject, 'open'> {
  readonly spec: (bucket: string) => StoreSpec;
  readonly secret: Readonly<Record<string, string>>;
}

function suite(
  name: string,
  start: () => Promise<StoreServer>,
  describeIt: (server: StoreServer) => Described,
): void {
  describe(`${name}`, () => {
    let server: StoreServer | undefined;
    let subject: (FaultSubject & ContractSubject) | undefined;
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
  });
}

const awsSecret = (access: string, secret: string) => ({
  credentials: `[default]\naws_access_key_id = ${access}\naws_secret_access_key = ${secret}\n`,
  config: '[default]\nregion = us-east-1\n',
});

suite('S3', startVersity, ({ front }) => {
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
      return found.Uploads?.length ?? 0;
    },
    keepsParts: true,
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
    };
  },
);
