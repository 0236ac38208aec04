/** Dashboards as Grafana reads them: its classic JSON model, which Grafana 9 and later import. */
import { CLUSTER_DASHBOARD } from './cluster.ts';
import type { Dashboard, Limits, Panel, Row, Variable } from './panel.ts';

const COLUMNS = 24;
const HEIGHTS = { value: 4, graph: 8, table: 8 } as const;
const TYPES = { value: 'stat', graph: 'timeseries', table: 'table' } as const;
/** The reader of the dashboard chooses one. */
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

/** The content of the file of a dashboard. The same input gives the same bytes. */
export function dashboardFile(dashboard: Dashboard): string {
  return `${JSON.stringify(modelOf(dashboard), undefined, 2)}\n`;
}

function modelOf({ uid, title, description, variables, rows }: Dashboard): object {
  return {
    uid,
    title,
    description,
    tags: ['etcd', 'etcd-operator'],
    schemaVersion: 38,
    editable: true,
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    refresh: '1m',
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
        ...variables.map(variableOf),
      ],
    },
    links: [
      {
        title: 'etcd dashboards',
        type: 'dashboards',
        tags: ['etcd-operator'],
        asDropdown: true,
        keepTime: true,
      },
    ],
    panels: placed(rows),
  };
}

function variableOf({ name, title, metric, label, several }: Variable): object {
  const query = `label_values(${metric}, ${label})`;
  return {
    name,
    label: title,
    type: 'query',
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: name },
    // When the time range changes: what was deleted is found in the past.
    refresh: 2,
    sort: 1,
    ...(several
      ? { multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } }
      : { multi: false, includeAll: false }),
  };
}

/** Rows from top to bottom, panels of a row from left to right, and below where there is no more room. */
function placed(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const line of linesOf(own)) {
      let x = 0;
      // As high as the highest beside it: a gap would look like a panel that is missing.
      const h = Math.max(...line.map(({ kind }) => HEIGHTS[kind]));
      for (const panel of line) {
        panels.push({ id: panels.length + 1, ...panelOf(panel), gridPos: { x, y, w: panel.width, h } });
        x += panel.width;
      }
      y += h;
    }
  }
  return panels;
}

/** Panels that have room side by side. */
function linesOf(panels: readonly Panel[]): readonly (readonly Panel[])[] {
  const lines: Panel[][] = [[]];
  let room = COLUMNS;
  for (const panel of panels) {
    if (panel.width > room) {
      lines.push([]);
      room = COLUMNS;
    }
    lines.at(-1)?.push(panel);
    room -= panel.width;
  }
  return lines;
}

function panelOf(panel: Panel): object {
  const { title, description, kind, unit, queries, limits } = panel;
  return {
    type: TYPES[kind],
    title,
    description,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(kind === 'graph' ? { range: true } : { instant: true, range: false }),
      ...(kind === 'table' ? { format: 'table' } : {}),
    })),
    fieldConfig: {
      defaults: {
        unit,
        ...(limits === undefined
          ? {}
          : {
              color: { mode: kind === 'value' ? 'thresholds' : 'palette-classic' },
              thresholds: thresholdsOf(limits),
            }),
        ...(kind === 'graph' && limits !== undefined
          ? { custom: { thresholdsStyle: { mode: 'dashed' } } }
          : {}),
      },
      overrides: panel.linked === true ? [LINKED] : [],
    },
    options: optionsOf(panel),
    ...(kind === 'table' ? { transformations: [columnsOf(panel.columns ?? [])] } : {}),
  };
}

/** Colors from below: one holds from its value on. */
function thresholdsOf(limits: Limits): object {
  const steps =
    'red' in limits
      ? [
          { color: 'green', value: null },
          ...(limits.yellow === undefined ? [] : [{ color: 'yellow', value: limits.yellow }]),
          { color: 'red', value: limits.red },
        ]
      : [
          { color: 'red', value: null },
          ...(limits.yellowBelow === undefined ? [] : [{ color: 'yellow', value: above(limits.redBelow) }]),
          { color: 'green', value: above(limits.yellowBelow ?? limits.redBelow) },
        ];
  return { mode: 'absolute', steps };
}

/** All whole numbers above it are, and it is not. */
const above = (limit: number): number => limit + 0.001;

function optionsOf({ kind, queries }: Panel): object {
  if (kind === 'table') return { showHeader: true };
  if (kind === 'graph')
    return { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } };
  const isNamed = queries.some(({ legend }) => legend !== '');
  return {
    reduceOptions: { calcs: ['lastNotNull'], values: false },
    textMode: isNamed ? 'value_and_name' : 'value',
    colorMode: 'value',
    graphMode: 'none',
  };
}

/** Leaves the labels that are asked for, and no value. */
function columnsOf(columns: readonly string[]): object {
  return {
    id: 'organize',
    options: {
      excludeByName: { Time: true, Value: true },
      indexByName: Object.fromEntries(columns.map((column, index) => [column, index])),
    },
  };
}

const LINKED = {
  matcher: { id: 'byName', options: 'name' },
  properties: [
    {
      id: 'links',
      value: [
        {
          title: 'Dashboard of the cluster',
          url: `/d/${CLUSTER_DASHBOARD.uid}?var-datasource=\${datasource}&var-namespace=\${__data.fields.namespace}&var-cluster=\${__data.fields.name}`,
        },
      ],
    },
  ],
};
