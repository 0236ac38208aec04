/** What a pass came to, in numbers, for whoever counts: metrics are fed from it. */
import type { EtcdClusterStatus, LastOperation } from '../../api/schemas/types.ts';
import type { Observation } from '../../planner/model/observation.ts';
import { quorum } from '../../planner/checks/quorum.ts';
import type { ClusterRef } from './cluster-reference.ts';

export interface PassReport {
  readonly cluster: ClusterRef;
  /** The kind of decision. */
  readonly decision: string;
  /** Undefined: the resource is gone. */
  readonly figures: ClusterFigures | undefined;
  /** An operation that this pass saw end; undefined when none did. */
  readonly ended: EndedOperation | undefined;
  /** Seconds that members took that this pass first saw run another version. */
  readonly upgraded?: readonly number[];
}

export interface ClusterFigures {
  /** Members asked for. */
  readonly size: number;
  /** Members by health, as status says it. */
  readonly members: Readonly<Record<'Healthy' | 'Unhealthy' | 'Unknown', number>>;
  /** Whether the condition Available is True. */
  readonly available: boolean;
  /** Healthy voters beyond the quorum: how many more may fail. Negative without quorum, undefined without members. */
  readonly quorumMargin: number | undefined;
  /** Bytes of the largest database of a member; undefined when none answered. */
  readonly dbSize: number | undefined;
  /** Bytes that a database may hold. */
  readonly quota: number;
  /** Whether a linearizable read went through in this pass. */
  readonly read: boolean;
  /** Seconds since the epoch: when the first of its certificates expires. Absent in plain text. */
  readonly certificateExpiry?: number | undefined;
}

export interface EndedOperation {
  readonly type: string;
  readonly outcome: string;
  /** Undefined when its beginning was not recorded. */
  readonly seconds: number | undefined;
}

/** The figures of one cluster, from what was seen and the status that was written for it. */
export function figuresOf(observation: Observation, status: EtcdClusterStatus): ClusterFigures {
  const details = status.members?.details ?? [];
  const count = (health: string): number => details.filter(member => member.health === health).length;
  const sizes = details.flatMap(member => (member.dbSize === undefined ? [] : [member.dbSize]));
  return {
    size: observation.cluster.config.size,
    members: { Healthy: count('Healthy'), Unhealthy: count('Unhealthy'), Unknown: count('Unknown') },
    available:
      status.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false,
    quorumMargin: quorumMarginOf(observation, status),
    dbSize: sizes.length === 0 ? undefined : Math.max(...sizes),
    quota: observation.cluster.config.etcd.quotaBackendBytes,
    read: Object.values(observation.probes).some(probe => probe.answered && probe.read.ok),
    ...expiryOf(status),
  };
}

function expiryOf({ tls }: EtcdClusterStatus): Pick<ClusterFigures, 'certificateExpiry'> {
  const ends = (tls?.certificates ?? []).flatMap(({ notAfter }) =>
    notAfter === undefined ? [] : [Date.parse(notAfter) / 1000],
  );
  return ends.length === 0 ? {} : { certificateExpiry: Math.min(...ends) };
}

function quorumMarginOf({ membership }: Observation, status: EtcdClusterStatus): number | undefined {
  const details = status.members?.details ?? [];
  const voting = details.filter(member => member.role !== 'Learner');
  const voters = membership.known
    ? membership.members.filter(member => !member.isLearner).length
    : voting.length;
  if (voters === 0) return undefined;
  return voting.filter(member => member.health === 'Healthy').length - quorum(voters);
}

/** The operation that ended between two statuses of a cluster. */
export function endedOperation(
  before: EtcdClusterStatus,
  after: EtcdClusterStatus,
): EndedOperation | undefined {
  const ended = after.lastOperation;
  if (ended === undefined || isSame(ended, before.lastOperation)) return undefined;
  const { type, outcome, startedAt, completedAt } = ended;
  const seconds =
    startedAt === undefined || completedAt === undefined
      ? undefined
      : (Date.parse(completedAt) - Date.parse(startedAt)) / 1000;
  return { type, outcome, seconds };
}

/** Of each member whose version changed between two passes: seconds from its restart until it was ready. */
export function upgradedMembers(
  { cluster, pods }: Observation,
  { members }: EtcdClusterStatus,
): readonly number[] {
  const before = cluster.status.members?.details ?? [];
  return (members?.details ?? []).flatMap(({ name, version }) => {
    const was = before.find(member => member.name === name)?.version;
    const pod = pods.find(candidate => candidate.owned && candidate.name === name);
    if (was === undefined || version === undefined || was === version || pod === undefined) return [];
    const { createdAt, imageReplacedAt = createdAt, readyChangedAt } = pod;
    const begun = Math.max(createdAt, imageReplacedAt);
    return readyChangedAt === undefined || readyChangedAt < begun ? [] : [(readyChangedAt - begun) / 1_000];
  });
}

function isSame(one: LastOperation, other: LastOperation | undefined): boolean {
  return (
    one.type === other?.type && one.startedAt === other.startedAt && one.completedAt === other.completedAt
  );
}
