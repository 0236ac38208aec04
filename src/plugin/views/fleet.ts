/** All clusters at a glance, the worst first. Pure. */
import { CALM, type State, stateOf, STATES } from '../../api/derived/state-of-cluster.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { type Line, type Span, table, toned, type Tone } from './lines.ts';

const BAD: readonly State[] = ['Unavailable', 'QuorumAtRisk', 'NotManaged', 'Unreachable', 'Failed'];

export interface FleetRow {
  readonly namespace: string;
  readonly name: string;
  readonly state: State;
  readonly ready: string;
  readonly version: string;
  /** The operation that runs; empty: none. */
  readonly operation: string;
  /** Why it is in this state. */
  readonly message: string;
}

/** One row for each cluster, worst first, then by name. */
export function fleetOf(clusters: readonly EtcdCluster[]): readonly FleetRow[] {
  return clusters
    .map(rowOf)
    .toSorted(
      (a, b) =>
        STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
        a.namespace.localeCompare(b.namespace) ||
        a.name.localeCompare(b.name),
    );
}

function rowOf(cluster: EtcdCluster): FleetRow {
  const { metadata, spec, status = {} } = cluster;
  const { state, message } = stateOf(cluster);
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    state,
    ready: status.ready ?? `0/${spec.size ?? '?'}`,
    version: status.currentVersion ?? '',
    operation: status.operation?.type ?? '',
    message,
  };
}

function toneOf(state: State): Tone {
  if (BAD.includes(state)) return 'bad';
  return CALM.includes(state) ? 'good' : 'warn';
}

/** The longest message in the table. */
const LONGEST = 120;

export function fleetLines(rows: readonly FleetRow[]): readonly Line[] {
  const troubled = rows.filter(({ state }) => !CALM.includes(state)).length;
  const cells = rows.map(
    ({ namespace, name, state, ready, version, operation, message }): readonly Span[] => [
      namespace,
      name,
      toned(state, toneOf(state)),
      ready,
      version || '-',
      operation || '-',
      message.length > LONGEST ? `${message.slice(0, LONGEST - 1)}…` : message,
    ],
  );
  return [
    ...table(['NAMESPACE', 'NAME', 'STATE', 'READY', 'VERSION', 'OPERATION', 'WHY'], cells),
    [],
    [`${rows.length} ${rows.length === 1 ? 'cluster' : 'clusters'}, ${troubled} in need of attention`],
  ];
}
