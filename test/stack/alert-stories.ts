/** For each alert what Prometheus sees when it should fire, and a world in which none should. */
import { REPORTED_CONDITIONS } from '../../src/api/conditions/reported.ts';

/** What a series does while things are bad, and then: a gauge goes to `good`, or ends without one; a counter stops growing. */
type Course = { readonly bad: number; readonly good?: number } | { readonly growsBy: number };

export interface Story {
  /** By metric with its labels. */
  readonly series: Readonly<Record<string, Course>>;
  /** Of the alert, without `severity`. */
  readonly labels: Readonly<Record<string, string>>;
}

const RESOURCE = { namespace: 'shop', name: 'example' } as const;
const OF_CLUSTER = 'namespace="shop",name="example"';
const OPERATOR = 'namespace="etcd-operator",pod="etcd-operator-0"';
const MEMBER = { namespace: 'shop', etcd_cluster: 'example', pod: 'example-1' } as const;
const OF_MEMBER = 'namespace="shop",etcd_cluster="example",pod="example-1"';

/** A story for each reason of the condition that metrics report, or for these. */
function reported(kind: string, type: string, ...reasons: readonly string[]): readonly Story[] {
  const rows = REPORTED_CONDITIONS.filter(
    row => row.kind === kind && row.type === type && (reasons.length === 0 || reasons.includes(row.reason)),
  );
  return rows.map(({ reason }) => ({
    series: {
      [`etcd_operator_resource_condition{kind="${kind}",${OF_CLUSTER},type="${type}",reason="${reason}"}`]: {
        bad: 1,
      },
    },
    labels: { kind, ...RESOURCE },
  }));
}

/** A histogram of a member whose observations all take between 2 and 4 seconds. */
function slow(histogram: string): readonly Story[] {
  const buckets = Object.entries({ '0.1': 0, '2': 0, '4': 50, '+Inf': 50 });
  const series = Object.fromEntries(
    buckets.map(([le, growsBy]) => [`${histogram}_bucket{${OF_MEMBER},le="${le}"}`, { growsBy }] as const),
  );
  return [{ series, labels: MEMBER }];
}

const one = (series: Story['series'], labels: Story['labels'] = {}): readonly Story[] => [{ series, labels }];

