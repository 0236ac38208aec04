/** Google Cloud Storage over its JSON API, with resumable uploads: the last request makes the object, if there is none. */
import { STORES } from '../api/stores.ts';
import type { Opening, StoreSpec } from './opening.ts';
import { atMostObjects } from './at-most.ts';
import { googleToken } from './google-token.ts';
import { type Authorize, HttpClient, HttpFailure, type HttpOptions } from './http.ts';
import { checkIdentityEndpoint, checkSecretEndpoint } from './identity-endpoint.ts';
import { below, encode, endpointUrl, queryOf, splitPath } from './names.ts';
import type { ObjectContent, Store, StoreErrorCode } from './port.ts';
import type { DescribedObject, NewObject, Page, Protocol, Upload } from './protocol.ts';
import { RemoteStore } from './remote.ts';
import { googleCredentials } from './secrets.ts';
import { translationOf, type Said, translator } from './translate.ts';

/** The reasons of the JSON API, and those that its XML answers to media requests have. */
const CODES: Readonly<Record<string, StoreErrorCode>> = {
  conditionNotMet: 'exists',
  required: 'denied',
  authError: 'denied',
  forbidden: 'denied',
  invalid_grant: 'denied',
  rateLimitExceeded: 'unavailable',
  userRateLimitExceeded: 'unavailable',
  backendError: 'unavailable',
  retentionPolicyNotMet: 'locked',
  objectUnderActiveHold: 'locked',
  quotaExceeded: 'full',
  'no bucket': 'no-bucket',
};

interface GoogleOptions {
  readonly endpoint: URL;
  readonly bucket: string;
  /** Gives a bearer token that is valid now. */
  readonly token: (signal: AbortSignal, now: Date) => Promise<string>;
  readonly secrets: readonly string[];
  readonly http: HttpOptions;
}

/** How the JSON API describes an object. */
interface Resource {
  readonly name: string;
  readonly size?: string;
  readonly updated: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Opens a bucket of Google Cloud Storage. Sends nothing yet. */
export function openGoogle(
  spec: StoreSpec<'GCS'>,
  { secret, secrets, http, trustedHosts, secretHosts }: Opening,
): Store {
  const { bucket } = splitPath(spec.path);
  const credentials = secret && googleCredentials(secret);
  const endpoint = endpointUrl(spec.endpoint, STORES.GCS.endpoint.usual);
  if (credentials === undefined) checkIdentityEndpoint('GCS', endpoint, trustedHosts);
  else checkSecretEndpoint('GCS', endpoint, secretHosts);
  const identity = new HttpClient(async () => ({}), http);
  const token = googleToken(credentials, identity);
  const protocol = new GoogleProtocol({ endpoint, bucket, token, http, secrets });
  return new RemoteStore(protocol, http.memory, () => identity.close());
}

class GoogleProtocol implements Protocol {
  readonly location: string;
  /** A resumable upload is one stream. */
  readonly parallel = 1;
  readonly #endpoint: URL;
  readonly #bucket: string;
  readonly #http: HttpClient;
  readonly translate: Protocol['translate'];

  constructor(options: GoogleOptions) {
    this.#endpoint = options.endpoint;
    this.#bucket = encode(options.bucket);
    this.location = `gs://${options.bucket}`;
    const authorize: Authorize = async ({ signal }, now) => ({
      authorization: `Bearer ${await options.token(signal, now)}`,
    });
    this.#http = new HttpClient(authorize, options.http);
    this.translate = translator(translationOf(CODES, options), readFailure);
  }

  async head(key: string, signal: AbortSignal): Promise<DescribedObject> {
    const { text } = await this.#http.sendForText({ method: 'GET', url: this.#object(key), signal });
    const resource: Resource = JSON.parse(text);
    return { ...describe(resource), putId: resource.metadata?.['putid'] };
  }

