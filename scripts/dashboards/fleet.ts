/** The dashboard of all clusters of an operator, and of the operator itself. */
import { quotaTaken, series } from '../alerts/expressions.ts';
import { increaseBy, nineOfTen, RESOURCES, ofWatcher } from './fleet-queries.ts';
import { OPERATOR, TEMPORAL } from './operator.ts';
import { ask, type Dashboard, graph, type Row, table, value } from './panel.ts';

const conditions = (more: string): string =>
  `max by (kind, namespace, name, type, reason) (${series('etcd_operator_resource_condition', `${RESOURCES}${more}`)})`;

const WELL: Row = {
  title: 'Who is unwell',
  panels: [
    value({
      title: 'Not available',
      description:
        'EtcdClusters that are not available: also hibernated ones, and those that are being created.',
      queries: ask(ofWatcher('max', 'etcd_operator_fleet_clusters', 'available="false"'), ''),
      limits: { red: 1 },
    }),
    value({
      title: 'Available',
      description: 'EtcdClusters that served a linearizable read in their last pass.',
      queries: ask(ofWatcher('max', 'etcd_operator_fleet_clusters', 'available="true"'), ''),
    }),
    value({
      title: 'Quorum lost, or no margin',
      description:
        'Clusters without a quorum, and those that the next failure stops. A cluster of one or two members never has a margin.',
      queries: ask(
        ofWatcher('max by (margin)', 'etcd_operator_fleet_clusters_by_margin', 'margin=~"lost|none"'),
        '{{margin}}',
      ),
      limits: { red: 1 },
    }),
    value({
      title: 'Members',
      description: 'Members of all clusters by health.',
      queries: ask(ofWatcher('max by (health)', 'etcd_operator_fleet_members'), '{{health}}'),
    }),
    value({
      title: 'Fullest database',
      description: 'The largest share of its quota that the database of any cluster takes.',
      unit: 'percentunit',
      queries: ask(ofWatcher('max', 'etcd_operator_fleet_db_usage_ratio'), ''),
      limits: { yellow: 0.6, red: 0.8 },
    }),
    value({
      title: 'First certificate expires in',
      description: 'Of all clusters with TLS. Empty without any.',
      unit: 's',
      queries: ask(
        `${ofWatcher('min', 'etcd_operator_fleet_certificate_expiry_timestamp_seconds')} - time()`,
        '',
      ),
      limits: { yellowBelow: 604_800, redBelow: 3_600 },
    }),
    table({
      title: 'What is wrong',
      description:
        'Conditions of clusters, backups and restores that need attention. Empty when all are well.',
      queries: ask(conditions(''), ''),
      columns: ['kind', 'namespace', 'name', 'type', 'reason'],
      linked: true,
    }),
    table({
      title: 'Alerts that fire',
      description: 'Of the rules of this operator.',
      queries: ask(
        'max by (alertname, severity, namespace, name, pod) (ALERTS{alertstate="firing",alertname=~"Etcd.*"})',
        '',
      ),
      columns: ['alertname', 'severity', 'namespace', 'name', 'pod'],
    }),
    graph({
      title: 'Conditions',
      description: 'Resources by what is wrong with them.',
      queries: ask(
        ofWatcher('max by (kind, type, reason)', 'etcd_operator_fleet_conditions'),
        '{{kind}} {{type}} {{reason}}',
      ),
    }),
    graph({
      title: 'Fullest ten databases',
      description: 'The share of the quota that their largest file takes.',
      unit: 'percentunit',
      queries: ask(`topk(10, ${quotaTaken(RESOURCES)})`, '{{namespace}}/{{name}}'),
      limits: { red: 0.8 },
    }),
    graph({
      title: 'Asked the longest ago',
      description:
        'Since the members of some cluster were last asked. It grows when the operator does not keep up.',
      unit: 's',
      queries: ask(ofWatcher('max', 'etcd_operator_fleet_last_survey_seconds'), 'the longest ago'),
    }),
  ],
};

