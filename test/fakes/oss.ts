/**
 * Alibaba OSS in memory, path style, as far as its API is documented and used here. It checks V1 and V4 signatures with code of
 * its own. That both agree with Alibaba's is shown by signatures that its SDK made (test/store/signing.test.ts).
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Front } from './store-front.ts';
import { skewSeconds, type StoreServer } from '../stack/store-servers.ts';

export const OSS_KEYS = { id: 'LTAItestkey', secret: 'canary-oss-7be2915d' };

interface Kept {
  readonly bytes: Buffer;
  readonly modified: Date;
  readonly meta: Readonly<Record<string, string>>;
}

interface Begun {
  readonly key: string;
  readonly begun: Date;
  readonly meta: Readonly<Record<string, string>>;
  readonly parts: Map<number, Buffer>;
}

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

interface Asked {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export class FakeOss {
  readonly objects = new Map<string, Kept>();
  readonly uploads = new Map<string, Begun>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, outgoing) => void this.#serve(incoming, outgoing));
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    const uploadId = new URL(incoming.url ?? '/', 'http://oss').searchParams.get('uploadId') ?? '';
    const begun = this.uploads.get(uploadId);
    try {
      for await (const chunk of incoming) chunks.push(chunk);
      // A part that was on its way when its upload was aborted may still succeed, and is kept then.
      if (begun !== undefined && incoming.method === 'PUT') this.uploads.set(uploadId, begun);
      const answer = this.#answer(incoming, Buffer.concat(chunks));
      const date = new Date(Date.now() - skewSeconds() * 1000).toUTCString();
      const length = { 'content-length': String(Buffer.byteLength(answer.body ?? '')) };
      outgoing.writeHead(answer.status, { date, ...length, ...answer.headers });
      outgoing.end(incoming.method === 'HEAD' ? undefined : answer.body);
    } catch {
      outgoing.destroy();
    }
  }

  async start(): Promise<StoreServer> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    const front = await Front.start((this.#server.address() as AddressInfo).port);
    const stop = async (): Promise<void> => {
      await front.stop();
      this.#server.closeAllConnections();
      this.#server.close();
    };
    return { front, stop };
  }

  #answer(incoming: IncomingMessage, body: Buffer): Answer {
    const url = new URL(incoming.url ?? '/', 'http://oss');
    const [, bucket = '', ...rest] = url.pathname.split('/');
    const asked: Asked = {
      method: incoming.method ?? '',
      bucket,
      key: decodeURIComponent(rest.join('/')),
      query: url.searchParams,
      headers: incoming.headers,
      body,
    };
    try {
      checkSignature(asked);
      if (bucket !== 'bucket') throw new Refused(404, 'NoSuchBucket');
      return asked.key === '' ? this.#ofBucket(asked) : this.#ofObject(asked);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const xml = `<Error><Code>${error.code}</Code><Message>refused: ${error.code}</Message><OSSAccessKeyId>${OSS_KEYS.id}</OSSAccessKeyId></Error>`;
      const hidden = { 'x-oss-err': Buffer.from(xml).toString('base64') };
      return { status: error.status, headers: incoming.method === 'HEAD' ? hidden : {}, body: xml };
    }
  }

  #ofBucket({ query }: Asked): Answer {
    const prefix = query.get('prefix') ?? '';
    if (query.has('uploads')) {
      const uploads = [...this.uploads]
        .filter(([, { key }]) => key.startsWith(prefix))
        .map(
          ([id, { key, begun }]) =>
            `<Upload><Key>${encodeURIComponent(key)}</Key><UploadId>${id}</UploadId><Initiated>${begun.toISOString()}</Initiated></Upload>`,
        );
      const xml = `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${uploads.join('')}</ListMultipartUploadsResult>`;
      return { status: 200, body: xml };
    }
    // Small pages, so that there are several.
    const after = query.get('continuation-token') ?? '';
    const keys = [...this.objects.keys()]
      .filter(key => key.startsWith(prefix))
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const start = after === '' ? 0 : keys.indexOf(Buffer.from(after, 'base64').toString()) + 1;
    const page = keys.slice(start, start + 2);
    const contents = page.map(key => {
      const { bytes, modified } = this.#kept(key);
      return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${modified.toISOString()}</LastModified><Size>${bytes.length}</Size></Contents>`;
    });
    const last = page.at(-1);
    const more = last !== undefined && start + 2 < keys.length;
    const next = more
      ? `<NextContinuationToken>${Buffer.from(last).toString('base64')}</NextContinuationToken>`
      : '';
    return {
      status: 200,
      body: `<ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`,
    };
  }

  #ofObject(asked: Asked): Answer {
    const { method, key, query, headers } = asked;
    const uploadId = query.get('uploadId');
    if (method === 'POST' && query.has('uploads')) return this.#begin(asked);
    if (uploadId !== null) return this.#ofUpload(asked, uploadId);
    if (method === 'PUT') {
      this.#refuseExisting(asked);
      this.objects.set(key, { bytes: asked.body, modified: new Date(), meta: metaOf(headers) });
      return { status: 200 };
    }
    if (method === 'DELETE') {
      this.objects.delete(key);
      return { status: 204 };
    }
    const kept = this.#kept(key);
    const described = { ...kept.meta, 'last-modified': kept.modified.toUTCString() };
    if (method === 'HEAD') {
      return { status: 200, headers: { ...described, 'content-length': `${kept.bytes.length}` } };
    }
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    return { status: from > 0 ? 206 : 200, headers: described, body: kept.bytes.subarray(from) };
  }

  #begin({ key, headers }: Asked): Answer {
    const id = randomBytes(16).toString('hex').toUpperCase();
    this.uploads.set(id, { key, begun: new Date(), meta: metaOf(headers), parts: new Map() });
    const xml = `<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>${key.replace(/[&<>]/g, '_')}</Key><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
    return { status: 200, body: xml };
  }

  #ofUpload(asked: Asked, id: string): Answer {
    const upload = this.uploads.get(id);
    if (upload === undefined) throw new Refused(404, 'NoSuchUpload');
    if (asked.method === 'DELETE') {
      this.uploads.delete(id);
      return { status: 204 };
    }
    if (asked.method === 'PUT') {
      upload.parts.set(Number(asked.query.get('partNumber')), asked.body);
      return { status: 200, headers: { etag: tagOf(asked.body) } };
    }
    this.#refuseExisting(asked);
    const listed = [...asked.body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)];
    const parts = listed.map(([, number, tag]) => {
      const part = upload.parts.get(Number(number));
      if (part === undefined || tagOf(part) !== tag?.replaceAll('&quot;', '"'))
        throw new Refused(400, 'InvalidPart');
      return part;
    });
    this.objects.set(asked.key, { bytes: Buffer.concat(parts), modified: new Date(), meta: upload.meta });
    this.uploads.delete(id);
    return { status: 200, body: '<CompleteMultipartUploadResult></CompleteMultipartUploadResult>' };
  }

  #refuseExisting({ key, headers }: Asked): void {
    if (headers['x-oss-forbid-overwrite'] === 'true' && this.objects.has(key)) {
      throw new Refused(409, 'FileAlreadyExists');
    }
  }

  #kept(key: string): Kept {
    const kept = this.objects.get(key);
    if (kept === undefined) throw new Refused(404, 'NoSuchKey');
    return kept;
  }
}

function tagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex').toUpperCase()}"`;
}

function metaOf(headers: IncomingMessage['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-oss-meta-') ? [[name, String(value)]] : [],
    ),
  );
}

function checkSignature(asked: Asked): void {
  const authorization = asked.headers.authorization ?? '';
  const [, v1Key, v1Signature] = /^OSS ([^:]+):(.+)$/.exec(authorization) ?? [];
  const [, v4Key, scope = '', v4Signature] =
    /^OSS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+),Signature=([0-9a-f]+)$/.exec(authorization) ?? [];
  const key = v1Key ?? v4Key;
  if (key === undefined) throw new Refused(403, 'AccessDenied');
  if (key !== OSS_KEYS.id) throw new Refused(403, 'InvalidAccessKeyId');
  const time =
    v1Key === undefined
      ? compactTime(String(asked.headers['x-oss-date']))
      : Date.parse(String(asked.headers['x-oss-date']));
  if (!(Math.abs(Date.now() - skewSeconds() * 1000 - time) < 900_000)) {
    throw new Refused(403, 'RequestTimeTooSkewed');
  }
  const wanted = v1Key === undefined ? signatureV4(asked, scope) : signatureV1(asked);
  if (wanted !== (v1Signature ?? v4Signature)) throw new Refused(403, 'SignatureDoesNotMatch');
}

function compactTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function signatureV1({ method, bucket, key, query, headers }: Asked): string {
  const own = ownHeaders(headers).map(([name, value]) => `${name}:${value}\n`);
  const signed = [...query]
    .filter(([name]) => /^(uploads|uploadId|partNumber|continuation-token)$/.test(name))
    .sort();
  const sub = signed.map(([name, value]) => (value ? `${name}=${value}` : name)).join('&');
  const lines = [method, headers['content-md5'] ?? '', headers['content-type'] ?? '', headers['x-oss-date']];
  const text = `${lines.join('\n')}\n${own.join('')}/${bucket}/${key}${sub && `?${sub}`}`;
  return createHmac('sha1', OSS_KEYS.secret).update(text).digest('base64');
}

function signatureV4({ method, bucket, key, query, headers }: Asked, scope: string): string {
  const own = ownHeaders(headers);
  if (headers['content-type'] !== undefined) own.unshift(['content-type', headers['content-type']]);
  const rfc3986 = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, c => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const path = `/${bucket}/${key}`.split('/').map(rfc3986).join('/');
  const parameters = [...query]
    .sort()
    .map(([name, value]) => rfc3986(name) + (value && `=${rfc3986(value)}`));
  const head = own.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = `${method}\n${path}\n${parameters.join('&')}\n${head}\n\nUNSIGNED-PAYLOAD`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = `OSS4-HMAC-SHA256\n${String(headers['x-oss-date'])}\n${scope}\n${digest}`;
  let signing: string | Buffer = `aliyun_v4${OSS_KEYS.secret}`;
  for (const part of scope.split('/')) signing = createHmac('sha256', signing).update(part).digest();
  return createHmac('sha256', signing).update(text).digest('hex');
}

function ownHeaders(headers: IncomingMessage['headers']): [string, string][] {
  return Object.entries(headers)
    .flatMap(([name, value]): [string, string][] =>
      name.startsWith('x-oss-') ? [[name, String(value)]] : [],
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
