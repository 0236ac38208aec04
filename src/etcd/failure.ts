/** One translation from what grpc and etcd say to why a call failed. */
import { status } from '@grpc/grpc-js';
import { printable } from '../api/values/printable.ts';
import { EtcdError, type EtcdErrorCode } from './port.ts';
import { messageOf } from '../api/values/message-of.ts';

/** etcd's own words (api/v3rpc/rpctypes/error.go), where the grpc code says less: most of these arrive as UNAVAILABLE. */
const SAID_BY_ETCD: readonly (readonly [pattern: RegExp, code: EtcdErrorCode])[] = [
  [/rpc not supported for learner/, 'learner'],
  [/etcdserver: (no leader|leader changed)/, 'no-leader'],
  [/etcdserver: request timed out/, 'timeout'],
  [
    /unhealthy cluster|not enough started members|in sync with leader|too many learner|can only promote a learner/,
    'refused',
  ],
  [/downgrade job in progress|invalid downgrade target version|inflight downgrade/, 'refused'],
  [/database space exceeded/, 'no-space'],
  [/etcdserver: member not found/, 'not-found'],
  [/user name is empty|authentication failed|invalid auth token|permission denied/, 'denied'],
  [/etcdserver: server stopped/, 'unreachable'],
  [/^etcdserver: /, 'other'],
];

const BY_GRPC_CODE: Readonly<Partial<Record<status, EtcdErrorCode>>> = {
  [status.UNAVAILABLE]: 'unreachable',
  [status.DEADLINE_EXCEEDED]: 'timeout',
  [status.UNAUTHENTICATED]: 'denied',
  [status.PERMISSION_DENIED]: 'denied',
};

/** What a member says goes into histories, events and conditions; a sentence of etcd's is far shorter. */
const LONGEST_SAID = 500;

/** How grpc-js reports a connection that broke under a call: as an internal error, not as an unavailable server. */
const BROKEN_CONNECTION = /RST_STREAM|ECONNRESET|EPIPE|Connection dropped/;

/** grpc's code, where there is one, and etcd's words: read out of the message, since etcd3 drops the code. */
export function outcomeOf(error: unknown): { readonly code?: status; readonly details: string } {
  const message = messageOf(error);
  const [, number, details] = /^(?:\w+: )?(\d+) [A-Z_]+: (.*)$/s.exec(message) ?? [];
  // grpc-js ends some texts with an empty note on name resolution.
  const said = (details ?? message).replace(/\s*Resolution note:\s*$/, '');
  return { ...(number !== undefined && { code: Number(number) }), details: said };
}

/**
 * The failure of a call in our own terms; an `EtcdError` stays as it is.
 */
export function toEtcdError(
  error: unknown,
  call: { readonly what: string; readonly address: string },
): EtcdError {
  if (error instanceof EtcdError) return error;
  const { code: grpcCode, details: said } = outcomeOf(error);
  const code = classify(grpcCode, said);
  const shown = printable(said.length > LONGEST_SAID ? `${said.slice(0, LONGEST_SAID)}…` : said);
  return new EtcdError(code, `${call.what} of the member at ${call.address} failed: ${shown}`);
}

function classify(grpcCode: status | undefined, details: string): EtcdErrorCode {
  const said = SAID_BY_ETCD.find(([pattern]) => pattern.test(details));
  if (said !== undefined) return said[1];
  if (grpcCode === undefined) return 'other';
  if (grpcCode === status.INTERNAL && BROKEN_CONNECTION.test(details)) return 'unreachable';
  return BY_GRPC_CODE[grpcCode] ?? 'other';
}
