/** How conditions are written. Pure. */
import type { ReasonRows } from '../obstacles/rows.ts';

export type ConditionStatus = 'True' | 'False' | 'Unknown';

/** Type to status to reason: a condition of one type, for one reason, always has the same status. */
export type ConditionTable = Readonly<Record<string, { readonly [Status in ConditionStatus]?: ReasonRows }>>;
