/** The dashboard of one cluster: what the operator says of it, and what its members say themselves. */
import { inUse, ofMember, quotaTaken, series, slowestOfMember } from '../alerts/expressions.ts';
import type { Metric } from '../alerts/foreign-metrics.ts';
import { ask, type Dashboard, graph, type Row, table, value } from './panel.ts';

const CLUSTER = 'namespace="$namespace",name="$cluster"';
const MEMBERS = 'namespace="$namespace",etcd_cluster="$cluster"';
const WINDOW = '$__rate_interval';

/** A gauge of the cluster, from whichever replica of the operator. */
const of = (metric: Metric): string => `max(${series(metric, CLUSTER)})`;
const ofEach = (metric: Metric): string => ofMember(metric, MEMBERS);
const rateOfEach = (metric: Metric): string => `sum by (pod) (rate(${series(metric, MEMBERS)}[${WINDOW}]))`;
const slowest = (histogram: Parameters<typeof slowestOfMember>[0]) =>
  ask(slowestOfMember(histogram, { labels: MEMBERS, within: WINDOW }), '{{pod}}');

const STATE: Row = {
  title: 'State, as the operator sees it',
  panels: [
    value({
      title: 'Available',
      description: 'Whether a linearizable read went through in the last pass, and clients have a way in.',
      unit: 'bool_yes_no',
      queries: ask(of('etcd_operator_cluster_available'), ''),
      limits: { redBelow: 0 },
    }),
    value({
      title: 'More members may fail',
      description:
        'Healthy voters beyond the quorum. 0: one more failure stops it. Negative: it has lost its quorum.',
      queries: ask(of('etcd_operator_cluster_quorum_margin'), ''),
      limits: { yellowBelow: 0, redBelow: -1 },
    }),
    value({
      title: 'Since the last read',
      description:
        'Since the operator last read through the cluster. It grows while members do not answer the operator.',
      unit: 's',
      queries: ask(of('etcd_operator_cluster_last_linearizable_read_seconds'), ''),
      limits: { yellow: 120, red: 600 },
    }),
    value({
      title: 'Certificates expire in',
      description: 'Until the first certificate of the cluster expires. Empty without TLS.',
      unit: 's',
      queries: ask(`${of('etcd_operator_cluster_certificate_expiry_timestamp_seconds')} - time()`, ''),
      limits: { yellowBelow: 604_800, redBelow: 3_600 },
    }),
    value({
      title: 'Quota taken',
      description:
        'The largest database file of the members, as a share of the quota. When it is full, etcd refuses writes.',
      unit: 'percentunit',
      queries: ask(quotaTaken(CLUSTER), ''),
      limits: { yellow: 0.6, red: 0.8 },
    }),
    value({
      title: 'Under way',
      description: 'The operation that the operator performs. Empty when there is nothing to do.',
      queries: ask(
        `max by (operation) (${series('etcd_operator_cluster_operation', CLUSTER)})`,
        '{{operation}}',
      ),
    }),
    table({
      title: 'What is wrong',
      description:
        'Conditions that need attention, also of what waits for a user. Empty when the cluster is well.',
      queries: ask(
        `max by (type, reason) (${series('etcd_operator_resource_condition', `kind="EtcdCluster",${CLUSTER}`)})`,
        '',
      ),
      columns: ['type', 'reason'],
      width: 8,
    }),
    table({
      title: 'Alerts that fire',
      description: 'On this cluster, its members and the backups of its name. Needs the rules of alerts.',
      queries: ask(
        [
          'max by (alertname, severity, pod) (ALERTS{alertstate="firing",namespace="$namespace",name="$cluster"})',
          'or max by (alertname, severity, pod) (ALERTS{alertstate="firing",namespace="$namespace",etcd_cluster="$cluster"})',
        ].join('\n'),
        '',
      ),
      columns: ['alertname', 'severity', 'pod'],
      width: 8,
    }),
    graph({
      title: 'Members by health',
      description: 'Unknown: could not be reached, which does not mean that it is down.',
      queries: [
        ...ask(`max by (health) (${series('etcd_operator_cluster_members', CLUSTER)})`, '{{health}}'),
        ...ask(of('etcd_operator_cluster_size'), 'asked for'),
      ],
    }),
  ],
};

const AGREEMENT: Row = {
  title: 'Leader and agreement, as members see it',
  panels: [
    graph({
      title: 'Has a leader',
      description: '0: the member cannot reach a quorum, and serves no writes.',
      queries: ask(ofEach('etcd_server_has_leader'), '{{pod}}'),
      limits: { redBelow: 0 },
    }),
    graph({
      title: 'Leads',
      description: 'Which member leads.',
      queries: ask(`${ofEach('etcd_server_is_leader')} == 1`, '{{pod}}'),
    }),
    graph({
      title: 'Changes of the leader within 15 minutes',
      description: 'Each stops writes for a moment. A rollout causes one or two.',
      queries: ask(
        `round(max(increase(${series('etcd_server_leader_changes_seen_total', MEMBERS)}[15m])))`,
        'changes',
      ),
      limits: { red: 4 },
    }),
    graph({
      title: 'Entries behind the furthest member',
      description:
        'Committed entries of the log that a member has not applied. A member that stays behind is slow, or its network is.',
      queries: ask(
        `scalar(max(${series('etcd_server_proposals_committed_total', MEMBERS)}))\n  - ${ofEach('etcd_server_proposals_applied_total')}`,
        '{{pod}}',
      ),
    }),
    graph({
      title: 'Proposals that wait',
      description: 'Writes that members have proposed and that are not committed yet.',
      queries: ask(ofEach('etcd_server_proposals_pending'), '{{pod}}'),
    }),
    graph({
      title: 'Proposals that fail',
      description: 'Writes that were not agreed on: clients got errors. During an election a few are normal.',
      unit: 'cps',
      queries: ask(rateOfEach('etcd_server_proposals_failed_total'), '{{pod}}'),
    }),
  ],
};

