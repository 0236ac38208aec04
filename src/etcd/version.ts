/** etcd reports its versions over HTTP only, on the port of its clients; grpc knows but the program's own. */
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { plausibleVersion } from './plausible.ts';
import type { MemberVersion } from './answers.ts';
import { EtcdError, type MemberTarget } from './port.ts';

/** The answer is some eighty bytes. */
const MAX_BYTES = 4_096;
/** What etcd says before the cluster has agreed on a version. */
const NOT_DECIDED = 'not_decided';

/** GET /version. Fails with an EtcdError; `deadline` is in milliseconds since 1970. */
export async function readVersion(
  target: MemberTarget,
  deadline: number,
): Promise<Omit<MemberVersion, 'downgrade'>> {
  const text = await get(target, '/version', AbortSignal.timeout(Math.max(1, deadline - Date.now())));
  const said = parse(text);
  if (typeof said['etcdserver'] !== 'string') {
    throw new EtcdError('other', `version of the member at ${target.host}: the answer is not etcd's`);
  }
  return {
    server: plausibleVersion(said['etcdserver']),
    cluster: known(said['etcdcluster']),
    storage: known(said['storage']),
  };
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function known(version: unknown): string | undefined {
  const isSaid = typeof version === 'string' && version !== '' && version !== NOT_DECIDED;
  return isSaid ? plausibleVersion(version) : undefined;
}

function get(
  { host, port, serverName, tls }: MemberTarget,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  // One request, one connection: nothing of it is kept.
  const options = { host, port, path, signal, agent: false as const };
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const answered = (response: IncomingMessage): void => {
      isAnswered = true;
      read(response).then(resolve, reject);
    };
    const sent =
      tls === undefined
        ? requestPlain(options, answered)
        : requestSecure({ ...options, ...tls, servername: serverName }, answered);
    const failed = (error: Error): void => reject(failure(error, { host, timedOut: signal.aborted }));
    sent.once('error', failed);
    // Who switches protocols gives neither an answer nor an error.
    sent.once('close', () => {
      if (!isAnswered) failed(new Error('the connection was closed without an answer'));
    });
    sent.end();
  });
}

async function read(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_BYTES) break;
  }
  if (response.statusCode === 200) return text;
  throw new EtcdError('other', `version was answered with HTTP status ${response.statusCode}`);
}

function failure(error: Error, { host, timedOut }: { host: string; timedOut: boolean }): EtcdError {
  const what = `version of the member at ${host} failed`;
  return timedOut
    ? new EtcdError('timeout', `${what}: Deadline exceeded`)
    : new EtcdError('unreachable', `${what}: ${error.message}`);
}
