/** The queries of dashboards, as Grafana sends them. */
import { DASHBOARDS, panelsOf } from '../../scripts/dashboards/catalogue.ts';
import type { Panel } from '../../scripts/dashboards/panel.ts';

interface Asked {
  /** Dashboard, panel and number of the query, for users. */
  readonly name: string;
  readonly panel: Panel;
  readonly expr: string;
}

/**
 * Every query with values in the place of variables.
 * @param variables by name; what Grafana itself fills in too
 */
export function dashboardQueries(variables: Readonly<Record<string, string>>): readonly Asked[] {
  return DASHBOARDS.flatMap(dashboard =>
    panelsOf(dashboard).flatMap(panel =>
      panel.queries.map(({ expr }, index) => ({
        name: `${dashboard.name}: ${panel.title} (${index + 1})`,
        panel,
        expr: expr.replaceAll(/\$(\w+)/g, (_, name: string) => {
          const value = variables[name];
          if (value === undefined) throw new Error(`${panel.title}: no value of $${name} is given`);
          return value;
        }),
      })),
    ),
  );
}
