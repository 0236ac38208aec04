/**
 * A store over HTTPS, for the pod that a claim is mounted in: the operator runs elsewhere, and talks to it as to any other store.
 * A client with the token may do everything, any other client nothing.
 */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { MAX_TIMEOUT_MS } from '../bounds.ts';
import { type Store, StoreError } from '../port.ts';
import { bytesOf } from './body.ts';
import { messageOf } from '../../api/values/message-of.ts';

/** What went wrong, as the other side reads it. */
export interface ServedError {
  readonly code: StoreError['code'];
  readonly message: string;
}

/** A store that answers requests. */
export interface ServedStore {
  /** Never rejects. A client without the token is refused before anything of the request is read. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Requests with the token that are being answered. */
  busy(): number;
  /** When the last one with the token was answered, as `performance.now()`; of the beginning before there was one. */
  lastAsked(): number;
}

export function serveStore(store: Store, token: string): ServedStore {
  let busy = 0;
  let lastAsked = performance.now();
  return {
    busy: () => busy,
    lastAsked: () => lastAsked,
    async answer(request, response) {
      if (!isAllowed(request, token)) {
        response.setHeader('connection', 'close');
        return answer(response, 401, refusal());
      }
      busy += 1;
      // Comes also when the other side goes away; until then what was said may not have reached it.
      const closed = new Promise(resolve => response.once('close', resolve));
      try {
        await handle(store, request, response);
      } catch (error) {
        // What has been begun cannot be taken back: the other side sees that it ends too soon.
        if (response.headersSent) response.destroy();
        else answer(response, 500, asServed(error));
      } finally {
        await closed;
        busy -= 1;
        lastAsked = performance.now();
      }
    },
  };
}

async function handle(store: Store, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://store');
  if (url === null) return answer(response, 404, { code: 'invalid', message: 'no such request' });
  const { pathname, searchParams } = url;
  const key = searchParams.get('key') ?? '';
  const signal = abortedWith(response);
  switch (`${request.method} ${pathname}`) {
    case 'GET /health':
      return answer(response, 200, {});
    case 'PUT /object':
      return answer(
        response,
        201,
        await store.put(key, bytesOf(request), {
          signal,
          deadlineMs: MAX_TIMEOUT_MS,
          writer: searchParams.get('writer') ?? undefined,
        }),
      );
    case 'GET /object': {
      const offset = Number(searchParams.get('offset') ?? 0);
      const { size, body } = await store.get(key, { offset, signal, deadlineMs: MAX_TIMEOUT_MS });
      response.writeHead(200, { 'content-type': 'application/octet-stream', 'x-object-size': size });
      return pipeline(body, response);
    }
    case 'GET /description':
      return answer(response, 200, { object: (await store.head(key, { signal })) ?? null });
    case 'GET /list': {
      const objects = [];
      for await (const object of store.list(searchParams.get('prefix') ?? '', { signal }))
        objects.push(object);
      return answer(response, 200, { objects });
    }
    case 'DELETE /object':
      await store.delete(key, { signal });
      return answer(response, 200, {});
    case 'DELETE /unfinished': {
      const olderThanMs = Number(searchParams.get('olderThanMs'));
      const prefix = searchParams.get('prefix') ?? '';
      const pattern = searchParams.get('matching');
      const matching = pattern === null ? undefined : new RegExp(pattern);
      return answer(response, 200, {
        removed: await store.removeUnfinished(prefix, { signal, olderThanMs, matching }),
      });
    }
    default:
      return answer(response, 404, { code: 'invalid', message: 'no such request' });
  }
}

/** Fires when the other side has gone before it had its answer. */
function abortedWith(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

function isAllowed({ headers }: IncomingMessage, token: string): boolean {
  const sent = Buffer.from(headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  return sent.length === wanted.length && timingSafeEqual(sent, wanted);
}

function refusal(): ServedError {
  return { code: 'denied', message: 'the token is not valid for this pod' };
}

function asServed(error: unknown): ServedError {
  if (error instanceof StoreError) return { code: error.code, message: error.message };
  return { code: 'other', message: messageOf(error) };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
