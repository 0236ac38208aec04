/**
 * Encrypted payloads for users: Temporal's UI and CLI send them here and get them decrypted (docs.temporal.io/codec-server). It listens on
 * the loopback of the pod alone: who may forward a port to the pod, as Kubernetes decides, may read.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { PayloadCodec } from '@temporalio/common';
import type { CodecServer } from '../config/config.ts';
import { CodecError } from '../temporal/codec/codec.ts';
import { type CodecMessage, MessageError, readMessage, writeMessage } from './codec-messages.ts';
import { boundConnections, type ConnectionLimits, serverOptions } from './connections.ts';
import { bytesOf } from '../../store/served/body.ts';
import { listen, type PageServer } from './serving.ts';

/** A page of a history over a slow forwarded port, of a few users at a time. */
const CODEC_LIMITS: ConnectionLimits = { most: 16, headersMs: 5_000, requestMs: 30_000, silenceMs: 10_000 };
/** Bytes. The server's own limit of a message is 4 MiB, and base64 makes a third more of it. */
const MOST_BODY_BYTES = 8 * 1024 * 1024;
const LOOPBACK = '127.0.0.1';

export interface CodecServerOptions extends CodecServer {
  readonly codec: PayloadCodec;
  /** The Temporal namespace whose payloads the keys are for. */
  readonly namespace: string;
  /** What goes wrong with the listener itself while it serves. */
  readonly onTrouble?: (error: Error) => void;
  readonly limits?: ConnectionLimits;
}

/** @throws when the port is taken */
export async function serveCodec(options: CodecServerOptions): Promise<PageServer> {
  const { limits = CODEC_LIMITS, onTrouble = () => {} } = options;
  const server = createServer(serverOptions(limits), (request, response) => {
    if (!request.socket.destroyed) void answer(options, request, response);
  });
  boundConnections(server, limits, onTrouble);
  return listen(server, options.port, LOOPBACK);
}

/** An answer that is not the one asked for. */
class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Never rejects. */
async function answer(
  options: CodecServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    admit(options, request, response);
    const run = runFor(options, request);
    if (request.method === 'OPTIONS') return void response.writeHead(204).end();
    const { payloads } = readMessage(await bodyOf(request));
    const text = writeMessage({ payloads: await run(payloads) });
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  } catch (error) {
    const { status, message } = refusalOf(error);
    // What has not been read of the body is not waited for.
    response.setHeader('connection', 'close');
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`${message}\n`);
  }
}

/**
 * Lets in who is no page of a stranger: a browser names the page that asks, whatever name of this machine it has asked for
 * (Fetch, 3.2). Allows the browser that a page of the UI may read the answer.
 */
function admit(
  { origins, namespace }: CodecServerOptions,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const { origin } = headers;
  response.setHeader('cache-control', 'no-store');
  response.setHeader('vary', 'origin');
  if (origin !== undefined && !origins.includes(origin))
    throw new Refusal(403, 'pages of this origin may not ask: see TEMPORAL_CODEC_SERVER_ORIGINS');
  if (origin !== undefined) {
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-allow-methods', 'POST');
    response.setHeader('access-control-allow-headers', 'content-type, x-namespace, authorization');
    response.setHeader('access-control-allow-credentials', 'true');
    // A page of the network asks this machine.
    response.setHeader('access-control-allow-private-network', 'true');
  }
  const asked = headers['x-namespace'];
  if (asked !== undefined && asked !== namespace)
    throw new Refusal(400, `the keys are for payloads of the Temporal namespace ${namespace}`);
}

type Run = (payloads: CodecMessage['payloads']) => Promise<CodecMessage['payloads']>;

function runFor({ codec, encodes }: CodecServerOptions, { method, url }: IncomingMessage): Run {
  const path = URL.parse(url ?? '/', 'http://localhost')?.pathname;
  const isAsked = method === 'POST' || method === 'OPTIONS';
  if (isAsked && path === '/decode') return payloads => codec.decode([...payloads]);
  if (isAsked && path === '/encode' && encodes) return payloads => codec.encode([...payloads]);
  if (isAsked && path === '/encode')
    throw new Refusal(404, 'this server only decodes: set TEMPORAL_CODEC_SERVER_ENCODES=true to encode');
  throw new Refusal(404, encodes ? 'try POST /decode or /encode' : 'try POST /decode');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytesOf(request)) {
    size += chunk.length;
    if (size > MOST_BODY_BYTES) throw new Refusal(413, `the body has more than ${MOST_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function refusalOf(error: unknown): { readonly status: number; readonly message: string } {
  if (error instanceof Refusal) return error;
  const isTheirs = error instanceof MessageError || error instanceof CodecError;
  return isTheirs ? { status: 400, message: error.message } : { status: 500, message: 'failed' };
}
