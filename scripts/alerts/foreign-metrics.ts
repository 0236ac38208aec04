/**
 * Metrics of others that alerts and dashboards are written on, by what they are made of. test/integration/alert-metrics.integration.test.ts and
 * operator.integration.test.ts find each in the answers of real servers, because a query on a name that does not exist is silent forever.
 */

/** Of members, in every version of etcd that is supported. */
export const ETCD_METRICS = [
  'etcd_server_has_leader',
  'etcd_server_is_leader',
  'etcd_server_leader_changes_seen_total',
  'etcd_server_proposals_failed_total',
  'etcd_server_proposals_committed_total',
  'etcd_server_proposals_applied_total',
  'etcd_server_proposals_pending',
  'etcd_server_slow_apply_total',
  'etcd_disk_wal_fsync_duration_seconds_bucket',
  'etcd_disk_backend_commit_duration_seconds_bucket',
  'etcd_network_peer_round_trip_time_seconds_bucket',
  'etcd_mvcc_db_total_size_in_bytes',
  'etcd_mvcc_db_total_size_in_use_in_bytes',
  'etcd_mvcc_put_total',
  'etcd_server_quota_backend_bytes',
  'process_resident_memory_bytes',
  'process_cpu_seconds_total',
] as const;

/** Of Temporal's SDK; failures from the first one on. */
export const SDK_METRICS = [
  'temporal_request',
  'temporal_request_failure',
  'temporal_request_latency_bucket',
  'temporal_long_request',
  'temporal_long_request_failure',
  'temporal_activity_schedule_to_start_latency_bucket',
  'temporal_worker_task_slots_used',
  'temporal_worker_task_slots_available',
] as const;

/** A metric that a query may ask for. Those of the operator are looked up when dashboards are generated, and in a test of alerts. */
export type Metric = (typeof ETCD_METRICS)[number] | (typeof SDK_METRICS)[number] | `etcd_operator_${string}`;
