import type { Database } from './postgres.ts';
import { connectAttributes, PLUGIN } from './schema.ts';

/** The ports of Temporal's services; all but the frontend's are for each other. */
export interface ServerPorts {
  readonly frontend: number;
  readonly history: number;
  readonly matching: number;
  readonly worker: number;
  /** By which the services find each other, in the same order. */
  readonly membership: readonly [number, number, number, number];
}

export interface ServerSettings {
  readonly database: Database;
  readonly ports: ServerPorts;
  /** Whether the frontend listens on every address of its network, or on 127.0.0.1 alone. */
  readonly everywhere: boolean;
  /** A file of dynamic configuration; the server reads it again every ten seconds. */
  readonly dynamicConfig?: string;
  /** Address for the server's metrics; none without it. */
  readonly metrics?: string;
  /** Who is let in; everybody without it. */
  readonly authorization?: Authorization;
}

/** Temporal's own authorizer, which lets in who has a token (JWT) with a right for the namespace. */
interface Authorization {
  /** Where the keys are that sign tokens (JWKS). */
  readonly keysUrl: string;
  /** Ports of the frontend that Temporal's services use themselves, which have no token. */
  readonly internalFrontend: { readonly grpc: number; readonly membership: number };
}

/** It cannot be changed later: enough for a few thousand clusters, and few enough for one small machine. */
const HISTORY_SHARDS = 16;

function store(database: Database, name: string, connections: number): object {
  return {
    sql: {
      pluginName: PLUGIN,
      databaseName: name,
      connectAddr: 'localhost:5432',
      connectProtocol: 'tcp',
      connectAttributes: connectAttributes(database),
      user: 'temporal',
      maxConns: connections,
      maxIdleConns: connections,
      maxConnLifetime: '1h',
    },
  };
}

function services({ ports, everywhere, authorization }: ServerSettings): object {
  const [frontend, history, matching, worker] = ports.membership;
  const local = (grpcPort: number, membershipPort: number): object => ({
    rpc: { grpcPort, membershipPort, bindOnLocalHost: true },
  });
  const open = { rpc: { grpcPort: ports.frontend, membershipPort: frontend, bindOnIP: '0.0.0.0' } };
  return {
    frontend: everywhere ? open : local(ports.frontend, frontend),
    history: local(ports.history, history),
    matching: local(ports.matching, matching),
    worker: local(ports.worker, worker),
    ...(authorization && {
      'internal-frontend': local(
        authorization.internalFrontend.grpc,
        authorization.internalFrontend.membership,
      ),
    }),
  };
}

function authorizer({ keysUrl }: Authorization): object {
  const jwtKeyProvider = { keySourceURIs: [keysUrl], refreshInterval: '1m' };
  return { authorization: { authorizer: 'default', claimMapper: 'default', jwtKeyProvider } };
}

/**
 * The configuration of a server with every service in one process. It is tuned in nothing: the operator has to get along
 * with the server that users install. JSON, which is YAML.
 */
export function serverConfig(settings: ServerSettings): string {
  const { database, ports, dynamicConfig, metrics, authorization } = settings;
  const frontend = `127.0.0.1:${ports.frontend}`;
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: {
        default: store(database, 'temporal', 20),
        visibility: store(database, 'temporal_visibility', 10),
      },
    },
    global: {
      membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' },
      ...(metrics === undefined
        ? {}
        : { metrics: { prometheus: { timerType: 'histogram', listenAddress: metrics } } }),
      ...(authorization && authorizer(authorization)),
    },
    services: services(settings),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: frontend },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    // The server refuses to start with both.
    ...(authorization ? {} : { publicClient: { hostPort: frontend } }),
    ...(dynamicConfig === undefined
      ? {}
      : { dynamicConfigClient: { filepath: dynamicConfig, pollInterval: '10s' } }),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
