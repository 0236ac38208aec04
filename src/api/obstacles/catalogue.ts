/**
 * Every reason for which the operator does not continue with its work. Pure data: a decision carries one of them, conditions take theirs
 * from here, and reference documentation is generated from it. Reasons are stable: users write alerts on them.
 */
import { RENEWAL_OBSTACLES, TLS_OBSTACLES } from './certificates.ts';
import { DATA_OBSTACLES } from './data.ts';
import { MEMBER_OBSTACLES } from './members.ts';
import { REQUEST_OBSTACLES } from './requests.ts';
import { RESTORE_OBSTACLES } from './restores.ts';
import { UPGRADE_OBSTACLES } from './upgrades.ts';
import type { ReasonRows } from './rows.ts';

/** In the order of the documentation. */
export const OBSTACLE_GROUPS = {
  'Requests and specifications': REQUEST_OBSTACLES,
  Members: MEMBER_OBSTACLES,
  'Claims and data': DATA_OBSTACLES,
  Certificates: { ...TLS_OBSTACLES, ...RENEWAL_OBSTACLES },
  Upgrades: UPGRADE_OBSTACLES,
  Restores: RESTORE_OBSTACLES,
};

type Groups = typeof OBSTACLE_GROUPS;

export type ObstacleReason = { [Group in keyof Groups]: keyof Groups[Group] }[keyof Groups];

/** The same without groups. */
export const OBSTACLES = Object.assign({}, ...Object.values(OBSTACLE_GROUPS)) as Readonly<
  Record<ObstacleReason, ReasonRows[string]>
>;
