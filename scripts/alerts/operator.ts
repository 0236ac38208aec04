/** Alerts on the operator itself: while one of them fires, etcd runs on, and nothing is repaired. */
import { type Group, hasOfAnyKind, OPERATOR_LOGS, OPERATOR_PODS, WORKFLOW } from './alert.ts';

const RESOURCE = '{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }}';
const SHORT = 'The page assumes that the operator is in the namespace `etcd-operator`.';
/** Of the pods of an operator: other programs have workers of Temporal too. */
const OWN_PODS = 'and on (namespace, pod) etcd_operator_watcher_leader';

export const OPERATOR: Group = {
  name: 'etcd-operator.operator',
  title: 'The operator',
  alerts: [
    {
      name: 'EtcdOperatorDown',
      severity: 'critical',
      for: '5m',
      expr: 'absent(etcd_operator_watcher_leader)',
      summary: 'No etcd operator is scraped',
      description:
        'No operator runs, or Prometheus does not reach its metrics. Running members keep running; nothing is repaired or backed up.',
      runbook: {
        means: `No replica answers Prometheus. If none runs, no cluster is repaired and no backup is taken. ${SHORT}`,
        look: [OPERATOR_PODS, 'kubectl -n etcd-operator describe deployment etcd-operator', OPERATOR_LOGS],
        act: [
          'Pods run and are ready: it is the scraping. The namespace of Prometheus needs the label `metrics=enabled` ([network policies](install.md#network-policies)).',
          'There are no pods: the Deployment was scaled down. `kubectl -n etcd-operator scale deployment etcd-operator --replicas=2`.',
          'Pods crash: the log names the variable or the permission that is wrong.',
        ],
        ends: 'When a replica is scraped.',
      },
    },
    {
      name: 'EtcdOperatorNotWatching',
      severity: 'critical',
      for: '5m',
      expr: 'sum by (namespace) (etcd_operator_watcher_leader) < 1',
      summary: 'No replica of the etcd operator in {{ $labels.namespace }} watches',
      description:
        'Replicas run, and none holds the lease: changes reach no workflow, and dead members are not noticed.',
      runbook: {
        means:
          'Replicas are scraped, and none of them has become the one that watches. A handover takes seconds.',
        look: [
          OPERATOR_PODS,
          'kubectl -n etcd-operator get lease etcd-operator-watcher -o yaml',
          OPERATOR_LOGS,
        ],
        act: [
          'Not ready: the readiness probe and the log say what they wait for, mostly Temporal.',
          'The lease cannot be written: permissions (`deploy/rbac/lease-role.yaml`), or the API server is slow or throttles.',
        ],
        ends: 'When one replica watches.',
      },
    },
    {
      name: 'EtcdOperatorTemporalUnreachable',
      severity: 'critical',
      for: '5m',
      expr: [
        'max(etcd_operator_fleet_conditions{type="TemporalUnavailable"}) > 0',
        'or',
        'max(',
        '  sum by (namespace, pod) (rate(temporal_long_request_failure[5m]))',
        '    / sum by (namespace, pod) (rate(temporal_long_request[5m]))',
        `  ${OWN_PODS}`,
        ') > 0.5',
      ].join('\n'),
      summary: 'The etcd operator does not reach Temporal',
      description:
        'Members keep running, and nothing is created, changed, repaired or backed up until Temporal answers.',
      runbook: {
        means:
          'Most of the requests by which the workers ask Temporal for tasks fail, or signals were not accepted for three seconds or more.',
        look: [
          `kubectl get etcd --all-namespaces -o jsonpath='{range .items[*]}{.metadata.name}{": "}{.status.conditions[?(@.type=="TemporalUnavailable")].message}{"\\n"}{end}'`,
          OPERATOR_LOGS,
          `temporal operator cluster health || echo 'Temporal does not answer here either'`,
        ],
        act: [
          'Bring Temporal back, its database above all. The operator retries automatically, and continues where it was.',
          'Temporal answers others: compare address, namespace, certificates and API key of the operator ([configuration](../reference/configuration.md)). The log says if Temporal refuses the operator ([API key](temporal.md#api-key)).',
          'Temporal has lost its data: nothing to do, the operator continues from the state of the clusters.',
        ],
        ends: 'About five minutes after Temporal answers.',
      },
    },
    {
      name: 'EtcdOperatorTemporalCertificatesOutdated',
      severity: 'warning',
      for: '15m',
      expr: 'max by (namespace) (etcd_operator_temporal_certificates_outdated) > 0',
      summary:
        'The etcd operator in {{ $labels.namespace }} cannot use its new certificates or API key for Temporal',
      description:
        'The files of certificates or of the API key have changed and do not work. The operator uses the previous ones, until they expire.',
      runbook: {
        means:
          'The files hold half of a pair, or what Temporal does not let the operator in with; the previous ones stay in use.',
        look: [OPERATOR_LOGS],
        act: [
          'Correct the Secret; it is read again every ten seconds ([certificates](install.md#certificates-for-temporal), [API key](temporal.md#api-key)).',
        ],
        ends: 'When the files are in use.',
      },
    },
    {
      name: 'EtcdOperatorTemporalKeysOutdated',
      severity: 'warning',
      for: '15m',
      expr: 'max by (namespace) (etcd_operator_temporal_codec_keys_outdated) > 0',
      summary: 'The etcd operator in {{ $labels.namespace }} cannot use its new keys for payloads',
      description:
        'The files of keys for the payloads in Temporal hold something that cannot be used. The former keys stay in use, until a restart.',
      runbook: {
        means:
          'A mounted file of keys is not what the operator expects; the log says why. A replica that starts now would not start.',
        look: [OPERATOR_LOGS],
        act: [
          'Correct the Secret with the keys; it is read again ([encrypted payloads](temporal.md#encrypted-payloads)).',
        ],
        ends: 'When the files are in use.',
      },
    },
    {
      name: 'EtcdOperatorPassFailing',
      severity: 'warning',
      for: '5m',
      expr: 'max by (kind) (etcd_operator_resources_without_pass) > 0',
      summary: 'Passes of resources of kind {{ $labels.kind }} fail',
      description:
        'For some resources no pass has succeeded for minutes: their status is not current, and nothing is done for them.',
      runbook: {
        means: 'For a minute or more no pass of a resource has succeeded: it fails, or no worker runs it.',
        look: [
          `kubectl get etcd,etcdbackups,etcdrestores --all-namespaces -o jsonpath='{range .items[?(@.status.conditions)]}{.kind} {.metadata.namespace}/{.metadata.name} {.status.conditions[?(@.type=="PassFailing")].message}{"\\n"}{end}'`,
          OPERATOR_LOGS,
        ],
        act: [
          '`PassFails`: the message has the error: a missing permission, a webhook or quota that refuses, a server that does not answer.',
          '`TasksNotCompleted`: the pods of the operator lack CPU time or do not run ([sizing](sizing.md)).',
          '`OtherTaskQueue`: the operator has another task queue; set `TASK_QUEUE`, or `temporal.taskQueue` of the chart, to the one in the message.',
        ],
        ends: 'When a pass of each resource has succeeded.',
      },
    },
    {
      name: 'EtcdOperatorTaskQueueShared',
      severity: 'critical',
      for: '5m',
      expr: 'max by (namespace) (etcd_operator_other_installations) > 0',
      summary: 'Another installation takes tasks of the etcd operator in {{ $labels.namespace }}',
      description:
        'Workers of another installation serve the same namespace and task queue of Temporal. Each ends workflows of the other.',
      runbook: {
        means:
          'Two installations have the same Temporal namespace and task queue, such as two Kubernetes clusters with the default settings. A task reaches any of their workers. One that finds no resource of its name takes it for deleted, and ends its workflow, which is then started again. No data is lost, but nothing is done in time.',
        look: [
          "kubectl -n etcd-operator logs -l app.kubernetes.io/name=etcd-operator --tail=-1 | grep 'another installation'",
          'temporal task-queue describe -n etcd-operator --task-queue etcd-operator',
        ],
        act: [
          'The names of workers are those of pods, with the installation after the `@`. Find the Kubernetes cluster with the other pods.',
          'Give one of the two another `TEMPORAL_NAMESPACE`, or, in one Kubernetes cluster, another `TASK_QUEUE` ([Temporal](temporal.md)).',
          'Then terminate the workflows that it has left: their names contain namespaces and names of its resources.',
        ],
        ends: 'Two minutes after the last worker of the other one has stopped.',
      },
    },
    {
      name: 'EtcdOperatorWorkflowStuck',
      severity: 'warning',
      for: '5m',
      expr: hasOfAnyKind('WorkflowStuck'),
      summary: `The workflow of ${RESOURCE} cannot continue`,
      description: `Tasks of the workflow of ${RESOURCE} fail again and again: nothing is done for it.`,
      runbook: {
        means:
          'The code of the workflow does not fit its history, or fails in another way. It is a fault of the operator.',
        look: [
          `kubectl -n $NS get $KIND $NAME -o jsonpath='{.status.conditions[?(@.type=="WorkflowStuck")].message}{"\\n"}'`,
          `temporal workflow show -w ${WORKFLOW}`,
        ],
        act: [
          `Keep the history for a report: \`temporal workflow show -o json -w ${WORKFLOW} > /tmp/history.json\`.`,
          '`a payload is encrypted with the key …`: add the key to the Secret again ([keys](temporal.md#if-a-key-is-missing)).',
          `Deploy a release of the operator that can replay the history; or terminate the workflow: \`temporal workflow terminate --reason stuck -w ${WORKFLOW}\`. The operator starts it again from what it observes. What users requested and is still open stands in its status; the state of the cluster is in the cluster.`,
        ],
        ends: 'When its tasks succeed.',
      },
    },
    {
      name: 'EtcdOperatorRetrying',
      severity: 'warning',
      for: '15m',
      expr: hasOfAnyKind('Retrying'),
      summary: `What the operator does for ${RESOURCE} keeps failing`,
      description: `The operator tries again and again to do something for ${RESOURCE}: a backup, a restore or a change of the cluster does not get on.`,
      runbook: {
        means: 'An activity of the operator has failed at least twice, and the last try has failed, too.',
        look: [
          `kubectl -n $NS get $KIND $NAME -o jsonpath='{.status.conditions[?(@.type=="Retrying")].message}{"\\n"}'`,
          'kubectl -n $NS get events --field-selector reason=ActivityFails',
        ],
        act: [
          'The message begins with the activity and ends with its error. Remove the cause: a Secret, claim or cluster that does not exist, wrong credentials, a closed port, a missing permission, a quota.',
          'Of a backup, see [errors](backup.md#troubleshooting) and [stores](stores.md#errors).',
        ],
        ends: 'When a try succeeds, or the next pass finds something else to do.',
      },
    },
    {
      name: 'EtcdOperatorUncaughtErrors',
      severity: 'warning',
      for: '0m',
      expr: 'sum by (namespace) (increase(etcd_operator_uncaught_errors_total[1h])) > 0',
      summary: 'The etcd operator in {{ $labels.namespace }} had an uncaught error',
      description: 'A fault of the operator. It runs on; what it was doing is tried again by Temporal.',
      runbook: {
        means:
          'Code of the operator, or of a library, threw where nothing catches. The process survives ([reason](../decisions/0055-the-operator-s-process-and-image.md)).',
        look: [OPERATOR_LOGS],
        act: ['Report the error with its stack trace.'],
        ends: 'An hour after the last one.',
      },
    },
    {
      name: 'EtcdOperatorForbidden',
      severity: 'warning',
      for: '10m',
      expr: 'sum by (method, kind) (increase(etcd_operator_kubernetes_call_duration_seconds_count{code="403"}[10m])) > 0',
      summary: 'The API server forbids the etcd operator to {{ $labels.method }} {{ $labels.kind }}',
      description:
        'The operator lacks a permission, or an admission policy or a quota refuses what it writes.',
      runbook: {
        means:
          'Calls of the operator are answered with 403: RBAC, an admission webhook, a policy, or a ResourceQuota.',
        look: [
          OPERATOR_LOGS,
          'kubectl auth can-i --list --as=system:serviceaccount:etcd-operator:etcd-operator -n $NS',
        ],
        act: [
          'Permissions: apply those of the release that runs, `kubectl apply --server-side --force-conflicts -k deploy/rbac`.',
          'For quotas and policies, see the message of `PassFailing` or `Progressing`.',
        ],
        ends: 'Ten minutes after the last refusal.',
      },
    },
  ],
};
