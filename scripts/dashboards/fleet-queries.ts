/** What the queries of the fleet's dashboard ask for. */
import { series } from '../alerts/expressions.ts';
import type { Metric } from '../alerts/foreign-metrics.ts';

/** Of the pods of the operator; gauges of the fleet have this namespace too. */
const OPERATOR = 'namespace=~"$operator"';
/** Of clusters and other resources. */
export const RESOURCES = 'namespace=~"$namespace"';
const WINDOW = '$__rate_interval';

export const own = (metric: Metric, more = ''): string =>
  series(metric, more === '' ? OPERATOR : `${OPERATOR},${more}`);
/**
 * A gauge of the replica that watches. Without that replica there are no data, rather than a fleet of none.
 * @param aggregate for example `max by (health)`
 */
export const ofWatcher = (aggregate: string, metric: Metric, more = ''): string =>
  `${aggregate} (${own(metric, more)} and on (namespace, pod) etcd_operator_watcher_leader == 1)`;
export const by = (label: string, metric: Metric): string => `max by (${label}) (${own(metric)})`;
export const rateBy = (labels: string, metric: Metric, more = ''): string =>
  `sum by (${labels}) (rate(${own(metric, more)}[${WINDOW}]))`;
/** Whole numbers: Prometheus extrapolates. */
export const increaseBy = (labels: string, metric: Metric): string =>
  `round(sum by (${labels}) (increase(${own(metric)}[1h]))) > 0`;
/** Within how many seconds nine of ten observations were, of a histogram. */
export const nineOfTen = (labels: string, histogram: Metric & `${string}_bucket`, within = WINDOW): string =>
  `histogram_quantile(0.9, sum by (${labels}, le) (rate(${own(histogram)}[${within}])))`;
