/** Connections to Temporal, and what its errors mean. */
import { Connection } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { Config } from '../config/config.ts';
import type { TemporalCertificates } from './certificates.ts';
import { retryInterceptors } from './retries.ts';

type Address = Pick<Config['temporal'], 'address'>;

/** Options that both kinds of connection take. No certificates: plain text. */
function connectionOptions(
  { address }: Address,
  certificates: TemporalCertificates | undefined,
): Pick<NativeConnectionOptions, 'address' | 'tls'> {
  return { address, tls: certificates?.tls ?? null };
}

/**
 * gRPC waits twice as long after each failure, for up to two minutes (connection-backoff.md of gRPC): after an outage of two
 * minutes nothing would reach a server that is back for another minute.
 */
const RECONNECTING = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** For signals, registration and health. Connects by itself on the first call and again within seconds after every loss. */
export function lazyConnection(temporal: Address, certificates?: TemporalCertificates): Connection {
  return Connection.lazy({
    ...connectionOptions(temporal, certificates),
    connectTimeout: '5s',
    channelArgs: RECONNECTING,
    interceptors: retryInterceptors,
  });
}

/** For the worker. Rejects within milliseconds while the server is away: `NativeConnection` does not wait. */
export function workerConnection(
  temporal: Address,
  certificates?: TemporalCertificates,
): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(temporal, certificates));
}

/** Numbers of grpc/doc/statuscodes.md that are told apart here. */
export const grpcStatus = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  unimplemented: 12,
  unauthenticated: 16,
} as const;