const WORK: Row = {
  title: 'Operations and requests',
  panels: [
    table({
      title: 'Operations under way',
      description: 'What the operator is doing, and to which cluster.',
      queries: ask(
        `max by (namespace, name, operation) (${series('etcd_operator_cluster_operation', RESOURCES)})`,
        '',
      ),
      columns: ['namespace', 'name', 'operation'],
      linked: true,
    }),
    table({
      title: 'Waits for a person',
      description: 'Clusters that wait for an approval, are blocked or paused.',
      queries: ask(conditions(',type=~"Progressing|Paused"'), ''),
      columns: ['namespace', 'name', 'reason'],
      linked: true,
    }),
    graph({
      title: 'Operations under way, by type',
      description: 'Of all clusters, however many there are.',
      queries: ask(ofWatcher('max by (operation)', 'etcd_operator_fleet_operations'), '{{operation}}'),
    }),
    graph({
      title: 'Operations that ended within an hour',
      description: 'By how they ended.',
      queries: ask(
        increaseBy('operation, outcome', 'etcd_operator_operations_total'),
        '{{operation}} {{outcome}}',
      ),
    }),
    graph({
      title: 'Repairs by passes within an hour',
      description:
        'Services and PodDisruptionBudgets that were missing (ensureObjects) or edited (applyObjects) and were put back without an operation. Many of them: something else writes to these objects.',
      queries: ask(increaseBy('step', 'etcd_operator_pass_repairs_total'), '{{step}}'),
    }),
    graph({
      title: 'Duration of operations (nine of ten, within an hour)',
      description: 'From the first to the last pass, waits for users included.',
      unit: 's',
      queries: ask(
        nineOfTen('operation', 'etcd_operator_operation_duration_seconds_bucket', '1h'),
        '{{operation}}',
      ),
    }),
    graph({
      title: 'EtcdRequests that are open',
      description: 'Waiting: neither accepted nor refused yet.',
      queries: ask(ofWatcher('max by (state)', 'etcd_operator_requests_open'), '{{state}}'),
    }),
    graph({
      title: 'The oldest EtcdRequest waits for',
      description: 'Above a minute no worker or no Temporal takes requests up.',
      unit: 's',
      queries: ask(ofWatcher('max', 'etcd_operator_requests_oldest_waiting_seconds'), 'the oldest'),
      limits: { red: 60 },
    }),
  ],
};

const BACKUPS: Row = {
  title: 'Backups',
  panels: [
    value({
      title: 'Late',
      description: 'EtcdBackups with a backup that should have been finished by now.',
      queries: ask(ofWatcher('max', 'etcd_operator_fleet_backups_late'), ''),
      limits: { red: 1 },
    }),
    value({
      title: 'Have ever succeeded',
      description: 'EtcdBackups by whether a backup has ever succeeded.',
      queries: ask(ofWatcher('max by (succeeded)', 'etcd_operator_fleet_backups'), '{{succeeded}}'),
    }),
    graph({
      title: 'Age of last successes',
      description: 'Of the ten EtcdBackups whose last success is the longest ago, and of the oldest of all.',
      unit: 's',
      queries: [
        ...ask(
          `topk(10, time() - max by (namespace, name) (${series('etcd_operator_backup_last_success_timestamp_seconds', RESOURCES)}))`,
          '{{namespace}}/{{name}}',
        ),
        ...ask(
          `time() - ${ofWatcher('min', 'etcd_operator_fleet_backup_last_success_timestamp_seconds')}`,
          'the oldest',
        ),
      ],
    }),
    graph({
      title: 'Backups that ended within an hour',
      description: 'By outcome.',
      queries: ask(increaseBy('outcome', 'etcd_operator_backups_total'), '{{outcome}}'),
    }),
  ],
};

export const FLEET_DASHBOARD: Dashboard = {
  name: 'fleet',
  uid: 'etcd-operator-fleet',
  title: 'etcd operator',
  description: 'All clusters of an etcd operator, their backups, and the operator itself.',
  variables: [
    {
      name: 'operator',
      title: 'Operator in',
      metric: 'etcd_operator_watcher_leader',
      label: 'namespace',
      several: true,
    },
    {
      name: 'namespace',
      title: 'Clusters in',
      metric: 'etcd_operator_cluster_size',
      label: 'namespace',
      several: true,
    },
  ],
  rows: [WELL, WORK, BACKUPS, OPERATOR, TEMPORAL],
};
