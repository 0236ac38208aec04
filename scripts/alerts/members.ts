/** Alerts on etcd's own metrics, which need the PodMonitor of members. Thresholds are those of etcd's own mixin (contrib/mixin). */
import type { Group } from './alert.ts';
import type { Metric } from './foreign-metrics.ts';
import { inUse, OF_MEMBERS, ofMember, series, slowestOfMember } from './expressions.ts';

const CLUSTER = '{{ $labels.namespace }}/{{ $labels.etcd_cluster }}';
const MEMBER = '{{ $labels.namespace }}/{{ $labels.pod }}';
const STATUS = 'kubectl -n $NS exec $POD -c etcd -- etcdctl endpoint status --cluster -w table';
/** Of this member alone: to find the others etcdctl needs a quorum, and a member that answers in time. */
const OWN_STATUS = 'kubectl -n $NS exec $POD -c etcd -- etcdctl endpoint status -w table';

const slow = (histogram: Parameters<typeof slowestOfMember>[0]): string =>
  slowestOfMember(histogram, { within: '5m' });
/** Of counters. */
const lately = (metric: Metric): string => `increase(${series(metric, OF_MEMBERS)}[15m])`;

export const MEMBERS: Group = {
  name: 'etcd-operator.members',
  title: 'Members, by their own metrics',
  alerts: [
    {
      name: 'EtcdMemberNoLeader',
      severity: 'critical',
      for: '1m',
      expr: `${ofMember('etcd_server_has_leader')} == 0`,
      summary: `etcd member ${MEMBER} has no leader`,
      description: `The member ${MEMBER} of ${CLUSTER} knows no leader and serves no writes.`,
      runbook: {
        means:
          'The member cannot reach a quorum of its cluster. It does not depend on the operator that this is known.',
        look: [
          'kubectl -n $NS get pods -l etcd_cluster=$CLUSTER -o wide',
          'kubectl -n $NS logs $POD --since=15m | grep -i -e elect -e peer',
        ],
        act: [
          'All members: the quorum is lost, see [EtcdClusterQuorumLost](#etcdclusterquorumlost).',
          'One member: its network to port 2380 of the others is cut, or its peer certificate is refused.',
        ],
        ends: 'When the member knows a leader.',
      },
    },
    {
      name: 'EtcdMemberLeaderChanges',
      severity: 'warning',
      for: '5m',
      expr: `max by (namespace, etcd_cluster) (${lately('etcd_server_leader_changes_seen_total')}) >= 4`,
      summary: `Leaders of etcd cluster ${CLUSTER} change often`,
      description: `${CLUSTER} has changed its leader four times or more within 15 minutes. Each change stops writes for a moment.`,
      runbook: {
        means:
          'Elections follow each other: the disk or the CPU of the leader is too slow for heartbeats, or the network between members loses packets.',
        look: [
          'kubectl -n $NS logs -l etcd_cluster=$CLUSTER --prefix --tail=-1 --since=30m | grep -i -e "lost leader" -e "elected leader" -e "took too long"',
          'kubectl -n $NS top pods -l etcd_cluster=$CLUSTER --containers      # needs metrics-server',
        ],
        act: [
          'Slow disk: [EtcdMemberFsyncSlow](#etcdmemberfsyncslow). Slow network: [EtcdMemberPeerSlow](#etcdmemberpeerslow).',
          'Members lack CPU time: raise the requests (`spec.pod.resources`), set no CPU limit.',
          'Members far from each other: raise `spec.etcd.heartbeatIntervalMs` and `electionTimeoutMs`.',
        ],
        ends: 'When fewer than four changes happened in 15 minutes.',
      },
    },
    {
      name: 'EtcdMemberProposalsFailing',
      severity: 'warning',
      for: '15m',
      expr: `max by (namespace, etcd_cluster, pod) (${lately('etcd_server_proposals_failed_total')}) > 5`,
      summary: `Proposals of etcd member ${MEMBER} fail`,
      description: `Writes through ${MEMBER} were not agreed on: clients got errors.`,
      runbook: {
        means: 'Writes were proposed and not committed: an election was in progress, or the quorum was lost.',
        look: [OWN_STATUS],
        act: [
          'See [EtcdMemberLeaderChanges](#etcdmemberleaderchanges) and [EtcdClusterQuorumAtRisk](#etcdclusterquorumatrisk).',
        ],
        ends: 'When at most five failed in 15 minutes.',
      },
    },
    {
      name: 'EtcdMemberFsyncSlow',
      severity: 'warning',
      for: '10m',
      expr: `${slow('etcd_disk_wal_fsync_duration_seconds_bucket')} > 0.5`,
      summary: `The disk of etcd member ${MEMBER} is slow`,
      description: `The slowest hundredth of the writes to the log of ${MEMBER} takes more than half a second.`,
      runbook: {
        means:
          'etcd writes its log to the disk before it answers. Above the heartbeat interval this ends in elections. A good disk takes less than 10 ms.',
        look: [
          'kubectl -n $NS logs $POD --since=15m | grep -i -e "slow fdatasync" -e "took too long"',
          'kubectl -n $NS get pod,pvc $POD -o wide      # the node, and the StorageClass',
        ],
        act: [
          'Find who else uses the disk of the node; a snapshot or a restore beside it may be the reason.',
          'Use a faster StorageClass: [move the members to it](move-volumes.md).',
        ],
        ends: 'Below half a second.',
      },
    },
    {
      name: 'EtcdMemberCommitSlow',
      severity: 'warning',
      for: '10m',
      expr: `${slow('etcd_disk_backend_commit_duration_seconds_bucket')} > 0.25`,
      summary: `Commits of etcd member ${MEMBER} are slow`,
      description: `The slowest hundredth of the commits to the database of ${MEMBER} takes more than a quarter of a second.`,
      runbook: {
        means:
          'The database is written in batches. Slow ones point to a slow disk, or to a database with many free pages.',
        look: [OWN_STATUS, 'kubectl -n $NS logs $POD --since=15m | grep -i "took too long"'],
        act: [
          'As for [EtcdMemberFsyncSlow](#etcdmemberfsyncslow), and [EtcdMemberDatabaseFragmented](#etcdmemberdatabasefragmented).',
        ],
        ends: 'Below a quarter of a second.',
      },
    },
    {
      name: 'EtcdMemberPeerSlow',
      severity: 'warning',
      for: '10m',
      expr: `${slow('etcd_network_peer_round_trip_time_seconds_bucket')} > 0.15`,
      summary: `The network between etcd member ${MEMBER} and others is slow`,
      description: `The slowest hundredth of the round trips from ${MEMBER} to another member takes more than 0.15 s.`,
      runbook: {
        means:
          'Members wait for each other with every write. Above the heartbeat interval (100 ms by default) elections follow.',
        look: ['kubectl -n $NS get pods -l etcd_cluster=$CLUSTER -o wide'],
        act: [
          'Look at the nodes and the network between them. Keep members in one region; raise heartbeat and election timeout if they are not.',
        ],
        ends: 'Below 0.15 s.',
      },
    },
    {
      name: 'EtcdMemberDatabaseFragmented',
      severity: 'warning',
      for: '10m',
      expr: [
        `${inUse()} < 0.5`,
        `and ${ofMember('etcd_mvcc_db_total_size_in_bytes')}`,
        `  > 0.1 * ${ofMember('etcd_server_quota_backend_bytes')}`,
      ].join('\n'),
      summary: `More than half of the database file of etcd member ${MEMBER} is free space`,
      description: `Free pages of ${MEMBER} count against its quota. Defragmentation gives them back.`,
      runbook: {
        means:
          'Less than half of the file is in use, and the file takes more than a tenth of its quota. Compaction frees pages and does not make the file smaller.',
        look: [STATUS],
        act: [
          'Usually nothing: etcd uses free pages again. Act when the file is [near its quota](#etcdclusterdatabasenearquota), or when the disk is full.',
          'Have the operator defragment every member, the leader last: `kubectl etcd defragment $CLUSTER -n $NS --yes --wait`; or by schedule ([defragmentation](defragment.md)).',
          'The volume needs as much free space again as the keys take. A cluster of one member serves no client meanwhile.',
        ],
        ends: 'When more than half is in use.',
      },
    },
  ],
};
