/** What a dashboard is, without what Grafana adds to it. */

/** Units by Grafana's names. */
type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'cps' | 'bool_yes_no';

export interface Query {
  /** In PromQL, with the variables of the dashboard. */
  readonly expr: string;
  /** With labels as `{{label}}`. */
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** What it answers, and when to worry. */
  readonly description: string;
  /** `value`: numbers of now; `graph`: the course of time; `table`: a row for each series of now. */
  readonly kind: 'value' | 'graph' | 'table';
  readonly unit: Unit;
  /** Of 24 columns. */
  readonly width: number;
  readonly queries: readonly Query[];
  /** From these values on the number, or the line, is yellow or red; `below` the other way round: up to these it is. */
  readonly limits?: Limits;
  /** Of a table: the labels that are shown, in this order. */
  readonly columns?: readonly string[];
  /** Of a table: rows lead to the dashboard of their cluster, by the labels `namespace` and `name`. */
  readonly linked?: true;
}

export type Limits =
  | { readonly yellow?: number; readonly red: number }
  | { readonly yellowBelow?: number; readonly redBelow: number };

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** A choice at the top of the dashboard: the values of a label of a metric. */
export interface Variable {
  readonly name: string;
  readonly title: string;
  readonly metric: string;
  readonly label: string;
  /** Whether several values, or all, may be chosen. */
  readonly several: boolean;
}

export interface Dashboard {
  /** Also the name of its file. */
  readonly name: string;
  /** Its address in Grafana; stable. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly variables: readonly Variable[];
  readonly rows: readonly Row[];
}

type Given = Pick<Panel, 'title' | 'description' | 'queries'> & Partial<Panel>;

export const value = (panel: Given): Panel => ({ kind: 'value', unit: 'short', width: 4, ...panel });
export const graph = (panel: Given): Panel => ({ kind: 'graph', unit: 'short', width: 8, ...panel });
export const table = (panel: Given & Required<Pick<Panel, 'columns'>>): Panel => ({
  kind: 'table',
  unit: 'short',
  width: 12,
  ...panel,
});

/** One query. */
export const ask = (expr: string, legend: string): readonly Query[] => [{ expr, legend }];
