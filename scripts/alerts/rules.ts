/** The alerts as Prometheus reads them. */
import { stringify } from 'yaml';
import type { Alert } from './alert.ts';
import { anchorOf, GROUPS, RUNBOOKS } from './catalogue.ts';

const SOURCE = '# Generated from scripts/alerts by `npm run generate`. Do not edit.';
const toYaml = (value: unknown): string => stringify(value, { lineWidth: 0 });

/** The rules of all groups: what stands in a rule file of Prometheus, and in the `spec` of a PrometheusRule. */
function ruleGroups() {
  return { groups: GROUPS.map(({ name, alerts }) => ({ name, rules: alerts.map(ruleOf) })) };
}

function ruleOf(alert: Alert) {
  const { name, severity, expr, summary, description } = alert;
  return {
    alert: name,
    expr,
    for: alert.for,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${RUNBOOKS}#${anchorOf(alert)}` },
  };
}

/** For deploy/monitoring. */
export function prometheusRule(): string {
  const metadata = { name: 'etcd-operator', labels: { 'app.kubernetes.io/name': 'etcd-operator' } };
  const object = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule', metadata };
  return `${SOURCE}\n${toYaml({ ...object, spec: ruleGroups() })}`;
}

/** For the chart, whose template sets the address of the runbooks. */
export function ruleFile(): string {
  return `${SOURCE}\n${toYaml(ruleGroups())}`;
}