  async get(key: string, offset: number, signal: AbortSignal): Promise<ObjectContent> {
    const headers: Record<string, string> = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const answer = await this.#http.send({
      method: 'GET',
      url: this.#object(key, 'alt=media'),
      headers,
      signal,
    });
    return { size: offset + Number(answer.headers['content-length']), body: answer.body };
  }

  async page(prefix: string, token: string | undefined, signal: AbortSignal): Promise<Page> {
    const query = queryOf({
      prefix: prefix || undefined,
      pageToken: token,
      maxResults: '1000',
      fields: 'nextPageToken,items(name,size,updated)',
    });
    const url = below(this.#endpoint, `/storage/v1/b/${this.#bucket}/o`, query);
    const { text } = await this.#http.sendForText({ method: 'GET', url, signal }).catch(error => {
      throw asMissingBucket(error);
    });
    const page: { readonly items?: readonly Resource[]; readonly nextPageToken?: string } = JSON.parse(text);
    return { objects: atMostObjects(page.items ?? []).map(describe), next: page.nextPageToken || undefined };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    await this.#http.sendForText({ method: 'DELETE', url: this.#object(key), signal });
  }

  async putWhole(object: NewObject, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const upload = await this.begin(object, signal);
    await upload.part({ number: 1, bytes, last: true }, signal);
  }

  async begin({ key, putId }: NewObject, signal: AbortSignal): Promise<Upload> {
    const query = queryOf({ uploadType: 'resumable', ifGenerationMatch: '0', name: key });
    const { answer } = await this.#http
      .sendForText({
        method: 'POST',
        url: below(this.#endpoint, `/upload/storage/v1/b/${this.#bucket}/o`, query),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: key, metadata: { putid: putId } }),
        signal,
      })
      .catch(error => {
        throw asMissingBucket(error);
      });
    const session = new URL(answer.headers['location'] ?? '');
    let sent = 0;
    return {
      part: async ({ bytes, last }, within) => {
        await this.#sendPart(session, { bytes, start: sent, last }, within);
        sent += bytes.length;
      },
      // The last part has done it.
      commit: async () => {},
      abort: async within => {
        await this.#http.sendForText({ method: 'DELETE', url: session, signal: within });
      },
    };
  }

  /** Google may keep less of a part than it was sent; the rest is sent again. */
  async #sendPart(
    session: URL,
    part: { readonly bytes: Buffer; readonly start: number; readonly last: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const end = part.start + part.bytes.length;
    let from = part.start;
    for (;;) {
      const range = end === from ? '*' : `${from}-${end - 1}`;
      const { answer } = await this.#http.sendForText({
        method: 'PUT',
        url: session,
        headers: { 'content-range': `bytes ${range}/${part.last ? end : '*'}` },
        body: part.bytes.subarray(from - part.start),
        signal,
      });
      if (answer.status !== 308) return;
      const kept = Number(/-(\d+)$/.exec(answer.headers['range'] ?? '')?.[1] ?? -1) + 1;
      if (kept >= end && !part.last) return;
      if (kept <= from) throw new Error('the upload makes no progress');
      from = kept;
    }
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  #object(key: string, query = ''): URL {
    return below(this.#endpoint, `/storage/v1/b/${this.#bucket}/o/${encode(key)}`, query);
  }
}

function describe(resource: Resource) {
  return {
    key: resource.name,
    size: Number(resource.size ?? 0),
    modifiedAt: new Date(resource.updated).toISOString(),
  };
}

/** What is not found when a bucket is listed or written to can only be the bucket. */
function asMissingBucket(error: unknown): unknown {
  if (!(error instanceof HttpFailure) || error.status !== 404) return error;
  return new HttpFailure(
    error,
    JSON.stringify({ error: { message: 'The specified bucket does not exist.' } }),
    false,
  );
}

function readFailure(failure: HttpFailure): Said {
  const { reason, message } = readBody(failure.body);
  const noBucket = failure.status === 404 && /bucket does not exist/i.test(message);
  return {
    status: failure.status,
    code: noBucket ? 'no bucket' : reason,
    message,
    skewed: failure.skewed,
  };
}

/** JSON of the API, JSON of the token endpoint, or the plain text that media requests get. */
function readBody(body: string): { readonly reason: string; readonly message: string } {
  try {
    const { error, error_description: description } = JSON.parse(body);
    if (typeof error === 'string') return { reason: error, message: `${description ?? ''}` };
    return { reason: `${error?.errors?.[0]?.reason ?? ''}`, message: `${error?.message ?? ''}` };
  } catch {
    return { reason: '', message: body.trimStart().startsWith('<') ? '' : body };
  }
}
