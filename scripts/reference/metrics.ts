/** docs/reference/metrics.md: what the operator counts, from the registry that it serves. */
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `
Served at \`/metrics\` on \`METRICS_PORT\` (${VARIABLES.METRICS_PORT.default}), in Prometheus' text format. Beside them stand those of
prom-client for its own process (\`etcd_operator_process_*\`, \`etcd_operator_nodejs_*\`). On \`TEMPORAL_METRICS_PORT\`
(${VARIABLES.TEMPORAL_METRICS_PORT.default}) Temporal's SDK serves its own: \`temporal_request_failure\` and \`temporal_request_latency\` of requests to
the server, and latencies and failures of workflows and activities.

The gauges \`etcd_operator_fleet_*\`, \`etcd_operator_cluster_*\` and \`etcd_operator_backup_*\` are served by the replica that watches
(\`etcd_operator_watcher_leader\` is 1). Those of the fleet are of all clusters and backups together, and as many however many there are:
alert on them. At most \`METRICS_RESOURCES\` (${VARIABLES.METRICS_RESOURCES.default}) clusters, and as many backups, have gauges of their own,
about ten each. If there are more, these are the clusters that are not available, then those of which the fewest members may fail, then
the fullest; and the backups whose last success is the longest ago. As many conditions are reported by name, the most serious first
(\`etcd_operator_resource_condition\`); a resource that is well has none. No other label has values that grow with the number of resources. Counters and histograms are those of each replica: add them up.
[Alerts](../operations/alerts.md) are written on these metrics.
`;

export function metricsReference(): string {
  const rows = createMetrics().descriptions.map(({ name, type, labels, help }) => [
    code(name),
    type,
    labels.map(code).join(' '),
    help,
  ]);
  const table = markdownTable(['metric', 'type', 'labels', 'meaning'], rows);
  return [heading('Metrics', 'src/telemetry'), INTRODUCTION, `${table}\n`].join('\n');
}
