/**
 * Alibaba Cloud OSS over its own REST API: its S3 mode promises neither that an object is never overwritten (x-oss-forbid-overwrite, If-None-Match) nor
 * ListMultipartUploads, by which uploads that were not finished are found (Alibaba's documentation, "Compatibility with Amazon S3").
 */
import { isIP } from 'node:net';
import { STORES } from '../api/stores.ts';
import type { Opening, StoreSpec } from './opening.ts';
import {
  type Authorize,
  type HttpAnswer,
  HttpClient,
  type HttpFailure,
  type HttpOptions,
  type HttpRequest,
} from './http.ts';
import { checkSecretEndpoint } from './identity-endpoint.ts';
import { below, encodePath, endpointUrl, queryOf, splitPath } from './names.ts';
import { type OssKeys, type OssRequest, signOssV1, signOssV4 } from './oss-signing.ts';
import { type ObjectContent, type Store, StoreError, type StoreErrorCode } from './port.ts';
import type { DescribedObject, NewObject, Page, Protocol, UnfinishedUpload, Upload } from './protocol.ts';
import { RemoteStore } from './remote.ts';
import { required, type SecretData } from './secrets.ts';
import { translationOf, type Said, translator } from './translate.ts';
import { elements, errorIn, escapeXml, textOf } from './xml.ts';

const PARALLEL = 2;

/** OSS's documentation, "Bucket naming conventions". It is put into the host: any other character could lead to another one. */
const BUCKET = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  FileAlreadyExists: 'exists',
  FileImmutable: 'exists',
  UserDisable: 'denied',
  InvalidSecurityToken: 'denied',
  SecurityTokenExpired: 'denied',
  InvalidArgument: 'invalid',
  InvalidObjectName: 'invalid',
};

interface OssOptions {
  readonly endpoint: URL;
  readonly bucket: string;
  /** Gives the keys that are valid now. */
  readonly keys: (signal: AbortSignal) => Promise<OssKeys>;
  readonly secrets: readonly string[];
  readonly http: HttpOptions;
}

/** What is asked of the bucket or of a key in it; the URL is made, and signed, from this. */
interface Asked {
  readonly method: HttpRequest['method'];
  readonly key?: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal: AbortSignal;
}

/** Opens a bucket of Alibaba OSS. Sends nothing yet. */
export function openOss(spec: StoreSpec<'OSS'>, { secret, secrets, http, secretHosts }: Opening): Store {
  const { bucket } = splitPath(spec.path);
  const endpoint = endpointUrl(spec.endpoint, STORES.OSS.endpoint.usual);
  if (secret === undefined) {
    throw new StoreError('invalid', 'OSS needs a Secret: name it in oss.ossSecret');
  }
  const keys = ossCredentials(secret);
  checkSecretEndpoint('OSS', endpoint, secretHosts);
  const protocol = new OssProtocol({ endpoint, bucket, keys: async () => keys, http, secrets });
  return new RemoteStore(protocol, http.memory);
}

interface OssCredentials {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string | undefined;
}

/** Reads `accessKeyID`, `accessKeySecret` and, of temporary credentials, `securityToken`. */
export function ossCredentials(data: SecretData): OssCredentials {
  return {
    accessKeyId: required(data, 'accessKeyID').trim(),
    accessKeySecret: required(data, 'accessKeySecret').trim(),
    securityToken: data['securityToken']?.trim() || undefined,
  };
}

class OssProtocol implements Protocol {
  readonly location: string;
  readonly parallel = PARALLEL;
  readonly #bucket: string;
  /** Where the bucket's keys begin. */
  readonly #base: URL;
  readonly #http: HttpClient;
  readonly translate: Protocol['translate'];
  /** The requests that are under way: what is signed is not all in the URL. */
  readonly #asked = new WeakMap<URL, OssRequest>();

  constructor(options: OssOptions) {
    const { endpoint, bucket } = options;
    this.#bucket = bucket;
    this.#base = bucketUrl(endpoint, bucket);
    this.location = `oss://${bucket}`;
    this.#http = new HttpClient(this.#authorizer(options), options.http);
    this.translate = translator(translationOf(CODES, options), readFailure);
  }

  async head(key: string, signal: AbortSignal): Promise<DescribedObject> {
    const { headers } = await this.#sendForNothing({ method: 'HEAD', key, signal });
    return {
      key,
      size: Number(headers['content-length']),
      modifiedAt: new Date(headers['last-modified'] ?? Number.NaN).toISOString(),
      putId: headers['x-oss-meta-putid'],
    };
  }

  async get(key: string, offset: number, signal: AbortSignal): Promise<ObjectContent> {
    const headers: Record<string, string> = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const answer = await this.#http.send(this.#request({ method: 'GET', key, headers, signal }));
    return { size: offset + Number(answer.headers['content-length']), body: answer.body };
  }

