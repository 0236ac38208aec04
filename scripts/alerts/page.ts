/** docs/operations/alerts.md: a section for each alert, to which its annotation `runbook_url` leads. */
import { code, heading, markdownTable } from '../reference/markdown.ts';
import type { Alert, Group } from './alert.ts';
import { anchorOf, GROUPS } from './catalogue.ts';

const INTRODUCTION = `
Rules of alerts for Prometheus, and what to do about each. They are installed with the operator of Prometheus:

\`\`\`sh
kubectl apply -k deploy/monitoring                     # rules and PodMonitors
kubectl label namespace monitoring metrics=enabled     # where Prometheus runs (network policies)
\`\`\`

or with the chart: \`rules.enabled\`, \`metrics.podMonitor.enabled\` and \`metrics.memberPodMonitor.enabled\`. \`rules.runbookUrl\` is
then the address of this page in the annotation \`runbook_url\`. One release of the chart for each Prometheus installs the rules.

Without the operator of Prometheus, \`deploy/monitoring/prometheus.yml\` is a configuration with the same targets and labels, and
\`charts/etcd-operator/files/alerts/groups.yaml\` the rule file. Scrape the operator's
port 9464 with \`honor_labels: true\`, as it does: its metrics name the namespaces of clusters. Without it Prometheus calls that label
\`exported_namespace\`, and alerts name the namespace of the operator. Metrics of members come from port 2381, without TLS for clusters with TLS too.

Most alerts on the state of a resource are about a [condition](../reference/conditions.md) that lasts: the metric
\`etcd_operator_resource_condition\`. At most \`METRICS_RESOURCES\` conditions are reported by name, the most serious first;
\`etcd_operator_fleet_conditions\` counts all of them ([metrics](../reference/metrics.md)). \`critical\`: act now. \`warning\`: act today. \`info\`: know it.

The commands below use the labels of the alert:

\`\`\`sh
NS=shop NAME=example KIND=etcdcluster           # namespace, name and kind
NS=shop CLUSTER=example POD=example-0           # of alerts on members: namespace, etcd_cluster and pod
export TEMPORAL_ADDRESS=temporal.example.org:7233 TEMPORAL_NAMESPACE=etcd-operator
\`\`\`

\`kubectl etcd explain $NAME -n $NS\` ([plugin](kubectl-etcd.md)) says why a cluster waits, with the commands to send. No Temporal at hand: \`kubectl etcd explain\` and
[EtcdRequests](requests.md) need the API server alone. For a cluster with TLS, \`etcdctl\` needs the client's certificate: run it in a pod as in [TLS](tls.md#certificates-by-the-operator).

Each alert is tested with promtool. Drills provoke them by real faults on a local stack, read them from a Prometheus that scrapes it, and type the
commands of their runbooks meanwhile ([drills](../development/drills.md#alerts)).

## Dashboards

Two dashboards for Grafana (9 or later) are in \`deploy/monitoring/dashboards\`: \`fleet.json\` (who is unwell, operations, waits for users,
backups, the operator, its requests to Temporal) and \`cluster.json\` (quorum, leader changes, latencies of the disk, raft, database and quota of one
cluster). \`kubectl apply -k deploy/monitoring\` and the chart (\`dashboards.enabled\`) write them into ConfigMaps with the label
\`grafana_dashboard: "1"\`, which the sidecar of Grafana's chart imports if it searches this namespace (\`sidecar.dashboards.searchNamespace\`). By hand:
Dashboards → New → Import, and upload both files. They ask for the Prometheus that scrapes with the labels above; the panel "Alerts that fire" needs
the rules.

## All alerts

`;

export function alertsPage(): string {
  const rows = GROUPS.flatMap(({ alerts }) =>
    alerts.map(alert => [
      `[${alert.name}](#${anchorOf(alert)})`,
      alert.severity,
      alert.for,
      outsideOfAlerts(alert.summary),
    ]),
  );
  return [
    heading('Alerts', 'scripts/alerts'),
    INTRODUCTION,
    markdownTable(['alert', 'severity', 'after', 'meaning'], rows),
    ...GROUPS.map(groupText),
  ].join('\n');
}

function groupText({ title, alerts }: Group): string {
  return `\n## ${title}\n\n${alerts.map(alertText).join('\n')}`;
}

function alertText({ name, severity, for: after, expr, description, runbook }: Alert): string {
  const { means, look, act, ends } = runbook;
  return [
    `### ${name}\n`,
    `${code(severity)} after ${after}. ${outsideOfAlerts(description)}\n`,
    `${means}\n`,
    `\`\`\`promql\n${expr}\n\`\`\`\n`,
    `Look at:\n\n\`\`\`sh\n${look.join('\n')}\n\`\`\`\n`,
    `Do:\n\n${act.map(line => `- ${line}`).join('\n')}\n`,
    `It ends: ${ends}\n`,
  ].join('\n');
}

/** Names of labels in place of their values. */
function outsideOfAlerts(text: string): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, '*$1*');
}
