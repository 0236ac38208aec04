/** Clients of the apiserver, from the settings. */
import { API_VERSION } from '../../api/names.ts';
import type { RecordEvent } from '../../watcher/conditions/workflow-check.ts';
import { type ClosableKubeClient, createKubeClient } from '../../kube/client.ts';
import { FileCredentials, type CredentialsSource } from '../../kube/credentials.ts';
import { createEventRecorder, type EventRecorder } from '../../kube/events.ts';
import { ServerClock } from '../../kube/server-clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { WATCHER_FIELD_MANAGER } from '../../watcher/conditions/condition-writer.ts';
import type { Config } from '../config/config.ts';
import { electionTiming } from '../config/election-timing.ts';

export interface Kubernetes {
  /** Writes as the operator. */
  readonly client: ClosableKubeClient;
  /** Follows what the watcher watches, and writes as the watcher, so that its conditions have an owner of their own. */
  readonly watcherClient: ClosableKubeClient;
  /** For the election and nothing else. */
  readonly leaseClient: ClosableKubeClient;
  readonly events: EventRecorder;
  /** The time from which ages are computed. */
  readonly clock: ServerClock;
  /** After the last events are written. */
  close(): Promise<void>;
}

/** As many as renewals can be under way at once: none of them waits for another. */
const LEASE_CONNECTIONS = Math.ceil(electionTiming.renewDeadlineMs / electionTiming.patienceMs) + 1;
/** For all that passes and steps do; a namespace has half of them at most. */
const CONNECTIONS = 24;
const STATUS_CONNECTIONS = 6;
/** Lists of a start, and conditions beside them. */
const WATCHER_CONNECTIONS = 4;

/** Opens no connection by itself: an apiserver that is away does not keep the operator from starting. */
export function connectKubernetes(
  config: Pick<Config, 'kubeconfig' | 'inCluster' | 'pod'>,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): Kubernetes {
  const credentials = new FileCredentials({ source: source(config), logger });
  const clock = new ServerClock({ logger });
  const shared = { credentials, logger, report: metrics.kubeCall, clock };
  const client = createKubeClient({
    ...shared,
    connections: CONNECTIONS,
    statusConnections: STATUS_CONNECTIONS,
  });
  const watcherClient = createKubeClient({
    ...shared,
    fieldManager: WATCHER_FIELD_MANAGER,
    connections: WATCHER_CONNECTIONS,
  });
  const leaseClient = createKubeClient({ ...shared, connections: LEASE_CONNECTIONS });
  const events = createEventRecorder({ client, instance: config.pod.name, logger });
  return {
    client,
    watcherClient,
    leaseClient,
    events,
    clock,
    async close() {
      await events.flush();
      await Promise.all([client.close(), watcherClient.close(), leaseClient.close()]);
    },
  };
}

function source({ kubeconfig, inCluster }: Pick<Config, 'kubeconfig' | 'inCluster'>): CredentialsSource {
  if (kubeconfig !== undefined) return { file: kubeconfig };
  return inCluster === undefined ? 'default' : { serviceAccount: inCluster };
}

/** The way that activities and the watcher report events, on the recorder. */
export function eventSink(events: EventRecorder): RecordEvent {
  return ({ kind, namespace, name, uid }, event) =>
    events.record({ apiVersion: API_VERSION, kind, metadata: { namespace, name, uid } }, event);
}
