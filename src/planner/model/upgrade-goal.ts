/** Which version the members are to be brought to. Where it leads is worked out in operations/upgrade/goal.ts. */

import type { VERSION_REFUSALS } from '../../api/obstacles/upgrades.ts';

/** Why a version cannot be had. */
export type UpgradeRefusal = keyof typeof VERSION_REFUSALS;

export interface Goal {
  readonly kind: 'go';
  readonly from: string;
  readonly to: string;
  /** The versions that come after `to`. */
  readonly after: readonly string[];
  /** What users should know of it. */
  readonly notes: readonly string[];
}

export type UpgradeGoal =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly reason: UpgradeRefusal; readonly message: string }
  | Goal;
