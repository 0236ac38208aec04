/** What a pass came to, in numbers: metrics are fed from it. */
import type { EtcdClusterStatus, LastOperation } from '../../api/schemas/types.ts';
import type { Observation } from '../../planner/model/observation.ts';
import type { RepairInPass } from '../../planner/operations/repair/in-pass.ts';

export interface PassReport {
  /** The kind of decision. */
  readonly decision: string;
  /** An operation that this pass saw end; undefined when none did. */
  readonly ended: EndedOperation | undefined;
  /** Seconds that members took that this pass first saw run another version. */
  readonly upgraded?: readonly number[];
  /** The step by which this pass repaired shared objects without an operation; undefined when it did not. */
  readonly repaired?: RepairInPass['kind'] | undefined;
}

export interface EndedOperation {
  readonly type: string;
  readonly outcome: string;
  /** Undefined when its beginning was not recorded. */
  readonly seconds: number | undefined;
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
