/** How the tables of conditions are written. Pure. */

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** A condition of one type, for one reason, always has the same status. */
export type Row<Type extends string = string, Reason extends string = string> = {
  readonly type: Type;
  readonly reason: Reason;
  readonly status: ConditionStatus;
  readonly meaning: string;
  /** Empty when nothing needs doing. */
  readonly whatToDo: string;
};

/** Status, meaning, what to do. */
type Cells = readonly [status: ConditionStatus, meaning: string, whatToDo: string];

/** The rows of one type: reason to cells, in the order in which they are documented. */
export function rows<const Type extends string, const Reasons extends Readonly<Record<string, Cells>>>(
  type: Type,
  reasons: Reasons,
): readonly Row<Type, Extract<keyof Reasons, string>>[] {
  const names = Object.keys(reasons) as Extract<keyof Reasons, string>[];
  return names.map(reason => {
    const [status, meaning, whatToDo] = reasons[reason] as Cells;
    return { type, reason, status, meaning, whatToDo };
  });
}
