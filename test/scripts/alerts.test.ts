/** The catalogue of alerts. test/integration/alert-rules.integration.test.ts evaluates the rules with promtool. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALERTS, anchorOf, GROUPS, RUNBOOKS } from '../../scripts/alerts/catalogue.ts';
import { DASHBOARDS, panelsOf } from '../../scripts/dashboards/catalogue.ts';
import { root } from '../../scripts/run.ts';
import { REPORTED_CONDITIONS } from '../../src/api/conditions/reported.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { commandsToDo, NOT_PROVOKED, PROVOKED } from '../stack/drill/alert-drills.ts';
import { ETCD_METRICS, SDK_METRICS } from '../../scripts/alerts/foreign-metrics.ts';

const own = createMetrics().descriptions.flatMap(({ name, type }) =>
  type === 'histogram' ? ['_bucket', '_count', '_sum'].map(part => `${name}${part}`) : [name],
);
const metricsIn = (expr: string): string[] => expr.match(/\b(etcd|temporal)_[a-z_]+(?!\w)/g) ?? [];
/** The labels of an expression that are metrics by the look of them. */
const LABELS = ['etcd_cluster'];

describe('an alert', () => {
  test('has a name of its own, and so has its section', () => {
    const names = ALERTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter(name => !/^Etcd[A-Z][A-Za-z]+$/.test(name))).toEqual([]);
    expect(new Set(GROUPS.map(({ name }) => name)).size).toBe(GROUPS.length);
  });

  test.each(ALERTS)('$name is made of metrics that exist', ({ expr }) => {
    const used = metricsIn(expr).filter(name => !LABELS.includes(name));
    expect(used.length).toBeGreaterThan(0);
    const known: readonly string[] = [...own, ...ETCD_METRICS, ...SDK_METRICS];
    expect(used.filter(name => !known.includes(name))).toEqual([]);
  });

  test.each(ALERTS)('$name says with labels alone what it is about', ({ summary, description, expr }) => {
    const templates = `${summary} ${description}`.match(/\{\{.*?\}\}/g) ?? [];
    for (const template of templates) {
      const label = /^\{\{ \$labels\.(\w+) \}\}$/.exec(template)?.[1];
      expect(expr).toMatch(new RegExp(`by \\([^)]*\\b${label ?? template}\\b`));
    }
    expect(summary).not.toMatch(/\.$/);
    expect(description).toMatch(/\.$/);
  });
});

test('every metric of others that is checked is used', () => {
  const queries = DASHBOARDS.flatMap(panelsOf).flatMap(panel => panel.queries);
  const used = [...ALERTS, ...queries].map(({ expr }) => expr).join(' ');
  const isUsed = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(used);
  expect([...ETCD_METRICS, ...SDK_METRICS].filter(name => !isUsed(name))).toEqual([]);
});

test('every condition that metrics report has an alert, and the other way round', () => {
  const asked = ALERTS.flatMap(({ expr }) =>
    [
      ...expr.matchAll(/resource_condition\{(?:kind="(\w+)",)?type="(\w+)"(?:,reason=~"([\w|]+)")?\}/g),
    ].flatMap(([, kind, type, reasons]) =>
      REPORTED_CONDITIONS.filter(
        reported =>
          (kind ?? reported.kind) === reported.kind &&
          reported.type === type &&
          (reasons?.split('|') ?? [reported.reason]).includes(reported.reason),
      ),
    ),
  );
  // By other metrics: resources_without_pass, and the fleet as a whole, since Temporal is out of reach of all.
  const elsewhere = REPORTED_CONDITIONS.filter(({ type }) =>
    ['PassFailing', 'TemporalUnavailable'].includes(type),
  );
  const key = ({ kind, type, reason }: (typeof REPORTED_CONDITIONS)[number]): string =>
    `${kind} ${type} ${reason}`;
  expect([...asked, ...elsewhere].map(key).sort()).toEqual(REPORTED_CONDITIONS.map(key).sort());
});

test('a drill provokes every alert, or there is a reason why none does', () => {
  const listed = [...Object.values(PROVOKED).flat(), ...Object.keys(NOT_PROVOKED)];
  expect(listed.sort()).toEqual(ALERTS.map(({ name }) => name).sort());
  for (const file of Object.keys(PROVOKED)) {
    const drill = readFileSync(join(root, 'test/drill/long', file), 'utf8');
    for (const name of PROVOKED[file as keyof typeof PROVOKED]) expect(drill).toContain(`'${name}'`);
  }
});

test('what drills type of "Do" stands in the runbooks, once', () => {
  const typed = Object.keys(PROVOKED).flatMap(file => [
    ...readFileSync(join(root, 'test/drill/long', file), 'utf8').matchAll(/\.act\(\s*'(\w+)',\s*'([^']+)'/g),
  ]);
  expect(new Set(typed.map(([, name]) => name)).size).toBeGreaterThanOrEqual(5);
  for (const [, name = '', part = ''] of typed)
    expect(commandsToDo(name).filter(command => command.includes(part))).toHaveLength(1);
});

describe('the page of runbooks', () => {
  const page = readFileSync(join(root, RUNBOOKS), 'utf8');
  const anchors = (text: string): string[] =>
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .replaceAll(' ', '-'),
    );

  test.each(ALERTS)('has a section for $name, to which its link leads', alert => {
    expect(anchors(page).filter(anchor => anchor === anchorOf(alert))).toHaveLength(1);
    const section = page.split(`### ${alert.name}\n`)[1]?.split(/^##/m)[0] ?? '';
    for (const part of ['Look at:', 'Do:', 'It ends:']) expect(section).toContain(part);
  });

  test('has no link that leads nowhere', () => {
    const links = [...page.matchAll(/\]\((?!https:)([^)#]*)(?:#([^)]*))?\)/g)];
    expect(links.length).toBeGreaterThan(20);
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? join(root, RUNBOOKS) : join(root, dirname(RUNBOOKS), file);
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchors(readFileSync(target, 'utf8')).includes(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
