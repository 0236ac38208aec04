/** Writes the dashboards for Grafana. */
import { CHART } from './chart/values.ts';
import { DASHBOARDS } from './dashboards/catalogue.ts';
import { dashboardFile } from './dashboards/grafana.ts';

/** The generated files: path from the root of the checkout to content. The same input gives the same bytes. */
export function generateDashboards(): Map<string, string> {
  return new Map(
    DASHBOARDS.flatMap(dashboard =>
      ['deploy/monitoring', `${CHART}/files`].map((folder): [string, string] => [
        `${folder}/dashboards/${dashboard.name}.json`,
        dashboardFile(dashboard),
      ]),
    ),
  );
}
