/** The page on which a member says how it is: on the metrics port, in plain text whatever TLS the cluster has. */
import { get } from 'node:http';
import { METRICS_PORT } from '../api/names.ts';

/** What is read of a page that is no member's. */
const MOST_BYTES = 2_048;
/** Each ask is a connection of its own: a kept one would answer for a member whose host is gone. */
const OWN_CONNECTION = false;

/**
 * Asks a member's `/health`: a linearizable read that must go through, a leader, and no alarm
 * (server/etcdserver/api/etcdhttp/health.go of etcd). Never rejects.
 * @returns `well`; `silent` without an answer in time, which says nothing about why; else etcd's reason, such as
 * `ALARM NOSPACE`
 * @param host the pod's address
 * @param limits `timeoutMs` for the whole of it; `signal` ends it early, as silent
 */
export function readHealthPage(
  host: string,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly port?: number },
): Promise<string> {
  const signal = AbortSignal.any([limits.signal, AbortSignal.timeout(limits.timeoutMs)]);
  return new Promise(resolve => {
    const silent = (): void => resolve('silent');
    const port = limits.port ?? METRICS_PORT;
    const request = get({ host, port, path: '/health', agent: OWN_CONNECTION, signal }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', silent);
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MOST_BYTES) request.destroy();
      });
      response.on('end', () => resolve(wellbeingOf(response.statusCode, text)));
      response.on('close', silent);
    });
    request.on('error', silent);
    // Who switches protocols gives neither an answer nor an error.
    request.on('close', silent);
  });
}

/** etcd's reasons begin with a kind (`ALARM NOSPACE`, `RAFT NO LEADER`, `QGET ERROR:` and a text that varies). */
function wellbeingOf(status: number | undefined, text: string): string {
  if (status === 200) return 'well';
  const reason = /"reason"\s*:\s*"([A-Z ]{1,40})/.exec(text)?.[1]?.trim();
  return reason ?? `HTTP ${status}`;
}
