/** What happens to a fleet, in this order. */
import { creation } from './creation.ts';
import type { Section } from './figure.ts';
import type { Fleet } from './fleet.ts';
import { change, idle } from './calm.ts';
import { deletion } from './deletion.ts';
import { apiserverRestarted, operatorKilled, temporalRestarted } from './failures.ts';
import { storm } from './storm.ts';

export const PHASES = {
  create: creation,
  idle,
  change,
  storm,
  'operator-killed': operatorKilled,
  'apiserver-restarted': apiserverRestarted,
  'temporal-restarted': temporalRestarted,
  delete: deletion,
} as const satisfies Readonly<Record<string, (fleet: Fleet) => Promise<Section>>>;

export type PhaseName = keyof typeof PHASES;

export const PHASE_NAMES = Object.keys(PHASES) as PhaseName[];
