/** The dashboards. test/drill/long/alerts.drill.test.ts asks a real Prometheus each of their queries. */
import { describe, expect, test } from 'vitest';
import { DASHBOARDS, panelsOf } from '../../scripts/dashboards/catalogue.ts';
import { dashboardFile } from '../../scripts/dashboards/grafana.ts';
import { ETCD_METRICS, SDK_METRICS } from '../../scripts/alerts/foreign-metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

interface Placed {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
}
const modelOf = (dashboard: (typeof DASHBOARDS)[number]) =>
  JSON.parse(dashboardFile(dashboard)) as { readonly uid: string; readonly panels: readonly Placed[] };

/** Histograms by their parts; with what prom-client exposes of its process. */
async function ownMetrics(): Promise<string[]> {
  const types = [...(await createMetrics().text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return types.flatMap(([, name = '', type]) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map(part => `${name}${part}`) : [name],
  );
}

describe.each(DASHBOARDS)('the dashboard $name', dashboard => {
  const panels = panelsOf(dashboard);
  const queries = panels.flatMap(panel => panel.queries.map(query => ({ panel, ...query })));

  test('asks for metrics that exist', async () => {
    const known = [...(await ownMetrics()), ...ETCD_METRICS, ...SDK_METRICS, 'ALERTS'];
    const unknown = queries.flatMap(({ panel, expr }) => {
      const used = expr.match(/\b(?:(?:etcd|temporal|process)_\w+|ALERTS)(?=[{[)])/g) ?? [];
      return used.length === 0 ? [panel.title] : used.filter(name => !known.includes(name));
    });
    expect(unknown).toEqual([]);
  });

  test('uses the variables that it has, all of them, and the interval of Grafana', () => {
    const own = dashboard.variables.map(({ name }) => name);
    const used = new Set(queries.flatMap(({ expr }) => expr.match(/(?<=\$)\w+/g) ?? []));
    expect([...used].filter(name => name !== '__rate_interval').sort()).toEqual(own.sort());
  });

  test('names series by labels that the queries leave', () => {
    const missing = queries.flatMap(({ panel, expr, legend }) => {
      const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      return [...named, ...(panel.columns ?? [])]
        .filter(label => !new RegExp(`by \\([^)]*\\b${label}\\b`).test(expr))
        .map(label => `${panel.title}: ${label}`);
    });
    expect(missing).toEqual([]);
  });

  test('has panels side by side, none over another', () => {
    const { panels: placed } = modelOf(dashboard);
    expect(new Set(placed.map(({ id }) => id)).size).toBe(placed.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    const taken = new Set<string>();
    for (const { gridPos } of placed) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken).not.toContain(`${x},${y}`);
          taken.add(`${x},${y}`);
        }
    }
  });

  test('has no gap below a panel that is lower than those beside it', () => {
    const { panels: placed } = modelOf(dashboard);
    const heights = Map.groupBy(placed, ({ gridPos }) => gridPos.y);
    const uneven = [...heights.values()].filter(
      line => new Set(line.map(({ gridPos }) => gridPos.h)).size > 1,
    );
    expect(uneven).toEqual([]);
  });

  test('has limits whose colors follow each other', () => {
    const steps = [...dashboardFile(dashboard).matchAll(/"steps": (\[[^\]]*\])/g)].map(
      ([, text = '']) => JSON.parse(text) as readonly { readonly value: number | null }[],
    );
    expect(steps.length).toBeGreaterThan(3);
    for (const [lowest, ...others] of steps) {
      expect(lowest?.value).toBeNull();
      const values = others.map(({ value }) => value ?? Number.NaN);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }
  });
});

test('every dashboard has an address of its own, and leads to the other ones', () => {
  const uids = DASHBOARDS.map(({ uid }) => uid);
  expect(new Set(uids).size).toBe(uids.length);
  for (const dashboard of DASHBOARDS)
    for (const [, target] of dashboardFile(dashboard).matchAll(/"\/d\/([\w-]+)\?/g))
      expect(uids).toContain(target);
});
