/** The other side of a served store: a store like any other. */
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { textAtMost } from '../at-most.ts';
import { MAX_TIMEOUT_MS, type Bounds, boundedCall, readWithin, startBounds, type Task } from '../bounds.ts';
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
import { watchSource } from '../source.ts';
import { memoryTaken } from '../translate.ts';
import type { ServedError } from './server.ts';

export interface ServedAddress {
  /** For users: `file://claim`. */
  readonly location: string;
  readonly host: string;
  readonly port: number;
  /** PEM: the authority of the server's certificate, and the name in it. */
  readonly ca: string;
  readonly serverName: string;
  readonly token: string;
  /** Limits what is held of its answers; absent: only each answer is limited. */
  readonly memory?: StoreShare;
}

/** Silence of that many milliseconds is a connection that is dead. A disk may take long to flush what it was given. */
const SILENCE_MS = 120_000;

/** Bytes that the pod answers at once: a listing of tens of thousands of objects. A user who may create pods may have created this one. */
const MOST_BYTES = 8 * 1024 * 1024;

/** A call of the port, and the request that it becomes. */
interface Call extends Task {
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
    const query = { key, ...(writer !== undefined && { writer }) };
    const source = watchSource(body);
    const task = { doing: 'putting', key, options, source };
    return this.#json<{ readonly size: number }>({ ...task, method: 'PUT', path: '/object', query });
  }

  async get(key: string, options: GetOptions = {}): Promise<ObjectContent> {
    const { offset = 0 } = options;
    const task = { doing: 'getting', key, options };
    const call: Call = { ...task, method: 'GET', path: '/object', query: { key, offset } };
    const bounds = startBounds(this.#what(call), options, MAX_TIMEOUT_MS);
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
      throw bounds.broken() ?? this.#translate(error, this.#what(call));
    }
  }

  async head(key: string, options: CallOptions = {}): Promise<StoredObject | undefined> {
    const task = { doing: 'looking for', key, options };
    const call: Call = { ...task, method: 'GET', path: '/description', query: { key } };
    const { object } = await this.#json<{ readonly object: StoredObject | null }>(call);
    return object ?? undefined;
  }

  async *list(prefix: string, options: CallOptions = {}): AsyncGenerator<StoredObject> {
    const task = { doing: 'listing', key: prefix, options };
    const call: Call = { ...task, method: 'GET', path: '/list', query: { prefix } };
    const { objects } = await this.#json<{ readonly objects: readonly StoredObject[] }>(call);
    try {
      this.#memory.take(OF_AN_OBJECT * objects.length);
    } catch (error) {
      throw this.#translate(error, this.#what(call));
    }
    yield* objects;
  }

  async delete(key: string, options: CallOptions = {}): Promise<void> {
    await this.#json({ doing: 'deleting', key, options, method: 'DELETE', path: '/object', query: { key } });
  }

  async removeUnfinished(
    prefix: string,
    { olderThanMs, matching, ...options }: CleaningOptions,
  ): Promise<number> {
    const query = { prefix, olderThanMs, ...(matching !== undefined && { matching: matching.source }) };
    const task = { doing: 'cleaning', key: prefix, options };
    const call: Call = { ...task, method: 'DELETE', path: '/unfinished', query };
    return (await this.#json<{ readonly removed: number }>(call)).removed;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    this.#memory.give();
  }

  #json<Answer>(call: Call): Promise<Answer> {
    return boundedCall(
      { task: call, location: this.location },
      async bounds => {
        const { body } = await this.#send(call, bounds);
        return JSON.parse(await textAtMost(body, this.#memory, MOST_BYTES)) as Answer;
      },
      (error, what) => this.#translate(error, what),
    );
  }

  async #send({ method, path, query, source }: Call, bounds: Bounds): Promise<Dispatcher.ResponseData> {
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
    const said = await textAtMost(response.body, this.#memory, MOST_BYTES)
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
      throw bounds.broken() ?? this.#translate(error, this.#what(call));
    } finally {
      bounds.release();
    }
  }

  #what({ doing, key }: Task): string {
    return `${doing} ${this.location}/${key}`;
  }

  #translate(error: unknown, what: string): StoreError {
    if (error instanceof StoreError) return error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no connection';
    if (code === MEMORY_TAKEN) return memoryTaken(what);
    return new StoreError('unavailable', `${what} failed: ${code}`);
  }
}

/** undici's types want a stream; it takes anything that can be iterated. */
function asBody(body: AsyncGenerator<Uint8Array>): Readable {
  return body as unknown as Readable;
}
