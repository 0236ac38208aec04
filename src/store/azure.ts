/**
 * Azure Blob Storage over its REST API: blocks that are put side by side and then committed if no blob is there. What was
 * not committed is never seen, and Azure forgets it after a week by itself.
 */
import { createHash } from 'node:crypto';
import type { Opening, StoreSpec } from './opening.ts';
import { signAzure, type AzureAccount } from './azure-signing.ts';
import { azureToken } from './azure-token.ts';
import {
  type Authorize,
  type HttpAnswer,
  HttpClient,
  type HttpFailure,
  type HttpOptions,
  type HttpRequest,
} from './http.ts';
import { checkIdentityEndpoint, checkSecretEndpoint } from './identity-endpoint.ts';
import { below, encode, encodePath, endpointUrl, queryOf, splitPath } from './names.ts';
import { type ObjectContent, type Store, StoreError, type StoreErrorCode } from './port.ts';
import type { DescribedObject, NewObject, Page, Protocol, Upload } from './protocol.ts';
import { RemoteStore } from './remote.ts';
import { azureCredentials } from './secrets.ts';
import { translationOf, type Said, translator } from './translate.ts';
import { elements, errorIn, escapeXml, textOf } from './xml.ts';

/** Of the service's REST API. */
const API_VERSION = '2023-11-03';

/** Blocks on their way at once. */
const PARALLEL = 2;

const CODES: Readonly<Record<string, StoreErrorCode>> = {
  BlobAlreadyExists: 'exists',
  ConditionNotMet: 'exists',
  BlobNotFound: 'not-found',
  ContainerNotFound: 'no-bucket',
  ContainerBeingDeleted: 'no-bucket',
  ContainerDisabled: 'no-bucket',
  ResourceNotFound: 'no-bucket',
  InvalidResourceName: 'invalid',
  ServerBusy: 'unavailable',
  OperationTimedOut: 'unavailable',
};

interface AzureOptions {
  /** The address of the account's blob service. */
  readonly service: URL;
  readonly container: string;
  /** An account's key, or what gives a fresh bearer token. */
  readonly credentials: AzureAccount | { readonly token: (signal: AbortSignal) => Promise<string> };
  readonly secrets: readonly string[];
  readonly http: HttpOptions;
}

/** Opens a container of block blobs. Sends nothing yet. */
export function openAzure(
  { path, endpoint }: StoreSpec<'ABS'>,
  { secret, secrets, http, environment, trustedHosts, secretHosts }: Opening,
): Store {
  const { bucket: container } = splitPath(path);
  if (secret !== undefined) {
    const { account, key, suffix } = azureCredentials(secret);
    const service = endpointUrl(endpoint, `https://${account}.${suffix}`);
    checkSecretEndpoint('ABS', service, secretHosts);
    const credentials = { name: account, key };
    return new RemoteStore(
      new AzureProtocol({ service, container, credentials, http, secrets }),
      http.memory,
    );
  }
  if (!endpoint) {
    throw new StoreError(
      'invalid',
      'without absSecret, abs.endpoint must name the account: https://<account>.blob.core.windows.net',
    );
  }
  const service = endpointUrl(endpoint, '');
  checkIdentityEndpoint('ABS', service, trustedHosts);
  // Where the operator's own identity is asked for is not the author's choice.
  const identity = new HttpClient(async () => ({}), { ...http, allowed: undefined });
  const credentials = { token: azureToken(environment, identity) };
  const protocol = new AzureProtocol({ service, container, credentials, http, secrets });
  return new RemoteStore(protocol, http.memory, () => identity.close());
}

class AzureProtocol implements Protocol {
  readonly location: string;
  readonly parallel = PARALLEL;
  readonly #container: URL;
  readonly #http: HttpClient;
  readonly translate: Protocol['translate'];

  constructor(options: AzureOptions) {
    this.#container = below(options.service, `/${encode(options.container)}`);
    this.location = this.#container.href;
    this.#http = new HttpClient(authorizer(options.credentials), options.http);
    this.translate = translator(translationOf(CODES, options), readFailure);
  }

  async head(key: string, signal: AbortSignal): Promise<DescribedObject> {
    const { headers } = await this.#sendForNothing({ method: 'HEAD', url: this.#blob(key), signal });
    return {
      key,
      size: Number(headers['content-length']),
      modifiedAt: toIso(headers['last-modified']),
      putId: headers['x-ms-meta-putid'],
    };
  }

