/** An endpoint can be any server: what it answers without end, twice, or otherwise than it was asked ends the call, and nothing else. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readManifest } from '../../src/activities/backup/catalogue.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/port.ts';
import { bytes, collect, failure } from './contract.ts';
import { SECRETS } from './some-secrets.ts';

const MIB = 1024 * 1024;

let server: Server;
let endpoint = '';
let store: Store;
let answer: (asked: URL, incoming: IncomingMessage, outgoing: ServerResponse) => void;
/** Bytes that the server has sent without end. */
let sent = 0;

beforeEach(async () => {
  sent = 0;
  server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.on('end', () => answer(new URL(incoming.url ?? '/', endpoint), incoming, outgoing));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await store.close();
  server.closeAllConnections();
  server.close();
});

const TYPES = Object.keys(SECRETS) as (keyof typeof SECRETS)[];

async function open(type: keyof typeof SECRETS): Promise<void> {
  const spec = { type, path: 'bucket/a', endpoint, forcePathStyle: true } as const;
  store = await openStore(spec, SECRETS[type], { attempts: 1 });
}

/** An answer that never ends, of text that any parser takes. */
function endless(outgoing: ServerResponse, status = 200): void {
  outgoing.writeHead(status, { 'content-type': 'application/xml' });
  const piece = Buffer.alloc(MIB, ' ');
  const more = (): void => {
    while (!outgoing.destroyed && sent < 160 * MIB) {
      sent += piece.length;
      if (!outgoing.write(piece)) return void outgoing.once('drain', more);
    }
    outgoing.end();
  };
  more();
}

describe.each(TYPES)('%s', type => {
  test.each([200, 403, 500])(
    'a listing without end, with status %i, is given up before it fills the memory',
    async status => {
      answer = (_, __, outgoing) => endless(outgoing, status);
      await open(type);
      await failure(collect(store.list('a')));
      expect(sent).toBeLessThan(64 * MIB);
    },
  );

  test('a manifest without end is given up before it fills the memory', async () => {
    answer = (_, __, outgoing) => endless(outgoing);
    await open(type);
    await readManifest(store, 'a', {}).catch(() => undefined);
    expect(sent).toBeLessThan(64 * MIB);
  });
});

const LISTINGS = {
  S3: (name: string, token: string) =>
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>${token && `<NextContinuationToken>${token}</NextContinuationToken>`}<Contents><Key>${name}</Key><Size>1</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>`,
  OSS: (name: string, token: string) =>
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>true</IsTruncated>${token && `<NextContinuationToken>${token}</NextContinuationToken>`}<Contents><Key>${name}</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>`,
  ABS: (name: string, token: string) =>
    `<?xml version="1.0"?><EnumerationResults><Blobs><Blob><Name>${name}</Name><Properties><Content-Length>1</Content-Length><Last-Modified>Thu, 01 Jan 2026 00:00:00 GMT</Last-Modified></Properties></Blob></Blobs><NextMarker>${token}</NextMarker></EnumerationResults>`,
  GCS: (name: string, token: string) =>
    JSON.stringify({ items: [{ name, size: '1', updated: '2026-01-01T00:00:00Z' }], nextPageToken: token }),
} as const;

describe.each(TYPES)('%s', type => {
  test('a listing whose pages come again and again is given up', async () => {
    answer = (_, __, outgoing) => outgoing.end(LISTINGS[type]('a', 'again'));
    await open(type);
    expect((await failure(collect(store.list('a')))).message).toContain('the store makes no progress');
  });

  test('an object that is sent whole, though its rest was asked for, is not taken for the rest', async () => {
    const whole = Buffer.concat([Buffer.from('0123456789'), Buffer.alloc(10)]);
    const headers = {
      'content-length': whole.length,
      'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      etag: '"0"',
    };
    answer = (asked, { method }, outgoing) => {
      if (type === 'GCS' && asked.searchParams.get('alt') !== 'media') {
        outgoing.end(JSON.stringify({ name: 'a', size: '20', updated: '2026-01-01T00:00:00Z' }));
        return;
      }
      outgoing.writeHead(200, headers).end(method === 'HEAD' ? undefined : whole);
    };
    await open(type);
    const read = async (): Promise<void> => {
      for await (const chunk of (await store.get('a', { offset: 10 })).body) expect(chunk[0]).toBe(0);
    };
    expect((await failure(read())).message).toContain('the store does not support range requests');
  });
});

describe('a store that accepts an object', () => {
  const described = (size: number, id: string) => ({
    'content-length': size,
    'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
    'x-amz-meta-putid': id,
  });

  test.each([
    ['and has none', undefined, 'does not exist'],
    ['and has a part of it', [9, ''], 'has 9 bytes of 10'],
    ['and has that of another', [10, 'another.id'], 'was overwritten'],
  ] as const)('%s, has not made it', async (_, found, message) => {
    let isPut = false;
    answer = (__, { method }, outgoing) => {
      if (method === 'PUT') isPut = true;
      const status = method === 'HEAD' && (!isPut || found === undefined) ? 404 : 200;
      outgoing
        .writeHead(status, status === 200 && method === 'HEAD' && found ? described(found[0], found[1]) : {})
        .end();
    };
    await open('S3');
    expect((await failure(store.put('a', bytes(10)))).message).toContain(message);
  });

  test('and does not let it be looked at, is believed', async () => {
    answer = (_, { method }, outgoing) => outgoing.writeHead(method === 'HEAD' ? 403 : 200).end();
    await open('S3');
    expect(await store.put('a', bytes(10))).toEqual({ size: 10 });
  });
});

describe.each(['S3', 'OSS'] as const)('%s', type => {
  test('a listing that is cut off without a way to continue is not taken for all there is', async () => {
    answer = (_, __, outgoing) => outgoing.end(LISTINGS[type]('a', ''));
    await open(type);
    expect((await failure(collect(store.list('a')))).message).toContain('truncates its listing');
  });
});

test('a listing of ever more names is given up', async () => {
  let page = 0;
  answer = (_, __, outgoing) => outgoing.end(LISTINGS.GCS('a'.repeat(2 * MIB), `${++page}`));
  await open('GCS');
  expect((await failure(collect(store.list('a')))).message).toMatch(/names of more than \d+ characters/);
  expect(page).toBeLessThan(20);
});

test('an upload of which the store does not say when it was begun is left alone', async () => {
  const ended: string[] = [];
  answer = (asked, { method }, outgoing) => {
    if (method === 'DELETE') ended.push(asked.href);
    outgoing.end(
      '<?xml version="1.0"?><ListMultipartUploadsResult><Upload><Key>a</Key><UploadId>1</UploadId></Upload><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>',
    );
  };
  await open('OSS');
  expect(await store.removeUnfinished('a', { olderThanMs: 1_000 })).toBe(0);
  expect(ended).toEqual([]);
});

test('a listing that goes in circles and names nothing is given up', async () => {
  let pages = 0;
  answer = (_, __, outgoing) => {
    pages += 1;
    const token = `<NextContinuationToken>${pages % 2}</NextContinuationToken>`;
    outgoing.end(`<ListBucketResult><IsTruncated>true</IsTruncated>${token}</ListBucketResult>`);
  };
  await open('OSS');
  expect((await failure(collect(store.list('a')))).message).toContain('names of more than');
});
