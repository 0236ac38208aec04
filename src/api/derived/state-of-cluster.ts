/** How a cluster is, in one word and for one reason, from what its status says. Pure. */
import { conditionOf, conditionThat, wantsUser } from '../conditions/advice.ts';
import type { Condition } from '../conditions/catalogue.ts';
import type { EtcdClusterStatus } from '../schemas/types.ts';

/** What is read of an EtcdCluster. */
export interface Judged {
  readonly metadata: { readonly generation?: number | undefined };
  readonly status?: EtcdClusterStatus | undefined;
}

/** How a cluster is, from worst to best. */
export const STATES = [
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
export type State = (typeof STATES)[number];

/** Nobody is waited for. */
export const CALM: readonly State[] = ['InProgress', 'Hibernated', 'OK'];

export interface Found {
  readonly state: State;
  /** The reason of the condition that says so; the state itself where none does. */
  readonly reason: string;
  readonly message: string;
}

type Rule = (cluster: Judged) => Found | undefined;

/** A rule: the cluster has the condition that {@link conditionThat} finds. */
const has =
  (state: State, condition: string, reason?: string): Rule =>
  ({ status: { conditions = [] } = {} }) => {
    const found = conditionThat(conditions, condition, reason);
    return found && { state, reason: found.reason, message: found.message };
  };

/** The reasons of Available=False that are as they should be. */
const EXPECTED = ['Creating', 'Hibernated', 'Restoring', 'Deleting', 'MembersChanging'];
/** Those that say only that nothing was created: why is said elsewhere. */
const NOT_CREATED = ['NotCreated', 'FormerCluster', 'TakeUpRefused'];

const isUnavailable: Rule = cluster => {
  const found = conditionOf(cluster.status ?? {}, 'Available');
  if (found?.status !== 'False' || [...EXPECTED, ...NOT_CREATED].includes(found.reason)) return undefined;
  return { state: 'Unavailable', reason: found.reason, message: found.message };
};

const isAtRisk: Rule = cluster =>
  conditionThat(cluster.status?.conditions ?? [], 'QuorumAtRisk=True', 'MembersChanging') === undefined
    ? has('QuorumAtRisk', 'QuorumAtRisk=True')(cluster)
    : undefined;

/** The conditions that say that the specification cannot be carried out, and why. */
const REFUSALS: readonly Rule[] = [
  has('Blocked', 'SpecValid=False'),
  has('Blocked', 'VersionSupported=False'),
  has('Blocked', 'UpgradeBlocked=True'),
];

const isRefused: Rule = cluster => firstOf(REFUSALS, cluster);

const hasFailed: Rule = cluster => {
  const { status } = cluster;
  if (status?.phase !== 'Failed') return undefined;
  const said = isRefused(cluster) ?? has('Failed', 'Available=False')(cluster);
  return { state: 'Failed', reason: said?.reason ?? 'Failed', message: status.reason ?? said?.message ?? '' };
};

const isUnseen: Rule = ({ metadata, status }) =>
  status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation
    ? {
        state: 'NotSeenYet',
        reason: 'NotSeenYet',
        message: 'the operator has not taken up the specification yet',
      }
    : undefined;

const isWorkedOn: Rule = ({ status }) =>
  status?.operation === undefined
    ? undefined
    : {
        state: 'InProgress',
        reason: status.operation.type,
        message: status.operation.message || (status.operation.step ?? ''),
      };

const wantsAttention: Rule = ({ status }) => {
  const found = status?.conditions?.find((condition: Condition) => wantsUser(condition));
  return found === undefined
    ? undefined
    : { state: 'Attention', reason: found.reason, message: `${found.reason}: ${found.message}` };
};

/** The first that finds something says how the cluster is. */
const RULES: readonly Rule[] = [
  isUnavailable,
  isAtRisk,
  has('NotManaged', 'TemporalUnavailable=True'),
  has('NotManaged', 'WorkflowStuck=True'),
  has('NotManaged', 'PassFailing=True'),
  has('Unreachable', 'Available=Unknown'),
  hasFailed,
  has('NeedsApproval', 'Progressing=False', 'AwaitingApproval'),
  has('Hibernated', 'Available=False', 'Hibernated'),
  has('Unhealthy', 'DataCorrupt=True'),
  has('Unhealthy', 'Healthy=False', 'AlarmRaised'),
  has('Paused', 'Paused=True'),
  isRefused,
  has('Blocked', 'Progressing=False', 'Blocked'),
  isUnseen,
  isWorkedOn,
  has('InProgress', 'Available=False'),
  has('InProgress', 'Healthy=False', 'MembersChanging'),
  has('Unhealthy', 'Healthy=False'),
  has('Unhealthy', 'Healthy=Unknown'),
  has('InProgress', 'Progressing=False', 'Waiting'),
  wantsAttention,
];

/** How the cluster is. */
export function stateOf(cluster: Judged): Found {
  return firstOf(RULES, cluster) ?? { state: 'OK', reason: 'OK', message: '' };
}

/** What somebody should see to, in one word, such as AwaitingApproval; undefined: nothing. */
export function attentionOf(cluster: Judged): string | undefined {
  const { state, reason } = stateOf(cluster);
  return CALM.includes(state) ? undefined : reason;
}

function firstOf(rules: readonly Rule[], cluster: Judged): Found | undefined {
  for (const rule of rules) {
    const found = rule(cluster);
    if (found !== undefined) return found;
  }
  return undefined;
}
