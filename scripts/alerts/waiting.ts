/** Alerts on what waits for a person, and on what was left behind. */
import { CLUSTER_WORKFLOW, DESCRIBE, type Group, has, lasts, messageOf } from './alert.ts';

const CLUSTER = '{{ $labels.namespace }}/{{ $labels.name }}';

const RESTART = `\`temporal workflow signal --name restart -i '{"by":"ana"}' -w ${CLUSTER_WORKFLOW}\``;

export const WAITING: Group = {
  name: 'etcd-operator.waiting',
  title: 'Waiting for a person',
  alerts: [
    {
      name: 'EtcdClusterApprovalWaiting',
      severity: 'warning',
      for: '5m',
      expr: has('EtcdCluster', 'Progressing', 'approval'),
      summary: `EtcdCluster ${CLUSTER} waits for an approval`,
      description: `The next step on ${CLUSTER} is done only if a person approves it.`,
      runbook: {
        means:
          'The operator would do something that only a person may decide, such as the third replacement of a member within an hour.',
        look: [
          messageOf('EtcdCluster', 'Progressing'),
          `temporal workflow query --name plan -w ${CLUSTER_WORKFLOW}`,
        ],
        act: [
          'Find out why it is needed, then approve with the command of the message, with an EtcdRequest `Approve` ([requests](requests.md)), or abort.',
        ],
        ends: 'When the step was approved or refused, or is no longer needed.',
      },
    },
    {
      name: 'EtcdClusterBlocked',
      severity: 'warning',
      for: '1h',
      expr: lasts('EtcdCluster', 'Progressing', 'blocked'),
      summary: `EtcdCluster ${CLUSTER} has been blocked for an hour`,
      description: `There is something to be done for ${CLUSTER}, and it is not safe or not possible to continue.`,
      runbook: {
        means:
          'The operator sees work and an [obstacle](../reference/obstacles.md). It checks again automatically.',
        look: [messageOf('EtcdCluster', 'Progressing'), DESCRIBE],
        act: [
          'The message names the obstacle; [obstacles](../reference/obstacles.md) says what to do about each.',
        ],
        ends: 'When the work continues, or is no longer requested.',
      },
    },
    {
      name: 'EtcdClusterPausedForLong',
      severity: 'info',
      for: '1d',
      expr: lasts('EtcdCluster', 'Paused', 'paused'),
      summary: `EtcdCluster ${CLUSTER} has been paused for a day`,
      description: `While ${CLUSTER} is paused, lost members are not replaced and certificates of TLS.auto are not renewed.`,
      runbook: {
        means: 'A person paused the cluster, or `spec.paused` is true. Nothing is repaired meanwhile.',
        look: [messageOf('EtcdCluster', 'Paused')],
        act: [
          'Ask the user whom the message names.',
          'Paused by `spec.paused`: `kubectl -n $NS patch etcd $NAME --type merge -p \'{"spec":{"paused":false}}\'`. Paused by a person: the message `resume` or an EtcdRequest `Resume` ([intervening](intervene.md)).',
        ],
        ends: 'When the cluster is resumed.',
      },
    },
    {
      name: 'EtcdRequestWaiting',
      severity: 'warning',
      for: '5m',
      expr: 'max by (namespace) (etcd_operator_requests_oldest_waiting_seconds) > 60',
      summary: 'An EtcdRequest is neither accepted nor refused',
      description: 'What a person asked for has not reached the workflow of its resource for minutes.',
      runbook: {
        means: 'An EtcdRequest has waited for minutes. Mostly Temporal is out of reach, or no worker runs.',
        look: ['kubectl get etcdrequests --all-namespaces -o wide'],
        act: [
          'See [EtcdOperatorTemporalUnreachable](#etcdoperatortemporalunreachable). A request that was not accepted before `status.expiresAt` expires (`Expired`), and has to be made again.',
        ],
        ends: 'When no EtcdRequest waits for longer than a minute.',
      },
    },
    {
      name: 'EtcdClusterVersionLosesData',
      severity: 'warning',
      for: '1h',
      expr: lasts('EtcdCluster', 'VersionOutdated', 'losesData'),
      summary: `EtcdCluster ${CLUSTER} runs a version of etcd that can lose data`,
      description: `The version of etcd in ${CLUSTER} has a known bug that can lose data or a member.`,
      runbook: {
        means: 'The members run a release of etcd with a known bug that can lose data or a member.',
        look: [messageOf('EtcdCluster', 'VersionOutdated')],
        act: ['Take a backup, then [upgrade](upgrade.md) to the version that the message names.'],
        ends: 'When all members run that version.',
      },
    },
    {
      name: 'EtcdClusterVersionVulnerable',
      severity: 'info',
      for: '1d',
      expr: lasts('EtcdCluster', 'VersionOutdated', 'vulnerable'),
      summary: `EtcdCluster ${CLUSTER} runs a version of etcd with a known vulnerability`,
      description: `The version of etcd in ${CLUSTER} has a known vulnerability.`,
      runbook: {
        means: 'The members run a release of etcd with a known vulnerability.',
        look: [messageOf('EtcdCluster', 'VersionOutdated')],
        act: ['[Upgrade](upgrade.md) to the version that the message names.'],
        ends: 'When all members run that version.',
      },
    },
    {
      name: 'EtcdClusterPodMayStartEmpty',
      severity: 'warning',
      for: '1h',
      expr: lasts('EtcdCluster', 'PodsOutdated', 'mayStartEmpty'),
      summary: `Pods of EtcdCluster ${CLUSTER} would start on an empty volume`,
      description: `Pods of ${CLUSTER} would start with their old member ids even if their volumes were emptied.`,
      runbook: {
        means:
          'Pods contain the values of the bootstrap in their arguments, as those made by hand or by other operators do.',
        look: [messageOf('EtcdCluster', 'PodsOutdated')],
        act: [
          `Empty no volume. Send [restart](intervene.md): ${RESTART}. Members are restarted one at a time, and their new pods refuse an empty volume.`,
        ],
        ends: 'When every such pod was created again.',
      },
    },
    {
      name: 'EtcdClusterPodsOutdated',
      severity: 'info',
      for: '7d',
      expr: lasts('EtcdCluster', 'PodsOutdated', 'earlierRelease'),
      summary: `Pods of EtcdCluster ${CLUSTER} were made by another release of the operator`,
      description: `A new release of the operator restarts no member, so pods of ${CLUSTER} still lack what it renders differently.`,
      runbook: {
        means:
          'The operator was upgraded a week ago or more, and would render some pods differently today. They work.',
        look: [messageOf('EtcdCluster', 'PodsOutdated')],
        act: [
          `Nothing has to be done. To update them now, send [restart](intervene.md) in a quiet hour: ${RESTART}.`,
        ],
        ends: 'When every such pod was created again.',
      },
    },
  ],
};
