/** Alerts on the availability of clusters, as the operator sees it. */
import { quotaTaken } from './expressions.ts';
import { DESCRIBE, ETCDCTL, type Group, has, messageOf, PODS } from './alert.ts';

const CLUSTER = '{{ $labels.namespace }}/{{ $labels.name }}';

export const CLUSTERS: Group = {
  name: 'etcd-operator.clusters',
  title: 'Clusters',
  alerts: [
    {
      name: 'EtcdClusterQuorumLost',
      severity: 'critical',
      for: '2m',
      expr: has('EtcdCluster', 'QuorumAtRisk', 'lost'),
      summary: `EtcdCluster ${CLUSTER} has lost its quorum`,
      description: `Fewer members of ${CLUSTER} run than a quorum needs: nothing can be written.`,
      runbook: {
        means:
          'Fewer voters run than a quorum needs. etcd refuses writes and linearizable reads. The operator starts members again where their volumes exist; it never starts an empty cluster in the place of a lost one.',
        look: [messageOf('EtcdCluster', 'QuorumAtRisk'), PODS, 'kubectl get nodes'],
        act: [
          'Bring back the nodes and volumes that the message names. **Delete no claim and no pod:** the data on the volumes decides whether the cluster can be recovered.',
          'If every volume is lost, or cannot be brought back: [disaster recovery](disaster.md).',
        ],
        ends: 'When a quorum of voters is healthy again, or the cluster was restored, hibernated or deleted.',
      },
    },
    {
      name: 'EtcdClusterQuorumAtRisk',
      severity: 'warning',
      for: '5m',
      expr: has('EtcdCluster', 'QuorumAtRisk', 'atRisk'),
      summary: `EtcdCluster ${CLUSTER} cannot lose another member`,
      description: `Members of ${CLUSTER} are not known to be healthy, and one more failure would stop it.`,
      runbook: {
        means:
          'Voters are unavailable, or cannot be reached, and none may fail in addition. Clients are still served, unless no member can be reached. Five minutes are longer than the restart of a member takes in a rollout.',
        look: [messageOf('EtcdCluster', 'QuorumAtRisk'), messageOf('EtcdCluster', 'Healthy'), PODS],
        act: [
          'Stop, drain or upgrade no node with another member of this cluster.',
          'Bring back what the message names. A member whose volume is proved lost is replaced automatically; see `Progressing` for what it waits for.',
          'If the operator reaches no member, and clients do, look at the network between the operator and ports 2379 and 2381 of the pods ([network policies](install.md#network-policies)).',
        ],
        ends: 'When one more healthy voter is known than a quorum needs.',
      },
    },
    {
      name: 'EtcdClusterUnavailable',
      severity: 'critical',
      for: '5m',
      expr: has('EtcdCluster', 'Available', 'unavailable'),
      summary: `EtcdCluster ${CLUSTER} is not known to be available`,
      description: `No linearizable read of ${CLUSTER} went through, or none could be tried. Clients may be unable to read and write.`,
      runbook: {
        means:
          'The last pass could not read through the client port of any member, or no pod is ready, or no pass has succeeded for a minute (`NotLookedAt`). Clusters that are created, restored, hibernated or deleted do not count.',
        look: [messageOf('EtcdCluster', 'Available'), DESCRIBE, PODS],
        act: [
          'The [reason](../reference/conditions.md#available) says what to do.',
          '`NotLookedAt`: the operator is the problem, see [EtcdOperatorPassFailing](#etcdoperatorpassfailing).',
          '`Unreachable`: the path between operator and members is; clients may be served. `NoReadyMember`: read the events of the pods.',
        ],
        ends: 'When a linearizable read goes through in a pass.',
      },
    },
    {
      name: 'EtcdClusterAlarm',
      severity: 'critical',
      for: '1m',
      expr: `${has('EtcdCluster', 'Healthy', 'alarm')} or ${has('EtcdCluster', 'DataCorrupt', 'differs')}`,
      summary: `etcd raised an alarm in ${CLUSTER}, or its members hold different data`,
      description: `NOSPACE or CORRUPT: writes to ${CLUSTER} are refused. DataCorrupt: the data of a member differs from that of the others.`,
      runbook: {
        means:
          'etcd raised `NOSPACE`, because a database is as large as its quota, or `CORRUPT`, because members hold different data; or the operator compared the members and found such a difference.',
        look: [
          messageOf('EtcdCluster', 'Healthy'),
          messageOf('EtcdCluster', 'DataCorrupt'),
          `${ETCDCTL} endpoint status --cluster -w table`,
          `${ETCDCTL} alarm list`,
          `${ETCDCTL} endpoint hashkv --cluster -w json`,
        ],
        act: [
          '`NOSPACE`: the operator makes room where it may, and disarms the alarm when every member has room. What it needs, such as a larger quota or the approval of a compaction, is in the condition `Progressing` ([NOSPACE](no-space.md)).',
          `A compaction can be made by hand, too: to the present revision, \`${ETCDCTL} compact "$(${ETCDCTL} endpoint status -w json | grep -o '"revision":[0-9]*' | grep -o '[0-9]*')"\`. etcd counts what that frees only after its next write, which may be a delete; then the operator defragments.`,
          '`CORRUPT`: delete nothing. The operator compares the members; the condition `DataCorrupt` says which differs, and `Progressing` what is asked of you ([corruption](corruption.md)).',
        ],
        ends: 'When the alarm is disarmed, and all members hold the same data.',
      },
    },
    {
      name: 'EtcdClusterMembersUnhealthy',
      severity: 'warning',
      for: '15m',
      expr: has('EtcdCluster', 'Healthy', 'members'),
      summary: `EtcdCluster ${CLUSTER} has lacked healthy members for 15 minutes`,
      description: `Members of ${CLUSTER} are missing, report a fault, or cannot be reached, and the operator has not repaired it.`,
      runbook: {
        means:
          'For a quarter of an hour some member was missing, unhealthy or out of reach. A scale-up or a repair of a large database can take as long.',
        look: [messageOf('EtcdCluster', 'Healthy'), messageOf('EtcdCluster', 'Progressing'), PODS],
        act: [
          '`Progressing` says what the operator does, or what it waits for.',
          'Pod `Pending`: read its events (no room, volume of another zone, image). Pod crashing: read the log of etcd with `kubectl logs $POD -c etcd`.',
          'Node gone for good: delete its Node object; only then is a member with a local volume replaced ([volumes](storage.md)).',
        ],
        ends: 'When every member is healthy.',
      },
    },
    {
      name: 'EtcdClusterNotCreated',
      severity: 'warning',
      for: '30m',
      expr: has('EtcdCluster', 'Available', 'notCreated'),
      summary: `EtcdCluster ${CLUSTER} has not come up within 30 minutes`,
      description: `The members of ${CLUSTER} do not start, or its specification is refused.`,
      runbook: {
        means: 'The cluster was asked for half an hour ago and has not served a read yet.',
        look: [
          messageOf('EtcdCluster', 'Available'),
          messageOf('EtcdCluster', 'Progressing'),
          DESCRIBE,
          PODS,
        ],
        act: [
          'Pods `Pending`: read their events; mostly it is a StorageClass, a quota, or too little room.',
          'No pods: read the conditions `SpecValid`, `VersionSupported` and `TLSReady`.',
          'Many clusters at once: they are created a few at a time ([sizing](sizing.md)).',
        ],
        ends: 'When the cluster answers, or is deleted.',
      },
    },
    {
      name: 'EtcdClusterSpecRefused',
      severity: 'warning',
      for: '15m',
      expr: `${has('EtcdCluster', 'SpecValid', 'refused')}\nor\n${has('EtcdCluster', 'VersionSupported', 'refused')}`,
      summary: `The specification of EtcdCluster ${CLUSTER} is refused`,
      description: `Nothing is changed for ${CLUSTER} until its specification is corrected; running members keep running.`,
      runbook: {
        means:
          'The specification contradicts itself, or asks for a version of etcd that this operator does not support. Most faults are refused at admission; this is what only the operator can judge.',
        look: [messageOf('EtcdCluster', 'SpecValid'), messageOf('EtcdCluster', 'VersionSupported')],
        act: [
          'Correct the fields that the message names. [Versions](../reference/versions.md) lists what is supported.',
        ],
        ends: 'When the specification is valid.',
      },
    },
    {
      name: 'EtcdClusterDatabaseNearQuota',
      severity: 'warning',
      for: '10m',
      expr: `${quotaTaken()} > 0.8`,
      summary: `The database of EtcdCluster ${CLUSTER} fills more than 80 % of its quota`,
      description: `When the database of ${CLUSTER} reaches its quota, etcd refuses every write.`,
      runbook: {
        means:
          'The largest database file of the members is above 80 % of `spec.etcd.quotaBackendBytes`. The file includes free pages, and they count.',
        look: [
          `${ETCDCTL} endpoint status --cluster -w table     # DB SIZE, IN USE`,
          `kubectl -n $NS get etcd $NAME -o jsonpath='{.spec.etcd}{"\\n"}'`,
        ],
        act: [
          'Much less in use than the file is large: [defragment](#etcdmemberdatabasefragmented).',
          'Otherwise find out who writes so much, and whether history is compacted (`spec.etcd.autoCompaction`).',
          'Raise `spec.etcd.quotaBackendBytes` (etcd suggests at most 8 GiB), with volumes of three times as much and 2Gi.',
        ],
        ends: 'Below 80 %.',
      },
    },
    {
      name: 'EtcdClusterVolumeNotResized',
      severity: 'warning',
      for: '30m',
      expr: has('EtcdCluster', 'StorageResized', 'refused'),
      summary: `Volumes of EtcdCluster ${CLUSTER} cannot be expanded`,
      description: `${CLUSTER} asks for larger volumes than it has, and its StorageClass refuses or fails.`,
      runbook: {
        means: 'A volume is smaller than requested, and Kubernetes did not expand it.',
        look: [
          messageOf('EtcdCluster', 'StorageResized'),
          'kubectl -n $NS describe pvc -l etcd_cluster=$NAME',
        ],
        act: [
          '`ExpansionNotAllowed`: set `allowVolumeExpansion` on the StorageClass if its driver can do it; otherwise [move the members](move-volumes.md) to another class.',
          '`ResizeFailed`: read the events of the claim ([expanding volumes](storage.md#expanding-volumes)).',
        ],
        ends: 'When every volume has the requested size.',
      },
    },
  ],
};