  async get(key: string, offset: number, signal: AbortSignal): Promise<ObjectContent> {
    const range: Record<string, string> = offset === 0 ? {} : { 'x-ms-range': `bytes=${offset}-` };
    const answer = await this.#http.send({ method: 'GET', url: this.#blob(key), headers: range, signal });
    return { size: offset + Number(answer.headers['content-length']), body: answer.body };
  }

  async page(prefix: string, token: string | undefined, signal: AbortSignal): Promise<Page> {
    const query = queryOf({
      restype: 'container',
      comp: 'list',
      maxresults: '1000',
      prefix: prefix || undefined,
      marker: token,
    });
    const { text } = await this.#http.sendForText({
      method: 'GET',
      url: below(this.#container, '', query),
      signal,
    });
    const objects = elements(text, 'Blob').map(blob => ({
      key: nameOf(blob),
      size: Number(textOf(blob, 'Content-Length')),
      modifiedAt: toIso(textOf(blob, 'Last-Modified')),
    }));
    return { objects, next: textOf(text, 'NextMarker') || undefined };
  }

  async delete(key: string, signal: AbortSignal): Promise<void> {
    const headers = { 'x-ms-delete-snapshots': 'include' };
    await this.#sendForNothing({ method: 'DELETE', url: this.#blob(key), headers, signal });
  }

  async putWhole(object: NewObject, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const headers = { 'x-ms-blob-type': 'BlockBlob', ...onlyNew(object) };
    await this.#sendForNothing({ method: 'PUT', url: this.#blob(object.key), headers, body: bytes, signal });
  }

  async begin(object: NewObject): Promise<Upload> {
    const blocks: string[] = [];
    return {
      part: async ({ number, bytes }, signal) => {
        // Writers of one blob share its uncommitted blocks, so the names are the writer's own, and all of one length.
        const block = createHash('sha256').update(`${object.putId} ${number}`).digest('base64');
        blocks[number - 1] = block;
        const url = this.#blob(object.key, queryOf({ comp: 'block', blockid: block }));
        await this.#sendForNothing({ method: 'PUT', url, body: bytes, signal });
      },
      commit: async signal => {
        const list = blocks.map(block => `<Latest>${escapeXml(block)}</Latest>`).join('');
        await this.#sendForNothing({
          method: 'PUT',
          url: this.#blob(object.key, 'comp=blocklist'),
          headers: { 'content-type': 'application/xml', ...onlyNew(object) },
          body: `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`,
          signal,
        });
      },
      // Nothing takes back blocks without making a blob of that name for a moment.
      abort: async () => {},
    };
  }

  async close(): Promise<void> {
    await this.#http.close();
  }

  #blob(key: string, query = ''): URL {
    return below(this.#container, `/${encodePath(key)}`, query);
  }

  async #sendForNothing(request: HttpRequest): Promise<HttpAnswer> {
    return (await this.#http.sendForText(request)).answer;
  }
}

function onlyNew(object: NewObject): Readonly<Record<string, string>> {
  return { 'if-none-match': '*', 'x-ms-meta-putid': object.putId };
}

function authorizer(credentials: AzureOptions['credentials']): Authorize {
  return async (request, now) => {
    const common = { 'x-ms-date': now.toUTCString(), 'x-ms-version': API_VERSION };
    if ('token' in credentials) {
      return { ...common, authorization: `Bearer ${await credentials.token(request.signal)}` };
    }
    const length = request.body === undefined ? 0 : Buffer.byteLength(request.body);
    const headers = { ...request.headers, ...common, 'content-length': `${length}` };
    return { ...common, authorization: signAzure(credentials, { ...request, headers }) };
  };
}

function readFailure(failure: HttpFailure): Said {
  const { code, message } = errorIn(failure.body);
  return {
    status: failure.status,
    code: failure.headers['x-ms-error-code'] ?? code,
    message,
    skewed: failure.skewed,
  };
}

/** A blob's name; one with characters that XML cannot have is percent-encoded, and marked. */
function nameOf(blob: string): string {
  const name = textOf(blob, 'Name') ?? '';
  return /<Name\s[^>]*Encoded="true"/.test(blob) ? decodeURIComponent(name) : name;
}

function toIso(date: string | undefined): string {
  return new Date(date ?? Number.NaN).toISOString();
}
