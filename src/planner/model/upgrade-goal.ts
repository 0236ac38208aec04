/** Which version the members are to be brought to. Where it leads is worked out in operations/upgrade/goal.ts. */

/** Why a version cannot be had: reasons of the condition UpgradeBlocked. */
export const REFUSALS = [
  'VersionsDiffer',
  'VersionUnsupported',
  'ForbiddenVersion',
  'SkipsMinor',
  'BelowFloor',
  'AcrossMinorDown',
  'AuthEnabled',
  'SettingsGone',
  'ClusterVersionBehind',
] as const;
export type Refusal = (typeof REFUSALS)[number];

export interface Goal {
  readonly kind: 'go';
  readonly from: string;
  readonly to: string;
  /** The versions that come after `to`. */
  readonly after: readonly string[];
  /** What people should know of it. */
  readonly notes: readonly string[];
}

export type UpgradeGoal =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly message: string }
  | Goal;
