/** Every dashboard. Files for Grafana, the chart's and those of deploy/monitoring, are generated from it. */
import { CLUSTER_DASHBOARD } from './cluster.ts';
import { FLEET_DASHBOARD } from './fleet.ts';
import type { Dashboard, Panel } from './panel.ts';

export const DASHBOARDS: readonly Dashboard[] = [CLUSTER_DASHBOARD, FLEET_DASHBOARD];

export const panelsOf = ({ rows }: Dashboard): readonly Panel[] => rows.flatMap(({ panels }) => panels);
