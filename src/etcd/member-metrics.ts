/** What only the metrics of a member say. They are served from its start on (server/embed/etcd.go of etcd). */
import { type IncomingMessage, request } from 'node:http';
import { METRICS_PORT } from '../api/names.ts';
import { EtcdError } from './port.ts';

/** Pages are some hundred kilobytes. */
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Of each sender how many snapshots come in now (server/etcdserver/api/rafthttp/metrics.go). */
const INCOMING = /^etcd_network_snapshot_receive_inflights_total(?:\{[^}]*\})? (\S+)$/gm;

/** What Go's runtime has in use that the kernel cannot take back: the pages of the database file are not part of it. */
const HEAP = /^go_memstats_(?:heap|stack)_inuse_bytes (\S+)$/gm;

/**
 * Asks the metrics of the member at this address. Fails with an EtcdError.
 * @param deadline milliseconds since 1970
 */
export async function readMetrics(
  host: string,
  deadline: number,
  port: number = METRICS_PORT,
): Promise<string> {
  const signal = AbortSignal.timeout(Math.max(1, deadline - Date.now()));
  try {
    return await read({ host, port, signal });
  } catch (error) {
    const message = `metrics of the member at ${host} failed: ${error instanceof Error ? error.message : ''}`;
    throw new EtcdError(signal.aborted ? 'timeout' : 'unreachable', message);
  }
}

/**
 * Whether the member receives the database of the leader. It serves no client before it has all of it.
 * @param page of a member, in Prometheus' text format
 */
export function isReceiving(page: string): boolean {
  return [...page.matchAll(INCOMING)].some(([, value]) => Number(value) > 0);
}

/** How many bytes the member's process needs at least as it is; undefined when the page does not say. */
export function memoryInUse(page: string): number | undefined {
  const found = [...page.matchAll(HEAP)].map(([, value]) => Number(value));
  return found.length === 2 ? found.reduce((sum, each) => sum + each, 0) : undefined;
}

function read(at: {
  readonly host: string;
  readonly port: number;
  readonly signal: AbortSignal;
}): Promise<string> {
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      textOf(response).then(resolve, reject);
    };
    const sent = request({ ...at, path: '/metrics', agent: false }, answered);
    sent.once('error', reject);
    // Who switches protocols gives neither an answer nor an error.
    sent.once('upgrade', () => reject(new Error('the answer is not HTTP')));
    sent.end();
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MOST_CHARACTERS) throw new Error('the page is too large');
  }
  if (response.statusCode === 200) return text;
  throw new Error(`HTTP status ${response.statusCode}`);
}
