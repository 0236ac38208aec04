/** Stores whose certificate is signed by an authority of their owner's own, as most on premises are. */
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AllowedAddresses } from '../../src/store/addresses.ts';
import { openStore } from '../../src/store/open.ts';
import { TestAuthority } from '../fakes/certificates.ts';
import { collect, failure } from './contract.ts';
import { SECRETS } from './some-secrets.ts';

const EMPTY = {
  S3: '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
  ABS: '<?xml version="1.0"?><EnumerationResults><Blobs/><NextMarker/></EnumerationResults>',
  GCS: '{}',
  OSS: '<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>',
} as const;
type Type = keyof typeof EMPTY;

let server: Server;
let authority: TestAuthority;
let other: TestAuthority;
let answer = '';

beforeAll(async () => {
  authority = await TestAuthority.create('stores');
  other = await TestAuthority.create('others');
  const { cert, key } = await authority.issue({ dnsNames: ['localhost'], usages: ['server'] });
  server = createServer({ cert, key }, (asked, answered) => {
    asked.resume();
    answered.end(answer);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A store of the type at the server. */
function opened(type: Type, authorities: readonly string[] | undefined, isGuarded: boolean) {
  answer = EMPTY[type];
  const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
  const spec = { type, path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  const allowed = isGuarded ? new AllowedAddresses(['localhost', '127.0.0.1', '::1']) : undefined;
  return openStore(spec, SECRETS[type], { attempts: 1, silenceMs: 5_000, allowed, authorities });
}

describe.each(Object.keys(EMPTY) as Type[])('%s', type => {
  test.each([false, true])(
    'is reached with the authority that signed its certificate, guarded: %s',
    async isGuarded => {
      const store = await opened(type, [other.pair.cert, authority.pair.cert], isGuarded);
      expect(await collect(store.list('a'))).toEqual([]);
      await store.close();
    },
  );

  test.each([undefined, 'others'])('is not trusted with %s, and the message says what to do', async given => {
    const store = await opened(type, given === undefined ? undefined : [other.pair.cert], true);
    const { code, message } = await failure(collect(store.list('a')));
    expect(code).toBe('invalid');
    expect(message).toContain(
      'the certificate of the endpoint is not trusted: name a Secret with the authority',
    );
    await store.close();
  });
});
