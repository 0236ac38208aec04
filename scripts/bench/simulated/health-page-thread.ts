/** The thread of health-pages.ts: etcd's health page at every address that is served. */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { METRICS_PORT } from '../../../src/api/names.ts';

export type Question =
  /** `listener`: an address that connections to `serve` arrive at. */
  | { readonly serve: string; readonly listener: string }
  | { readonly leave: string }
  /** Milliseconds since the epoch. */
  | { readonly askedAfter: number };

export interface Answer {
  readonly id: number;
  /** By address: when it was first asked after that time. */
  readonly asked?: ReadonlyMap<string, number>;
  readonly error?: string;
}

/** So many of the last questions for its health are remembered of each member: with one a second, those of two minutes. */
const REMEMBERED = 120;
/**
 * Connections that wait to be accepted: one listener stands for thousands of members, so with less, most of them would be silent whenever
 * this thread is held up for a moment. Not more than the kernel allows (net.core.somaxconn).
 */
const ACCEPT_QUEUE = 4_096;

/**
 * etcd never ends a connection because it is idle (embed/etcd.go, serveMetrics: http.Serve without timeouts). Node would after 5 s, which is less
 * than the time between two rounds of a prober with ten thousand members: each would be asked over a new connection, and once more at once.
 */
const KEEP = { keepAliveTimeout: 0 };

/** Health pages by listener. */
const pages = new Map<string, Server>();
/** Connections by the address that was dialed. */
const dialed = new Map<string, Set<Socket>>();
/** When each address was last asked for its health, the oldest first; milliseconds since the epoch. */
const asked = new Map<string, number[]>();

parentPort?.on('message', ({ id, ...question }: Question & { readonly id: number }) => {
  answer(question as Question).then(
    found => parentPort?.postMessage({ id, ...found }),
    (error: unknown) => parentPort?.postMessage({ id, error: String(error) }),
  );
});

async function answer(question: Question): Promise<Omit<Answer, 'id'>> {
  if ('serve' in question) await serve(question.serve, question.listener);
  else if ('leave' in question) leave(question.leave);
  else return { asked: firstAskedAfter(question.askedAfter) };
  return {};
}

async function serve(host: string, listener: string): Promise<void> {
  asked.set(host, []);
  if (pages.has(listener)) return;
  const page = healthPage();
  pages.set(listener, page);
  await new Promise<void>((resolve, reject) => {
    page.once('error', reject);
    page.listen({ port: METRICS_PORT, host: listener, backlog: ACCEPT_QUEUE }, resolve);
  });
}

function leave(host: string): void {
  asked.delete(host);
  for (const socket of dialed.get(host) ?? []) socket.destroy();
  dialed.delete(host);
  // One that others share stays.
  pages.get(host)?.close();
  pages.delete(host);
}

function firstAskedAfter(since: number): ReadonlyMap<string, number> {
  const found = [...asked].flatMap(([host, times]) => {
    const first = times.find(at => at > since);
    return first === undefined ? [] : [[host, first] as const];
  });
  return new Map(found);
}

function healthPage(): Server {
  const page = createServer(KEEP, ({ socket: { localAddress: host = '' } }, response) => {
    note(host);
    response.end('{"health":"true","reason":""}');
  });
  return page.on('connection', (socket: Socket) => {
    const { localAddress: host = '' } = socket;
    if (!asked.has(host)) {
      socket.destroy();
      return;
    }
    const sockets = dialed.get(host) ?? new Set();
    dialed.set(host, sockets.add(socket));
    socket.once('close', () => sockets.delete(socket));
  });
}

function note(host: string): void {
  const times = asked.get(host);
  if (times === undefined) return;
  times.push(Date.now());
  if (times.length > REMEMBERED) times.shift();
}
