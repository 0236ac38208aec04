/** Whose credentials a store is opened with. */
import { describe, expect, it } from 'vitest';
import { storeOpener } from '../../../src/activities/backup/open-store.ts';
import type { StoreOwner } from '../../../src/activities/runtime/dependencies.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { secret, TestAuthority } from '../../fakes/certificates.ts';
import { messageOf } from '../../../src/api/values/message-of.ts';

const BLOCKS: Record<'S3' | 'ABS' | 'GCS', StoreOwner['spec']> = {
  S3: { storageType: 'S3', s3: { path: 'bucket/key', region: 'eu-west-3' } },
  ABS: {
    storageType: 'ABS',
    abs: { path: 'bucket/key', endpoint: 'https://account.blob.core.windows.net' },
  },
  GCS: { storageType: 'GCS', gcs: { path: 'bucket/key', gcpSecret: '' } },
};

async function opened(
  identityNamespaces: readonly string[],
  spec: StoreOwner['spec'],
  secrets: readonly KubeObject[] = [],
): Promise<string> {
  const kube = new FakeKube({});
  for (const each of secrets) await kube.as('kubectl').create(each);
  const open = storeOpener({
    kube,
    now: () => 0,
    image: async () => 'operator',
    time: new PassingTime(),
    memory: new StoreMemory(),
    identityNamespaces,
    environment: {},
    storesAllowed: [],
    credentialHosts: [],
  });
  const metadata = { namespace: 'shop', name: 'nightly', uid: 'u-1' };
  try {
    await (await open({ kind: 'EtcdBackup', metadata, spec })).close();
    return 'opened';
  } catch (error) {
    return messageOf(error);
  }
}

describe.each(Object.entries(BLOCKS))('a block of %s without a Secret', (_type, spec) => {
  it('is refused by default, and says who can allow it', async () => {
    expect(await opened([], spec)).toMatch(
      /^\w+\.\w+Secret names no Secret: name one, or add namespace shop to IDENTITY_NAMESPACES/,
    );
    expect(await opened(['other'], spec)).toContain('names no Secret');
  });

  it.each([['shop'], ['*']])('has the identity of the operator where %s is named', async name => {
    expect(await opened(['other', name], spec)).toBe('opened');
  });
});

it('OSS needs its Secret wherever it is', async () => {
  expect(await opened(['*'], { storageType: 'OSS', oss: { path: 'bucket/key' } })).toBe(
    'OSS needs a Secret: name it in oss.ossSecret',
  );
});

describe('the Secret with the authorities of the endpoint', () => {
  const spec: StoreOwner['spec'] = {
    storageType: 'S3',
    s3: {
      path: 'bucket/key',
      region: 'eu-west-3',
      endpoint: 'https://objects.shop',
      caSecret: 'authorities',
    },
  };

  it('is used when it has certificates, also several', async () => {
    const [one, two] = await Promise.all(['one', 'two'].map(name => TestAuthority.create(name)));
    const pem = `# ours\n${one?.pair.cert}\n${two?.pair.cert}`;
    expect(await opened(['*'], spec, [secret('shop', 'authorities', { 'ca.crt': pem })])).toBe('opened');
  });

  it('is waited for', async () => {
    expect(await opened(['*'], spec)).toBe(
      'Secret shop/authorities with the authorities of the store does not exist: create it',
    );
  });

  it.each([
    {},
    { 'ca.crt': 'canary' },
    { 'ca.crt': '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----' },
  ])('is refused without certificates: %o', async texts => {
    expect(await opened(['*'], spec, [secret('shop', 'authorities', texts)])).toBe(
      'Secret shop/authorities, which s3.caSecret names, has no certificates in PEM in its key ca.crt: put those of the authority of the endpoint there',
    );
  });
});
