/** The contract against a folder that another process serves, and who is let in. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../src/store/file.ts';
import { type Store, StoreError } from '../../src/store/port.ts';
import { openServedStore } from '../../src/store/served/client.ts';
import { serveStore } from '../../src/store/served/server.ts';
import { createAuthority, issueLeaf } from '../../src/tls/issue.ts';
import { poll } from '../stack/poll.ts';
import { bytes, codeOf, storeContract } from './contract.ts';

const SMALL_PART = 100_000;
const TOKEN = 'a-token-that-is-in-a-secret';
let folder = '';
let server: Server;
let answering: ReturnType<typeof serveStore>;
let store: Store;
let open: (token: string, ca?: string) => Store;
let leaf: { readonly cert: string; readonly key: string };
let authority: string;
const at = { location: 'file://backups', host: '127.0.0.1', serverName: 'claim.test' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'served-store-'));
  const validity = { now: Date.now(), lasts: 3_600_000 };
  const { cert, key } = await createAuthority('nightly-claim', validity);
  const names = { commonName: 'claim', usages: ['server' as const], dnsNames: ['claim.test'], addresses: [] };
  leaf = await issueLeaf({ cert, key }, names, validity);
  authority = cert;
  answering = serveStore(openFileStore(folder), TOKEN);
  server = createServer(leaf, (request, response) => void answering.answer(request, response));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  open = (token, ca = authority) => openServedStore({ ...at, port, ca, token });
  store = open(TOKEN);
});
afterAll(async () => {
  await store.close();
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

describe('a served folder', () => {
  storeContract(
    () => ({
      store,
      leftovers: async prefix => {
        const count = async () => {
          const files = await readdir(folder, { recursive: true });
          const below = prefix.split('/').slice(0, 2).join('/');
          return files.filter(file => file.startsWith(below) && /unfinished|claimed/.test(file)).length;
        };
        // The other side learns that an upload is over when its connection is, and tidies up then.
        await poll(async () => (await count()) === 0, { timeoutMs: 5_000 }).catch(() => {});
        return count();
      },
    }),
    SMALL_PART,
  );

  test('is not read from without a word on how much there is to read', async () => {
    const silent = createServer(leaf, (_, response) => response.end('half of it'));
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const reading = openServedStore({ ...at, port, ca: authority, token: TOKEN });
    try {
      expect(await codeOf(reading.get('a'))).toBe('other');
    } finally {
      await reading.close();
      silent.closeAllConnections();
      silent.close();
    }
  });

  test('says why it takes no more, in the middle of an upload', async () => {
    const full: Store = {
      ...openFileStore(folder),
      put: async (_, body) => {
        for await (const chunk of body) if (chunk.length > 0) break;
        throw new StoreError('full', 'the volume is full');
      },
    };
    answering = serveStore(full, TOKEN);
    try {
      expect(await codeOf(store.put('full', bytes(64 * 1024 * 1024)))).toBe('full');
    } finally {
      answering = serveStore(openFileStore(folder), TOKEN);
    }
    expect(await store.put('full', bytes(10))).toEqual({ size: 10 });
  });

  test('admits no client without its token, and distinguishes its own certificate from others', async () => {
    const stranger = open('another-token');
    expect(await codeOf(stranger.put('a', bytes(1)))).toBe('denied');
    await stranger.close();
    const other = await createAuthority('other', { now: Date.now(), lasts: 3_600_000 });
    const deceived = open(TOKEN, other.cert);
    expect(await codeOf(deceived.head('a'))).toBe('unavailable');
    await deceived.close();
  });
});
