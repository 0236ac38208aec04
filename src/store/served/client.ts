/** The other side of a served store: a store like any other. */
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { textAtMost } from '../at-most.ts';
import { AS_LONG_AS_IT_TAKES_MS, type Bounds, readWithin, startBounds } from '../bounds.ts';
import { MEMORY_TAKEN, OF_AN_OBJECT, StoreMemory, type StoreShare } from '../memory.ts';
import {
  type CallOptions,
  type CleaningOptions,
  type GetOptions,
  type ObjectContent,
  type PutOptions,
  type Store,
  type StoredObject,
  StoreError,
} from '../port.ts';
import { type Source, watchSource } from '../source.ts';
import { memoryTaken } from '../translate.ts';
import type { ServedError } from './server.ts';

export interface ServedAddress {
  /** For people: `file://claim`. */
  readonly location: string;
  readonly host: string;
  readonly port: number;
  /** PEM: the authority of the server's certificate, and the name in it. */
  readonly ca: string;
  readonly serverName: string;
  readonly token: string;
  /** What is held of what it tells; absent: what it tells is bounded by itself only. */
  readonly memory?: StoreShare;
}

/** Silence of that many milliseconds is a connection that is dead. A disk may take long to flush what it was given. */
const SILENCE_MS = 120_000;

/** Bytes that the pod tells at once: a listing of tens of thousands of objects. Whoever may make pods may have made this one. */
const MOST_TOLD = 8 * 1024 * 1024;

interface Call {
  readonly doing: string;
  readonly about: string;
  readonly method: Dispatcher.HttpMethod;
  readonly path: string;
  readonly query: Readonly<Record<string, string | number>>;
}

/** Sends nothing yet. */
export function openServedStore(address: ServedAddress): Store {
  return new ServedStore(address);
}

class ServedStore implements Store {
  readonly location: string;
  readonly #origin: string;
  readonly #token: string;
  readonly #agent: Agent;
  readonly #memory: StoreShare;

