/** docs/reference/metrics.md: what the operator counts, from the registry that it serves. */
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `
Served at \`/metrics\` on \`METRICS_PORT\` (${VARIABLES.METRICS_PORT.default}), in Prometheus' text format. Beside them stand those of
prom-client for its own process (\`etcd_operator_process_*\`, \`etcd_operator_nodejs_*\`). On \`TEMPORAL_METRICS_PORT\`
(${VARIABLES.TEMPORAL_METRICS_PORT.default}) Temporal's SDK serves its own: \`temporal_request_failure\` and \`temporal_request_latency_seconds\` of requests to
the server, and latencies and failures of workflows and activities.

Replicas take turns at looking after a cluster, so each has its own \`etcd_operator_cluster_*\` of every cluster; the one with the
smallest \`last_pass_seconds\` looked last. A replica drops a cluster that is gone, and one that it has not looked at for five minutes.
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