export const STORIES: Readonly<Record<string, readonly Story[]>> = {
  EtcdClusterQuorumLost: reported('EtcdCluster', 'QuorumAtRisk', 'QuorumLost', 'AllVolumesLost'),
  EtcdClusterQuorumAtRisk: reported(
    'EtcdCluster',
    'QuorumAtRisk',
    'NoMarginLeft',
    'MembersUnreachable',
    'AccessDenied',
  ),
  EtcdClusterUnavailable: reported(
    'EtcdCluster',
    'Available',
    'NoQuorum',
    'AllVolumesLost',
    'NoMembers',
    'ReadFailed',
    'NoReadyMember',
    'NoEndpoint',
    'Unreachable',
    'AccessDenied',
    'NotLookedAt',
  ),
  EtcdClusterAlarm: [
    ...reported('EtcdCluster', 'Healthy', 'AlarmRaised'),
    ...reported('EtcdCluster', 'DataCorrupt'),
  ],
  EtcdClusterMembersUnhealthy: reported(
    'EtcdCluster',
    'Healthy',
    'MembersUnhealthy',
    'MembersMissing',
    'MembersUnreachable',
    'AccessDenied',
  ),
  EtcdClusterNotCreated: reported('EtcdCluster', 'Available', 'Creating', 'NotCreated'),
  EtcdClusterSpecRefused: [
    ...reported('EtcdCluster', 'SpecValid'),
    ...reported('EtcdCluster', 'VersionSupported'),
  ],
  EtcdClusterDatabaseNearQuota: one(
    {
      [`etcd_operator_cluster_db_size_bytes{${OF_CLUSTER}}`]: { bad: 81, good: 79 },
      [`etcd_operator_cluster_db_quota_bytes{${OF_CLUSTER}}`]: { bad: 100, good: 100 },
    },
    RESOURCE,
  ),
  EtcdClusterVolumeNotResized: reported('EtcdCluster', 'StorageResized'),
  EtcdClusterApprovalWaiting: reported('EtcdCluster', 'Progressing', 'AwaitingApproval'),
  EtcdClusterBlocked: reported('EtcdCluster', 'Progressing', 'Blocked', 'Waiting'),
  EtcdClusterPausedForLong: reported('EtcdCluster', 'Paused'),
  EtcdRequestWaiting: one(
    { 'etcd_operator_requests_oldest_waiting_seconds{namespace="etcd-operator"}': { bad: 61, good: 0 } },
    { namespace: 'etcd-operator' },
  ),
  EtcdClusterVersionLosesData: reported('EtcdCluster', 'VersionOutdated', 'BelowDataLossFloor'),
  EtcdClusterVersionVulnerable: reported('EtcdCluster', 'VersionOutdated', 'BelowSecurityFloor'),
  EtcdClusterPodMayStartEmpty: reported('EtcdCluster', 'PodsOutdated', 'MayStartEmpty'),
  EtcdClusterPodsOutdated: reported('EtcdCluster', 'PodsOutdated', 'MadeByEarlierRelease'),
  EtcdBackupLate: one(
    { [`etcd_operator_backup_due_timestamp_seconds{${OF_CLUSTER}}`]: { bad: -1, good: 1e12 } },
    RESOURCE,
  ),
  EtcdBackupFailed: reported('EtcdBackup', 'Succeeded', 'Failed'),
  EtcdBackupNotVerified: reported('EtcdBackup', 'Succeeded', 'BackupNotVerified'),
  EtcdBackupNotCopied: reported('EtcdBackup', 'Copied', 'SecondStoreUnavailable'),
  EtcdBackupScheduleInvalid: reported('EtcdBackup', 'ScheduleValid'),
  EtcdClusterNoVerifiedBackup: reported('EtcdCluster', 'BackedUp'),
  EtcdRestoreWaiting: reported('EtcdRestore', 'Accepted'),
  EtcdRestoreFailed: reported('EtcdRestore', 'Succeeded'),
  EtcdCertificateExpiresSoon: reported('EtcdCluster', 'TLSReady', 'ExpiresSoon'),
  EtcdCertificateExpiresNow: one(
    {
      [`etcd_operator_cluster_certificate_expiry_timestamp_seconds{${OF_CLUSTER}}`]: {
        bad: 3_000,
        good: 1e12,
      },
    },
    RESOURCE,
  ),
  EtcdCertificateInvalid: reported('EtcdCluster', 'TLSReady').slice(0, -1),
  EtcdOperatorDown: one({ [`etcd_operator_watcher_leader{${OPERATOR}}`]: { bad: Number.NaN, good: 1 } }),
  EtcdOperatorNotWatching: one(
    {
      [`etcd_operator_watcher_leader{${OPERATOR}}`]: { bad: 0, good: 1 },
      'etcd_operator_watcher_leader{namespace="etcd-operator",pod="etcd-operator-1"}': { bad: 0, good: 0 },
    },
    { namespace: 'etcd-operator' },
  ),
  EtcdOperatorTemporalUnreachable: [
    ...one({
      'etcd_operator_fleet_conditions{kind="EtcdCluster",type="TemporalUnavailable",reason="Unreachable"}': {
        bad: 3,
      },
    }),
    ...one({
      [`etcd_operator_watcher_leader{${OPERATOR}}`]: { bad: 0, good: 0 },
      [`temporal_long_request{${OPERATOR},operation="PollActivityTaskQueue"}`]: { growsBy: 30 },
      [`temporal_long_request_failure{${OPERATOR},operation="PollActivityTaskQueue",status_code="TRANSPORT_ERROR"}`]:
        { growsBy: 29 },
    }),
  ],
  EtcdOperatorTemporalCertificatesOutdated: one(
    { [`etcd_operator_temporal_certificates_outdated{${OPERATOR}}`]: { bad: 1, good: 0 } },
    { namespace: 'etcd-operator' },
  ),
  EtcdOperatorTemporalKeysOutdated: one(
    { [`etcd_operator_temporal_codec_keys_outdated{${OPERATOR}}`]: { bad: 1, good: 0 } },
    { namespace: 'etcd-operator' },
  ),
  EtcdOperatorPassFailing: one(
    { [`etcd_operator_resources_without_pass{${OPERATOR},kind="EtcdBackup"}`]: { bad: 2, good: 0 } },
    { kind: 'EtcdBackup' },
  ),
  EtcdOperatorTaskQueueShared: one(
    { [`etcd_operator_other_installations{${OPERATOR}}`]: { bad: 1, good: 0 } },
    { namespace: 'etcd-operator' },
  ),
  EtcdOperatorWorkflowStuck: ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'].flatMap(kind =>
    reported(kind, 'WorkflowStuck'),
  ),
  EtcdOperatorRetrying: ['EtcdCluster', 'EtcdBackup', 'EtcdRestore'].flatMap(kind =>
    reported(kind, 'Retrying'),
  ),
  EtcdOperatorUncaughtErrors: one(
    { [`etcd_operator_uncaught_errors_total{${OPERATOR},origin="uncaughtException"}`]: { growsBy: 1 } },
    { namespace: 'etcd-operator' },
  ),
  EtcdOperatorForbidden: one(
    {
      [`etcd_operator_kubernetes_call_duration_seconds_count{${OPERATOR},method="GET",kind="Pod",code="403"}`]:
        {
          growsBy: 1,
        },
    },
    { method: 'GET', kind: 'Pod' },
  ),
  EtcdMemberNoLeader: one({ [`etcd_server_has_leader{${OF_MEMBER}}`]: { bad: 0, good: 1 } }, MEMBER),
  EtcdMemberLeaderChanges: one(
    { [`etcd_server_leader_changes_seen_total{${OF_MEMBER}}`]: { growsBy: 1 } },
    { namespace: 'shop', etcd_cluster: 'example' },
  ),
  EtcdMemberProposalsFailing: one(
    { [`etcd_server_proposals_failed_total{${OF_MEMBER}}`]: { growsBy: 1 } },
    MEMBER,
  ),
  EtcdMemberFsyncSlow: slow('etcd_disk_wal_fsync_duration_seconds'),
  EtcdMemberCommitSlow: slow('etcd_disk_backend_commit_duration_seconds'),
  EtcdMemberPeerSlow: slow('etcd_network_peer_round_trip_time_seconds'),
  EtcdMemberDatabaseFragmented: one(
    {
      [`etcd_mvcc_db_total_size_in_use_in_bytes{${OF_MEMBER}}`]: { bad: 100, good: 100 },
      [`etcd_mvcc_db_total_size_in_bytes{${OF_MEMBER}}`]: { bad: 300, good: 110 },
      [`etcd_server_quota_backend_bytes{${OF_MEMBER}}`]: { bad: 2_000, good: 2_000 },
    },
    MEMBER,
  ),
};