  constructor(address: ServedAddress) {
    const { location, host, port, ca, serverName, token } = address;
    this.#memory = address.memory ?? new StoreMemory().share('');
    this.location = location;
    this.#origin = `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
    this.#token = token;
    this.#agent = new Agent({
      connect: { ca, servername: serverName, timeout: 5_000 },
      headersTimeout: SILENCE_MS,
      bodyTimeout: SILENCE_MS,
    });
  }

  async put(key: string, body: AsyncIterable<Uint8Array>, options: PutOptions = {}) {
    const { writer } = options;
    const source = watchSource(body);
    const call = {
      doing: 'putting',
      about: key,
      method: 'PUT',
      path: '/object',
      query: { key, ...(writer !== undefined && { writer }) },
    } as const;
    return this.#json<{ readonly size: number }>(call, options, source);
  }

  async get(key: string, options: GetOptions = {}): Promise<ObjectContent> {
    const { offset = 0, ...bounding } = options;
    const call = {
      doing: 'getting',
      about: key,
      method: 'GET',
      path: '/object',
      query: { key, offset },
    } as const;
    const bounds = this.#bounds(call, bounding, AS_LONG_AS_IT_TAKES_MS);
    try {
      const { headers, body } = await this.#send(call, bounds);
      const size = Number(headers['x-object-size'] ?? Number.NaN);
      // Without it nobody would notice that the answer ends too soon.
      if (!Number.isSafeInteger(size)) {
        body.on('error', () => {}).destroy();
        throw new StoreError('other', `${this.#what(call)}: the pod does not report its size`);
      }
      return { size, body: this.#read(call, body, { bounds, expected: size - offset }) };
    } catch (error) {
      bounds.release();
      throw this.#translate(call, error, bounds);
    }
  }

  async head(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    const call = {
      doing: 'looking for',
      about: key,
      method: 'GET',
      path: '/description',
      query: { key },
    } as const;
    const { object } = await this.#json<{ readonly object: StoredObject | null }>(call, options);
    return object ?? undefined;
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    const call = {
      doing: 'listing',
      about: prefix,
      method: 'GET',
      path: '/list',
      query: { prefix },
    } as const;
    const { objects } = await this.#json<{ readonly objects: readonly StoredObject[] }>(call, options);
    try {
      this.#memory.take(OF_AN_OBJECT * objects.length);
    } catch (error) {
      throw this.#translate(call, error);
    }
    yield* objects;
  }

  async delete(key: string, options: CallOptions = {}): Promise<void> {
    const call = {
      doing: 'deleting',
      about: key,
      method: 'DELETE',
      path: '/object',
      query: { key },
    } as const;
    await this.#json(call, options);
  }

  async removeUnfinished(
    prefix: string,
    { olderThanMs, matching, ...options }: CleaningOptions,
  ): Promise<number> {
    const call = {
      doing: 'cleaning',
      about: prefix,
      method: 'DELETE',
      path: '/unfinished',
      query: { prefix, olderThanMs, ...(matching !== undefined && { matching: matching.source }) },
    } as const;
    return (await this.#json<{ readonly removed: number }>(call, options)).removed;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    this.#memory.give();
  }

  async #json<Answer>(call: Call, options: CallOptions, source?: Source): Promise<Answer> {
    const bounds =
      source === undefined
        ? this.#bounds(call, options)
        : this.#bounds(call, options, AS_LONG_AS_IT_TAKES_MS);
    try {
      const { body } = await this.#send(call, bounds, source);
      return JSON.parse(await textAtMost(body, this.#memory, MOST_TOLD)) as Answer;
    } catch (error) {
      if (source?.threw(error) === true) throw error;
      throw this.#translate(call, error, bounds);
    } finally {
      bounds.release();
    }
  }

  async #send(
    { method, path, query }: Call,
    bounds: Bounds,
    source?: Source,
  ): Promise<Dispatcher.ResponseData> {
    bounds.signal.throwIfAborted();
    const response = await request(`${this.#origin}${path}`, {
      method,
      query,
      headers: { authorization: `Bearer ${this.#token}` },
      dispatcher: this.#agent,
      signal: bounds.signal,
      ...(source !== undefined && { body: asBody(readWithin(source.body, bounds.signal)) }),
    });
    if (response.statusCode < 300) return response;
    const said = await textAtMost(response.body, this.#memory, MOST_TOLD)
      .then(text => JSON.parse(text) as Partial<ServedError>)
      .catch((): Partial<ServedError> => ({}));
    throw new StoreError(said.code ?? 'other', said.message ?? `the pod answers ${response.statusCode}`);
  }

  async *#read(
    call: Call,
    body: AsyncIterable<Uint8Array>,
    { bounds, expected }: { readonly bounds: Bounds; readonly expected: number },
  ): AsyncGenerator<Uint8Array> {
    let received = 0;
    try {
      for await (const chunk of readWithin(body, bounds.signal)) {
        received += chunk.length;
        yield chunk;
      }
      if (received < expected) throw new StoreError('unavailable', `${this.#what(call)} was interrupted`);
    } catch (error) {
      throw this.#translate(call, error, bounds);
    } finally {
      bounds.release();
    }
  }

  #bounds(call: Call, options: CallOptions, ...fallback: [] | [number]): Bounds {
    const { signal, deadlineMs } = options;
    return startBounds(this.#what(call), { signal, deadlineMs }, ...fallback);
  }

  #what({ doing, about }: Call): string {
    return `${doing} ${this.location}/${about}`;
  }

  #translate(call: Call, error: unknown, bounds?: Bounds): StoreError {
    const broken = bounds?.broken();
    if (broken !== undefined) return broken;
    if (error instanceof StoreError) return error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no connection';
    if (code === MEMORY_TAKEN) return memoryTaken(this.#what(call));
    return new StoreError('unavailable', `${this.#what(call)} failed: ${code}`);
  }
}

/** undici's types want a stream; it takes anything that can be iterated. */
function asBody(body: AsyncGenerator<Uint8Array>): Readable {
  return body as unknown as Readable;
}
