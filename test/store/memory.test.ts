/** Many stores at once: what they answer is bounded together, and those of one namespace take from no other. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreMemory } from '../../src/store/memory.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { collect, failure } from './contract.ts';

const MIB = 1024 * 1024;

describe('the memory of all stores', () => {
  test('is taken from the store that holds the most in the namespace that holds the most', () => {
    const memory = new StoreMemory(100);
    const [shop, large, small] = [memory.share('shop'), memory.share('hostile'), memory.share('hostile')];
    shop.take(40);
    large.take(35);
    small.take(20);
    expect(memory.held).toBe(95);
    shop.take(9);
    expect(large.signal.aborted).toBe(true);
    expect([shop.held, large.held, small.held]).toEqual([49, 0, 20]);
  });

  test('is taken from the one that asks, when that is the one', () => {
    const memory = new StoreMemory(100);
    const [shop, hostile] = [memory.share('shop'), memory.share('hostile')];
    shop.take(40);
    expect(() => hostile.take(61)).toThrow(/exceed the memory limit/);
    expect(() => hostile.take(1)).toThrow(/exceed the memory limit/);
    expect(memory.held).toBe(40);
    shop.take(60);
  });

  test('is free again for what was given back', () => {
    const memory = new StoreMemory(100);
    const [one, other] = [memory.share('a'), memory.share('b')];
    for (let call = 0; call < 10; call += 1) {
      one.take(90);
      one.give(90);
    }
    other.take(100);
    expect(memory.held).toBe(100);
  });
});

describe('stores of one namespace that answer slowly, and never end', () => {
  let server: Server;
  let endpoint = '';
  const answers: ServerResponse[] = [];
  const stores: Store[] = [];

  beforeEach(async () => {
    server = createServer((incoming, outgoing) => {
      if (!incoming.url?.startsWith('/hostile')) {
        const objects = '<Blob><Name>a</Name></Blob>'.repeat(1_000).replaceAll('<Blob>', BLOB);
        outgoing.end(`<EnumerationResults><Blobs>${objects}</Blobs></EnumerationResults>`);
        return;
      }
      // As much as one answer may have, and no end of it.
      outgoing.writeHead(200).write(Buffer.alloc(2 * MIB, ' '));
      answers.push(outgoing);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    answers.splice(0);
    server.closeAllConnections();
    server.close();
  });

  const BLOB =
    '<Blob><Properties><Content-Length>1</Content-Length><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified></Properties>';

  async function open(memory: StoreMemory, namespace: string, container: string): Promise<Store> {
    const secret = { 'storage-account': 'some', 'storage-key': 'c29tZSBrZXk=' };
    const spec = { type: 'ABS', path: `${container}/a`, endpoint } as const;
    const store = await openStore(spec, secret, { attempts: 1, memory: memory.share(namespace) });
    stores.push(store);
    return store;
  }

  test('end themselves, and none of another namespace', async () => {
    const memory = new StoreMemory(8 * MIB);
    const ended: string[] = [];
    for (let number = 0; number < 12; number += 1) {
      const store = await open(memory, 'hostile', 'hostile');
      void failure(collect(store.list('a'))).then(({ code, message }) => ended.push(`${code} ${message}`));
    }
    await expect.poll(() => ended.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(8);
    expect(ended.every(said => /^unavailable .*need too much memory/.test(said))).toBe(true);
    expect(memory.held).toBeLessThanOrEqual(8 * MIB);
    const honest = await open(memory, 'shop', 'backups');
    expect(await collect(honest.list('a'))).toHaveLength(1_000);
    await honest.close();
  });
});
