/** Parts of PromQL that alerts and dashboards have in common. They are written once here, and not as recording rules (decision 96). */
import type { Metric } from './foreign-metrics.ts';

/** Labels that are asked for, as between braces; without braces. */
export type Labels = string;

/** Of members of this operator, and not the etcd of Kubernetes itself. */
export const OF_MEMBERS: Labels = 'etcd_cluster!=""';

export function series(metric: Metric, labels: Labels = ''): string {
  return labels === '' ? metric : `${metric}{${labels}}`;
}

const BY_MEMBER = 'by (namespace, etcd_cluster, pod)';

/** One value for each member, whatever else it is labelled with. */
export function ofMember(metric: Metric, labels: Labels = OF_MEMBERS): string {
  return `max ${BY_MEMBER} (${series(metric, labels)})`;
}

/** What the slowest hundredth of the observations of each member took, in seconds. */
export function slowestOfMember(
  histogram: Metric & `${string}_bucket`,
  { labels = OF_MEMBERS, within }: { readonly labels?: Labels; readonly within: string },
): string {
  return `histogram_quantile(0.99, sum by (namespace, etcd_cluster, pod, le) (rate(${series(histogram, labels)}[${within}])))`;
}

/** The share of the database file of each member that is in use. */
export function inUse(labels: Labels = OF_MEMBERS): string {
  const [used, file] = [
    ofMember('etcd_mvcc_db_total_size_in_use_in_bytes', labels),
    ofMember('etcd_mvcc_db_total_size_in_bytes', labels),
  ];
  return `${used}\n  / ${file}`;
}

/** The share of its quota that the largest database file of each cluster takes. */
export function quotaTaken(labels: Labels = ''): string {
  const size = `max by (namespace, name) (${series('etcd_operator_cluster_db_size_bytes', labels)})`;
  const quota = `max by (namespace, name) (${series('etcd_operator_cluster_db_quota_bytes', labels)})`;
  return `${size}\n  / ${quota}`;
}
