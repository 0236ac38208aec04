/** What an alert is, and the parts that many have in common. */
import { type Concern, reasonsOf, type ReportedType } from '../../src/api/conditions/reported.ts';
import type { Kind } from '../../src/api/names.ts';

/** `critical`: act now; `warning`: act today; `info`: know it. */
type Severity = 'critical' | 'warning' | 'info';

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** How long the expression must hold, as Prometheus writes it. */
  readonly for: string;
  /** In PromQL. */
  readonly expr: string;
  /** One line; `{{ $labels.x }}` is the only kind of template that is used. */
  readonly summary: string;
  /** What it means for those who use etcd, in one or two sentences. */
  readonly description: string;
  readonly runbook: Runbook;
}

/** The section of an alert in docs/operations/alerts.md. Texts are Markdown. */
interface Runbook {
  readonly means: string;
  /** Shell, with NS, NAME and so on from the labels of the alert. */
  readonly look: readonly string[];
  /** Commands in backquotes are shell too. */
  readonly act: readonly string[];
  /** When the alert ends. */
  readonly ends: string;
}

export interface Group {
  readonly name: string;
  /** Heads the sections of its alerts. */
  readonly title: string;
  readonly alerts: readonly Alert[];
}

/** Holds while a resource of the kind has the condition for a reason of this concern; labels: kind, namespace and name. */
export function has<K extends Kind, T extends ReportedType<K>>(
  kind: K,
  type: T,
  concern: Concern<K, T>,
): string {
  return `max by (kind, namespace, name) (${conditions(kind, type, concern)}) > 0`;
}

/**
 * The same, if it had it within five minutes: for alerts on what lasts an hour or more. Another replica of the operator, or a new one, reports
 * nothing for some seconds, and the time of the alert must not begin again.
 */
export function lasts<K extends Kind, T extends ReportedType<K>>(
  kind: K,
  type: T,
  concern: Concern<K, T>,
): string {
  return `max by (kind, namespace, name) (max_over_time(${conditions(kind, type, concern)}[5m])) > 0`;
}

function conditions<K extends Kind, T extends ReportedType<K>>(
  kind: K,
  type: T,
  concern: Concern<K, T>,
): string {
  const reasons = reasonsOf(kind, type, concern).join('|');
  return `etcd_operator_resource_condition{kind="${kind}",type="${type}",reason=~"${reasons}"}`;
}

/** The same of every kind, for what the operator says of itself. */
export function hasOfAnyKind<
  T extends ReportedType<'EtcdCluster'> & ReportedType<'EtcdBackup'> & ReportedType<'EtcdRestore'>,
>(type: T): string {
  return `max by (kind, namespace, name) (etcd_operator_resource_condition{type="${type}"}) > 0`;
}

const RESOURCES = { EtcdCluster: 'etcd', EtcdBackup: 'etcdbackup', EtcdRestore: 'etcdrestore' } as const;

/** The command that shows the message of a condition. */
export function messageOf<K extends Kind>(kind: K, type: ReportedType<K>): string {
  const path = `{.status.conditions[?(@.type=="${type}")].message}`;
  return `kubectl -n $NS get ${RESOURCES[kind]} $NAME -o jsonpath='${path}{"\\n"}'`;
}

/** The workflow of a resource. */
const workflowOf = (resource: string): string =>
  `"$(kubectl -n $NS get ${resource} $NAME -o jsonpath='{.status.workflowID}')"`;
export const WORKFLOW = workflowOf('$KIND');
export const CLUSTER_WORKFLOW = workflowOf('etcd');
export const BACKUP_WORKFLOW = workflowOf('etcdbackup');

/** etcdctl in a ready member; pods are named by serials, so that a pod of the number 0 need not exist. */
export const ETCDCTL = 'kubectl -n $NS exec svc/$NAME-client -c etcd -- etcdctl';
export const PODS = 'kubectl -n $NS get pods,pvc -l etcd_cluster=$NAME -o wide';
export const DESCRIBE = 'kubectl -n $NS describe etcd $NAME      # conditions and events';
export const OPERATOR_PODS = 'kubectl -n etcd-operator get pods -o wide';
export const OPERATOR_LOGS = `kubectl -n etcd-operator logs -l app.kubernetes.io/name=etcd-operator --prefix --tail=-1 --since=1h | grep -E '"level":"(warn|error|fatal)"'`;