/** Two replicas of the operator, a cluster with TLS and backups, its members; and others that are no business of this operator. */
export const HEALTHY: Story['series'] = {
  [`etcd_operator_watcher_leader{${OPERATOR}}`]: { bad: 1 },
  'etcd_operator_watcher_leader{namespace="etcd-operator",pod="etcd-operator-1"}': { bad: 0 },
  [`etcd_operator_temporal_certificates_outdated{${OPERATOR}}`]: { bad: 0 },
  [`etcd_operator_temporal_codec_keys_outdated{${OPERATOR}}`]: { bad: 0 },
  [`etcd_operator_resources_without_pass{${OPERATOR},kind="EtcdCluster"}`]: { bad: 0 },
  [`etcd_operator_requests_oldest_waiting_seconds{${OPERATOR}}`]: { bad: 2 },
  [`etcd_operator_kubernetes_call_duration_seconds_count{${OPERATOR},method="GET",kind="Pod",code="200"}`]: {
    growsBy: 60,
  },
  [`etcd_operator_kubernetes_call_duration_seconds_count{${OPERATOR},method="GET",kind="Pod",code="404"}`]: {
    growsBy: 1,
  },
  [`temporal_long_request{${OPERATOR},operation="PollActivityTaskQueue"}`]: { growsBy: 30 },
  [`temporal_long_request_failure{${OPERATOR},operation="PollActivityTaskQueue"}`]: { growsBy: 1 },
  [`etcd_operator_cluster_db_size_bytes{${OF_CLUSTER}}`]: { bad: 500 },
  [`etcd_operator_cluster_db_quota_bytes{${OF_CLUSTER}}`]: { bad: 1_000 },
  [`etcd_operator_cluster_certificate_expiry_timestamp_seconds{${OF_CLUSTER}}`]: { bad: 1e12 },
  [`etcd_operator_backup_due_timestamp_seconds{${OF_CLUSTER}}`]: { bad: 1e12 },
  [`etcd_server_has_leader{${OF_MEMBER}}`]: { bad: 1 },
  [`etcd_server_leader_changes_seen_total{${OF_MEMBER}}`]: { growsBy: 0.1 },
  [`etcd_server_proposals_failed_total{${OF_MEMBER}}`]: { growsBy: 0.1 },
  ...Object.fromEntries(
    ['etcd_disk_wal_fsync', 'etcd_disk_backend_commit'].flatMap(name =>
      ['0.008', '+Inf'].map(le => [
        `${name}_duration_seconds_bucket{${OF_MEMBER},le="${le}"}`,
        { growsBy: 50 },
      ]),
    ),
  ),
  [`etcd_mvcc_db_total_size_in_use_in_bytes{${OF_MEMBER}}`]: { bad: 450 },
  [`etcd_mvcc_db_total_size_in_bytes{${OF_MEMBER}}`]: { bad: 500 },
  [`etcd_server_quota_backend_bytes{${OF_MEMBER}}`]: { bad: 1_000 },
  // The etcd of Kubernetes itself, and a program that does not reach its own Temporal.
  'etcd_server_has_leader{namespace="kube-system",pod="etcd-node"}': { bad: 0 },
  'etcd_server_leader_changes_seen_total{namespace="kube-system",pod="etcd-node"}': { growsBy: 1 },
  'temporal_long_request{namespace="orders",pod="worker-0"}': { growsBy: 30 },
  'temporal_long_request_failure{namespace="orders",pod="worker-0"}': { growsBy: 30 },
};
