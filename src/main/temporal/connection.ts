/** Connections to Temporal, and what its errors mean. */
import { Connection } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { Config } from '../config/config.ts';
import type { TemporalCredentials } from './credentials.ts';
import { retryInterceptors } from './retries.ts';

type Place = Pick<Config['temporal'], 'address' | 'namespace'>;
type ConnectionCredentials = Pick<TemporalCredentials, 'tls' | 'apiKey'>;

/** Plain text, and no key. */
const NONE: ConnectionCredentials = { tls: undefined, apiKey: undefined };

/**
 * Options that both kinds of connection take. `tls` is never left out: with an API key both would then use TLS by themselves, also
 * where it is switched off. The header is what Temporal Cloud finds the namespace by at the endpoint of a region. The libraries
 * send it with calls that name a namespace, but not with those of the other services, and not when they connect.
 */
function connectionOptions(
  { address, namespace }: Place,
  { tls, apiKey }: ConnectionCredentials,
): Pick<NativeConnectionOptions, 'address' | 'tls' | 'apiKey' | 'metadata'> {
  return {
    address,
    tls: tls ?? false,
    metadata: { 'temporal-namespace': namespace },
    ...(apiKey !== undefined && { apiKey }),
  };
}

/**
 * gRPC waits twice as long after each failure, for up to two minutes (connection-backoff.md of gRPC): after an outage of two
 * minutes nothing would reach a server that is back for another minute.
 */
const RECONNECTING = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** For signals, registration and health. Connects by itself on the first call and again within seconds after every loss. */
export function lazyConnection(temporal: Place, credentials = NONE): Connection {
  return Connection.lazy({
    ...connectionOptions(temporal, credentials),
    connectTimeout: '5s',
    channelArgs: RECONNECTING,
    interceptors: retryInterceptors,
  });
}

/** For the worker. Rejects within milliseconds while the server is away: `NativeConnection` does not wait. */
export function workerConnection(temporal: Place, credentials = NONE): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(temporal, credentials));
}

/** Numbers of grpc/doc/statuscodes.md that are distinguished here. */
export const grpcStatus = {
  invalidArgument: 3,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  unimplemented: 12,
  unauthenticated: 16,
} as const;
