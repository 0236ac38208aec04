/** Whose credentials a store is opened with. */
import { describe, expect, it } from 'vitest';
import { storeOpener } from '../../../src/activities/backup/open-store.ts';
import type { StoreOwner } from '../../../src/activities/runtime/dependencies.ts';
import { StoreMemory } from '../../../src/store/memory.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';
import { PassingTime } from '../../fakes/waiting.ts';
import { messageOf } from '../../../src/api/values/message-of.ts';

const BLOCKS: Record<'S3' | 'ABS' | 'GCS', StoreOwner['spec']> = {
  S3: { storageType: 'S3', s3: { path: 'bucket/key', region: 'eu-west-3' } },
  ABS: {
    storageType: 'ABS',
    abs: { path: 'bucket/key', endpoint: 'https://account.blob.core.windows.net' },
  },
  GCS: { storageType: 'GCS', gcs: { path: 'bucket/key', gcpSecret: '' } },
};

async function opened(identityNamespaces: readonly string[], spec: StoreOwner['spec']): Promise<string> {
  const kube = new FakeKube({});
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
