/** A member's probes, by what its version answers. Pure. */
import { isAtLeast } from '../api/versions/compare.ts';

type Probe = Readonly<Record<string, unknown>>;

export type Probes = {
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
};

/** The first release of 3.5 with /livez and /readyz; 3.6 and 3.7 have always had them. */
const LIVEZ_SINCE = '3.5.11';

/** The container's port name for metrics and probes. */
export const METRICS_PORT_NAME = 'metrics';

/**
 * Startup and liveness ask only whether the process works by itself, never whether there is quorum or room: a restart brings back
 * neither, and a cluster that restarts as a whole would be killed while its members wait for each other.
 * Readiness is a linearizable read; it decides who gets clients and nothing else, as members find each other while not ready.
 *
 * Before 3.5.11 the two first are a TCP connection to the metrics port: etcd opens that one when its log is replayed and its
 * server runs, whereas the client port is open from the first moment. Readiness there excludes NOSPACE, since
 * a full member still serves reads and deletes.
 *
 * Periods of a second make a new member count within a second of its start. Startup may take ten minutes and more (a large
 * database is read from disk first); a defragmentation of several GB may block liveness for two minutes.
 */
export function probesFor(version: string): Probes {
  const modern = isAtLeast(version, LIVEZ_SINCE);
  const alive = modern ? httpGet('/livez') : { tcpSocket: { port: METRICS_PORT_NAME } };
  const ready = httpGet(modern ? '/readyz' : '/health?exclude=NOSPACE');
  return {
    startupProbe: { ...alive, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 900 },
    livenessProbe: { ...alive, periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
    readinessProbe: { ...ready, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 3 },
  };
}

function httpGet(path: string): Probe {
  return { httpGet: { path, port: METRICS_PORT_NAME, scheme: 'HTTP' } };
}