  async page(prefix: string, token: string | undefined, signal: AbortSignal): Promise<Page> {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': '1000',
      prefix: prefix || undefined,
      'continuation-token': token,
    };
    const { text } = await this.#sendForText({ method: 'GET', query, signal });
    const objects = elements(text, 'Contents').map(object => ({
      key: decodeURIComponent(textOf(object, 'Key') ?? ''),
      size: Number(textOf(object, 'Size')),
      modifiedAt: new Date(textOf(object, 'LastModified') ?? Number.NaN).toISOString(),
    }));
    const next = textOf(text, 'NextContinuationToken') || undefined;
    if (next === undefined && textOf(text, 'IsTruncated') === 'true') {
      throw new StoreError(
        'other',
        `${this.location} truncates its listing and returns no continuation token`,
      );
    }
    return { objects, next };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await this.#sendForNothing({ method: 'DELETE', key, signal });
  }

  async putWhole(object: NewObject, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const headers = { ...onlyNew, 'x-oss-meta-putid': object.putId };
    await this.#sendForNothing({ method: 'PUT', key: object.key, headers, body: bytes, signal });
  }

  async begin({ key, putId }: NewObject, signal: AbortSignal): Promise<Upload> {
    const headers = { 'x-oss-meta-putid': putId };
    const begun = await this.#sendForText({ method: 'POST', key, query: { uploads: '' }, headers, signal });
    const uploadId = textOf(begun.text, 'UploadId') ?? '';
    const tags: string[] = [];
    return {
      part: async ({ number, bytes }, within) => {
        const query = { partNumber: `${number}`, uploadId };
        const answer = await this.#sendForNothing({ method: 'PUT', key, query, body: bytes, signal: within });
        tags[number - 1] = answer.headers['etag'] ?? '';
      },
      commit: async within => {
        const parts = tags.map(
          (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
        );
        await this.#sendForNothing({
          method: 'POST',
          key,
          query: { uploadId },
          headers: { ...onlyNew, 'content-type': 'application/xml' },
          body: `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
          signal: within,
        });
      },
      abort: within => this.#abort(key, uploadId, within),
    };
  }

  async *unfinished(prefix: string, signal: AbortSignal): AsyncGenerator<UnfinishedUpload> {
    let markers: Record<string, string | undefined> = {};
    do {
      const query = { uploads: '', 'encoding-type': 'url', prefix: prefix || undefined, ...markers };
      const { text } = await this.#sendForText({ method: 'GET', query, signal });
      for (const upload of elements(text, 'Upload')) {
        const key = decodeURIComponent(textOf(upload, 'Key') ?? '');
        const uploadId = textOf(upload, 'UploadId') ?? '';
        yield {
          key,
          begunAt: Date.parse(textOf(upload, 'Initiated') ?? ''),
          abort: within => this.#abort(key, uploadId, within),
        };
      }
      markers = {
        'key-marker': decodeURIComponent(textOf(text, 'NextKeyMarker') ?? '') || undefined,
        'upload-id-marker': textOf(text, 'NextUploadIdMarker') || undefined,
      };
      if (textOf(text, 'IsTruncated') !== 'true') return;
    } while (markers['key-marker'] !== undefined);
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  async #abort(key: string, uploadId: string, signal: AbortSignal): Promise<void> {
    await this.#sendForNothing({ method: 'DELETE', key, query: { uploadId }, signal });
  }

  async #sendForNothing(asked: Asked): Promise<HttpAnswer> {
    return (await this.#sendForText(asked)).answer;
  }

  #sendForText(asked: Asked) {
    return this.#http.sendForText(this.#request(asked));
  }

  #request(asked: Asked): HttpRequest {
    const { method, key = '', query = {}, headers = {}, body, signal } = asked;
    const url = below(this.#base, `/${encodePath(key)}`, queryOf(query));
    this.#asked.set(url, { method, bucket: this.#bucket, key, query, headers });
    return { method, url, headers, body, signal };
  }

  #authorizer(options: OssOptions): Authorize {
    const region = regionOf(options.endpoint.hostname);
    return async (request, now) => {
      const keys = await options.keys(request.signal);
      const asked = this.#asked.get(request.url);
      if (asked === undefined) throw new Error('a request that was not made here');
      return region === undefined ? signOssV1(keys, asked, now) : signOssV4(keys, asked, { now, region });
    };
  }
}

const onlyNew = { 'x-oss-forbid-overwrite': 'true' };

/** The bucket is the first label of the host, but for servers that are addressed by number or are on this machine. */
function bucketUrl(endpoint: URL, bucket: string): URL {
  if (!BUCKET.test(bucket)) {
    const why = 'write 3 to 63 lower-case letters, digits and dashes';
    throw new StoreError('invalid', `"${bucket}" is not a valid OSS bucket name: ${why}`);
  }
  if (isIP(endpoint.hostname) !== 0 || !endpoint.hostname.includes('.')) return below(endpoint, `/${bucket}`);
  const url = new URL(endpoint);
  url.hostname = `${bucket}.${endpoint.hostname}`;
  return url;
}

/** The region in the host name of an endpoint of Alibaba's: `oss-<region>[-internal].aliyuncs.com`. */
export function regionOf(host: string): string | undefined {
  const region = /^oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com$/.exec(host)?.[1];
  return region?.startsWith('accelerate') ? undefined : region;
}

function readFailure(failure: HttpFailure): Said {
  // The answer to HEAD has no body; its error is in a header, whole and in base64.
  const hidden = failure.headers['x-oss-err'];
  const text = hidden === undefined ? failure.body : Buffer.from(hidden, 'base64').toString('utf8');
  return { status: failure.status, ...errorIn(text), skewed: failure.skewed };
}
