/** Everything that histories are recorded of. */
import { backupHistories } from './backups.ts';
import { clusterHistories } from './clusters.ts';
import { longHistories } from './long.ts';
import type { Scenario } from './scenario.ts';

export const SCENARIOS: readonly Scenario[] = [...clusterHistories, ...backupHistories, ...longHistories];
