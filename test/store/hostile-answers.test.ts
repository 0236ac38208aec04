/**
 * Answers that are small enough to be read, and made to take all of the processor or of the memory when they are understood: all
 * clusters share one event loop and one heap with users who may write an endpoint.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { elements, textOf } from '../../src/store/xml.ts';
import { collect, failure } from './contract.ts';
import { SECRETS } from './some-secrets.ts';

const MIB = 1024 * 1024;
const TYPES = Object.keys(SECRETS) as (keyof typeof SECRETS)[];

let server: Server;
let store: Store;
let text = '';

beforeEach(async () => {
  server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on('end', () => outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(text));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await store?.close();
  server.closeAllConnections();
  server.close();
});

async function open(type: keyof typeof SECRETS): Promise<void> {
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const spec = { type, path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  store = await openStore(spec, SECRETS[type], { attempts: 1 });
}

const repeated = (piece: string, size: number) => piece.repeat(Math.floor(size / piece.length));

describe('markup that is begun and never ended', () => {
  // Read once for each beginning it would take days.
  test.each(['<Blob>', '<Blob ', '<Blob  >', '<Blob/>', '<BlobPrefix>', '</Blob>'])(
    'of %s alone is none',
    piece => {
      expect(elements(repeated(piece, 4 * MIB), 'Blob')).toEqual([]);
      expect(textOf(repeated(piece, 4 * MIB), 'Blob')).toBe(piece === '<Blob/>' ? '' : undefined);
    },
  );

  test('hides nothing of what was ended before', () => {
    const xml = `<Blobs><Blob kind="a/b" ><Name>a</Name></Blob><Blob>b</Blob>\n<Blob />${repeated('<Blob>', MIB)}`;
    expect(elements(xml, 'Blob')).toEqual(['<Name>a</Name>', 'b']);
  });
});

const OBJECTS = {
  S3: '<Contents><Key>a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>',
  OSS: '<Contents><Key>a</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>',
  ABS: '<Blob><Name>a</Name><Properties><Content-Length>1</Content-Length><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified></Properties></Blob>',
  GCS: '{},',
} as const;

describe.each(TYPES)('%s', type => {
  const page = (objects: number) => {
    const all = OBJECTS[type].repeat(objects);
    return {
      S3: `<ListBucketResult>${all}</ListBucketResult>`,
      OSS: `<ListBucketResult>${all}</ListBucketResult>`,
      ABS: `<EnumerationResults><Blobs>${all}</Blobs></EnumerationResults>`,
      GCS: `{"items":[${all}{"name":"a","size":"1","updated":"2026-01-01T00:00:00Z"}]}`,
    }[type];
  };

  test('a page with more objects than any store gives is refused', async () => {
    text = page(11_000);
    await open(type);
    expect((await failure(collect(store.list('a')))).message).toContain('more than 10000');
  });

  test('an answer that is larger than any page is refused before it is understood', async () => {
    text = page(1) + repeated(' ', 5 * MIB);
    await open(type);
    expect((await failure(collect(store.list('a')))).code).not.toBe('aborted');
  });
});

test('the names of a listing are kept without the pages that they came in', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const padding = ' '.repeat(3.5 * MIB);
  let pages = 0;
  server.removeAllListeners('request');
  server.on('request', (_, outgoing) => {
    pages += 1;
    const name = `etcd/example_v${pages}_2026-11-21-10:00:00`;
    const object = OBJECTS.ABS.replace('>a<', `>${name}<`);
    const next = pages < 24 ? `<NextMarker>${pages}</NextMarker>` : '';
    outgoing.end(`<EnumerationResults><Blobs>${object}</Blobs>${padding}${next}</EnumerationResults>`);
  });
  await open('ABS');
  collectGarbage();
  const before = process.memoryUsage().external;
  const listed = await collect(store.list('etcd'));
  // Buffers are freed after the objects that held them, so one collection may see them still.
  const held = (): number => {
    collectGarbage();
    return process.memoryUsage().external - before;
  };
  await expect.poll(held, { timeout: 20_000 }).toBeLessThan(32 * MIB);
  expect(listed).toHaveLength(24);
});

test('as many objects as stores give in one page are taken', async () => {
  text = `<ListBucketResult>${OBJECTS.S3.repeat(1_000)}</ListBucketResult>`;
  await open('S3');
  expect(await collect(store.list('a'))).toHaveLength(1_000);
});