const SPEED: Row = {
  title: 'Disk and network',
  panels: [
    graph({
      title: 'Writing the log (fsync, slowest hundredth)',
      description:
        'A good disk takes less than 10 ms. Above the heartbeat interval (100 ms) elections follow.',
      unit: 's',
      queries: slowest('etcd_disk_wal_fsync_duration_seconds_bucket'),
      limits: { yellow: 0.1, red: 0.5 },
    }),
    graph({
      title: 'Writing the database (commit, slowest hundredth)',
      description: 'A good disk takes less than 25 ms.',
      unit: 's',
      queries: slowest('etcd_disk_backend_commit_duration_seconds_bucket'),
      limits: { yellow: 0.1, red: 0.25 },
    }),
    graph({
      title: 'Round trips to other members (slowest hundredth)',
      description: 'Empty for a cluster of one member.',
      unit: 's',
      queries: slowest('etcd_network_peer_round_trip_time_seconds_bucket'),
      limits: { yellow: 0.1, red: 0.15 },
    }),
  ],
};

const DATA: Row = {
  title: 'Database and load',
  panels: [
    graph({
      title: 'Database files',
      description: 'The file of each member, and what of it is in use. How near the quota is: Quota taken.',
      unit: 'bytes',
      queries: [
        ...ask(ofEach('etcd_mvcc_db_total_size_in_bytes'), '{{pod}} file'),
        ...ask(ofEach('etcd_mvcc_db_total_size_in_use_in_bytes'), '{{pod}} in use'),
      ],
    }),
    graph({
      title: 'Free pages',
      description:
        'The share of the file that compaction has freed, and that only defragmentation gives back.',
      unit: 'percentunit',
      queries: ask(`1 - ${inUse(MEMBERS)}`, '{{pod}}'),
    }),
    graph({
      title: 'Writes',
      description: 'Keys that are put, as each member applies them.',
      unit: 'cps',
      queries: ask(rateOfEach('etcd_mvcc_put_total'), '{{pod}}'),
    }),
    graph({
      title: 'Slow applies',
      description: 'Entries that took longer than 100 ms to apply: a slow disk, or too little CPU time.',
      unit: 'cps',
      queries: ask(rateOfEach('etcd_server_slow_apply_total'), '{{pod}}'),
    }),
    graph({
      title: 'Memory',
      description: 'Resident memory of the process of etcd.',
      unit: 'bytes',
      queries: ask(ofEach('process_resident_memory_bytes'), '{{pod}}'),
    }),
    graph({
      title: 'CPU time',
      description: 'Seconds of a processor in a second.',
      queries: ask(rateOfEach('process_cpu_seconds_total'), '{{pod}}'),
    }),
  ],
};

const BACKUPS: Row = {
  title: 'Backups in the namespace',
  panels: [
    graph({
      title: 'Age of the last backup',
      description: 'Of each EtcdBackup of the namespace that has ever succeeded.',
      unit: 's',
      queries: ask(
        'time() - max by (name) (etcd_operator_backup_last_success_timestamp_seconds{namespace="$namespace"})',
        '{{name}}',
      ),
    }),
    graph({
      title: 'Late by',
      description:
        'Above zero the backup that the schedule awaits should have been finished; below, it is due so much later. Of those with a schedule.',
      unit: 's',
      queries: ask(
        'time() - max by (name) (etcd_operator_backup_due_timestamp_seconds{namespace="$namespace"})',
        '{{name}}',
      ),
      limits: { red: 0 },
    }),
    graph({
      title: 'Size of the newest object',
      description: 'Of each EtcdBackup of the namespace.',
      unit: 'bytes',
      queries: ask('max by (name) (etcd_operator_backup_size_bytes{namespace="$namespace"})', '{{name}}'),
    }),
  ],
};

export const CLUSTER_DASHBOARD: Dashboard = {
  name: 'cluster',
  uid: 'etcd-operator-cluster',
  title: 'etcd cluster',
  description: 'One cluster of the etcd operator. Panels on members need the PodMonitor of members.',
  variables: [
    {
      name: 'namespace',
      title: 'Namespace',
      metric: 'etcd_operator_cluster_size',
      label: 'namespace',
      several: false,
    },
    {
      name: 'cluster',
      title: 'Cluster',
      metric: 'etcd_operator_cluster_size{namespace="$namespace"}',
      label: 'name',
      several: false,
    },
  ],
  rows: [STATE, AGREEMENT, SPEED, DATA, BACKUPS],
};
