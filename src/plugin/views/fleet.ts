/** All clusters at a glance, the worst first. Pure. */
import type { Condition } from '../../api/conditions/catalogue.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { conditionOf, wantsPerson } from './conditions.ts';
import { type Line, type Span, table, toned, type Tone } from './lines.ts';

/** How a cluster is, from worst to best. */
const STATES = [
  'Unavailable',
  'QuorumAtRisk',
  'NotManaged',
  'Unreachable',
  'Failed',
  'NeedsApproval',
  'Blocked',
  'Unhealthy',
  'NotSeenYet',
  'InProgress',
  'Paused',
  'Attention',
  'Hibernated',
  'OK',
] as const;
type State = (typeof STATES)[number];

const CALM: readonly State[] = ['InProgress', 'Hibernated', 'OK'];
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

interface Found {
  readonly state: State;
  readonly message: string;
}

type Rule = (cluster: EtcdCluster) => Found | undefined;

/** A rule: the cluster has this condition with this status, such as `QuorumAtRisk=True`, and for this reason if one is named. */
const has =
  (state: State, condition: string, reason?: string): Rule =>
  ({ status: { conditions = [] } = {} }) => {
    const found = conditions.find(({ type, status }) => `${type}=${status}` === condition);
    const isIt = found !== undefined && (reason === undefined || found.reason === reason);
    return isIt ? { state, message: found.message } : undefined;
  };

/** The reasons of Available=False that are as they should be. */
const EXPECTED = ['Creating', 'Hibernated', 'Restoring', 'Deleting'];

const isUnavailable: Rule = cluster => {
  const found = conditionOf(cluster.status ?? {}, 'Available');
  if (found?.status !== 'False' || EXPECTED.includes(found.reason)) return undefined;
  return { state: 'Unavailable', message: found.message };
};

const hasFailed: Rule = ({ status }) =>
  status?.phase === 'Failed' ? { state: 'Failed', message: status.reason ?? '' } : undefined;

const isUnseen: Rule = ({ metadata, status }) =>
  status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation
    ? { state: 'NotSeenYet', message: 'the operator has not taken up the specification yet' }
    : undefined;

const isWorkedOn: Rule = ({ status }) =>
  status?.operation === undefined
    ? undefined
    : { state: 'InProgress', message: status.operation.message || (status.operation.step ?? '') };

const wantsAttention: Rule = ({ status }) => {
  const found = status?.conditions?.find((condition: Condition) => wantsPerson(condition));
  return found === undefined
    ? undefined
    : { state: 'Attention', message: `${found.reason}: ${found.message}` };
};

/** The first that finds something says how the cluster is. */
const RULES: readonly Rule[] = [
  isUnavailable,
  has('QuorumAtRisk', 'QuorumAtRisk=True'),
  has('NotManaged', 'TemporalUnavailable=True'),
  has('NotManaged', 'WorkflowStuck=True'),
  has('NotManaged', 'PassFailing=True'),
  has('Unreachable', 'Available=Unknown'),
  hasFailed,
  has('NeedsApproval', 'Progressing=False', 'AwaitingApproval'),
  has('Hibernated', 'Available=False', 'Hibernated'),
  has('Paused', 'Paused=True'),
  has('Blocked', 'Progressing=False', 'Blocked'),
  isUnseen,
  isWorkedOn,
  has('InProgress', 'Available=False'),
  has('Unhealthy', 'Healthy=False'),
  has('Unhealthy', 'Healthy=Unknown'),
  wantsAttention,
];

function stateOf(cluster: EtcdCluster): Found {
  for (const rule of RULES) {
    const found = rule(cluster);
    if (found !== undefined) return found;
  }
  return { state: 'OK', message: '' };
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
