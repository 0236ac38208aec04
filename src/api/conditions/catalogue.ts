/**
 * Every condition that a resource of this operator can carry, with every reason it can have. Pure data: status is written
 * from it and reference documentation is generated from it. Types and reasons are stable: users write alerts on them.
 */
import { ACTIVITY_CONDITIONS } from './activities.ts';
import { BACKUP_CONDITIONS } from './backups.ts';
import { CERTIFICATE_CONDITIONS } from './certificates.ts';
import { OPERATOR_CONDITIONS } from './operator.ts';
import { READINESS_CONDITIONS } from './readiness.ts';
import { REQUEST_ACCEPTED, REQUEST_CONDITIONS } from './requests.ts';
import { RESTORE_CONDITIONS } from './restores.ts';
import { SPEC_CONDITIONS } from './specifications.ts';
import { STATE_CONDITIONS } from './state.ts';
import type { ConditionStatus, ConditionTable } from './table.ts';
import { printable } from '../values/printable.ts';

export type { ConditionStatus } from './table.ts';

/** metav1.Condition. `lastTransitionTime` is RFC 3339 in UTC and changes only with `status`. */
export type Condition = {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
};

/** In the order of the documentation. */
const TABLE = {
  ...READINESS_CONDITIONS,
  ...STATE_CONDITIONS,
  ...SPEC_CONDITIONS,
  ...CERTIFICATE_CONDITIONS,
  ...OPERATOR_CONDITIONS,
  ...ACTIVITY_CONDITIONS,
  ...BACKUP_CONDITIONS,
  ...RESTORE_CONDITIONS,
  Accepted: {
    True: { ...RESTORE_CONDITIONS.Accepted.True, ...REQUEST_ACCEPTED.True },
    Unknown: { ...RESTORE_CONDITIONS.Accepted.Unknown, ...REQUEST_ACCEPTED.Unknown },
    False: { ...RESTORE_CONDITIONS.Accepted.False, ...REQUEST_ACCEPTED.False },
  },
  ...REQUEST_CONDITIONS,
};
type Table = typeof TABLE;

export type ConditionType = keyof Table;
type ReasonsIn<By> = { readonly [Status in keyof By]: Extract<keyof By[Status], string> }[keyof By];
type Reasons = { readonly [Type in ConditionType]: ReasonsIn<Table[Type]> };
/** The reasons that a condition of type `T` can have. */
export type ReasonOf<T extends ConditionType> = Reasons[T];
export type ConditionReason = Reasons[ConditionType];

interface ConditionRow {
  readonly type: ConditionType;
  readonly status: ConditionStatus;
  readonly reason: ConditionReason;
  readonly meaning: string;
  /** Absent when nothing needs doing, or when the message says it. */
  readonly whatToDo: string | undefined;
}

/** Each row is one type with one reason; the order is that of the documentation. */
export const CONDITIONS: readonly ConditionRow[] = Object.entries<ConditionTable[string]>(TABLE).flatMap(
  ([type, by]) =>
    Object.entries(by).flatMap(([status, reasons]) =>
      Object.entries(reasons).map(
        ([reason, [meaning, whatToDo]]) => ({ type, status, reason, meaning, whatToDo }) as ConditionRow,
      ),
    ),
);

/** A condition as a decision of the planner: without the two fields that only status writing knows. */
export type ConditionFinding = {
  readonly type: ConditionType;
  readonly status: ConditionStatus;
  readonly reason: ConditionReason;
  readonly message: string;
};

/** What the watcher writes by itself, under a field manager of its own; all others are the workflows'. */
export const WATCHER_CONDITIONS: readonly string[] = Object.keys(OPERATOR_CONDITIONS);

/** The longest message that metav1.Condition allows. */
const MAX_MESSAGE_LENGTH = 32768;

/**
 * A condition with the status that its reason always has. Without a message the row's meaning is said.
 * Throws a RangeError for a pair that is not in {@link CONDITIONS}, which the type system already refuses.
 */
export function finding<T extends ConditionType>(
  type: T,
  reason: ReasonOf<T>,
  message?: string,
): ConditionFinding {
  const found = CONDITIONS.find(candidate => candidate.type === type && candidate.reason === reason);
  if (found === undefined) throw new RangeError(`no condition ${type} with reason ${reason} is declared`);
  return {
    type,
    status: found.status,
    reason,
    message: printable(message ?? found.meaning).slice(0, MAX_MESSAGE_LENGTH),
  };
}
