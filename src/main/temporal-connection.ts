/** Connections to Temporal, and what its errors mean. */
import { readFileSync } from 'node:fs';
import { Connection } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { Config, TemporalTls } from './config.ts';
import { retryInterceptors } from './temporal-retries.ts';

/** Options that both kinds of connection take. Reads the TLS files, so a new connection sees rotated ones. */
export function connectionOptions(
  temporal: Config['temporal'],
): Pick<NativeConnectionOptions, 'address' | 'tls'> {
  return { address: temporal.address, tls: temporal.tls === undefined ? null : tlsOptions(temporal.tls) };
}

function tlsOptions(tls: TemporalTls): Exclude<NativeConnectionOptions['tls'], boolean | null | undefined> {
  const { caFile, certFile, keyFile, serverName } = tls;
  return {
    ...(caFile === undefined ? {} : { serverRootCACertificate: readFileSync(caFile) }),
    ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    ...(certFile === undefined || keyFile === undefined
      ? {}
      : { clientCertPair: { crt: readFileSync(certFile), key: readFileSync(keyFile) } }),
  };
}

/**
 * gRPC waits twice as long after each failure, for up to two minutes (connection-backoff.md of gRPC): after an outage of two
 * minutes nothing would reach a server that is back for another minute.
 */
const RECONNECTING = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2_000 };

/** For signals, registration and health. Connects by itself on the first call and again within seconds after every loss. */
export function lazyConnection(temporal: Config['temporal']): Connection {
  return Connection.lazy({
    ...connectionOptions(temporal),
    connectTimeout: '5s',
    channelArgs: RECONNECTING,
    interceptors: retryInterceptors,
  });
}

/** For the worker. Rejects within milliseconds while the server is away: `NativeConnection` does not wait. */
export function workerConnection(temporal: Config['temporal']): Promise<NativeConnection> {
  return NativeConnection.connect(connectionOptions(temporal));
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
