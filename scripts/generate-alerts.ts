/** Writes the rules of alerts, what a plain Prometheus scrapes, and the page that says what to do about them. */
import { alertsPage } from './alerts/page.ts';
import { RUNBOOKS } from './alerts/catalogue.ts';
import { prometheusRule, ruleFile } from './alerts/rules.ts';
import { prometheusConfiguration } from './alerts/scraping.ts';
import { CHART } from './chart/values.ts';

/** The generated files: path from the root of the checkout to content. The same input gives the same bytes. */
export function generateAlerts(): Map<string, string> {
  return new Map([
    ['deploy/monitoring/rules.yaml', prometheusRule()],
    [`${CHART}/files/alerts/groups.yaml`, ruleFile()],
    ['deploy/monitoring/prometheus.yml', prometheusConfiguration()],
    [RUNBOOKS, alertsPage()],
  ]);
}
