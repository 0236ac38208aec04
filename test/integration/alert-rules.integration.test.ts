/** The rules of alerts, as Prometheus' own tool evaluates them: each fires when it should, and ends. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import type { Alert } from '../../scripts/alerts/alert.ts';
import { ALERTS, anchorOf, RUNBOOKS } from '../../scripts/alerts/catalogue.ts';
import { root } from '../../scripts/run.ts';
import { CHART } from '../stack/helm.ts';
import { dashboardQueries } from '../stack/dashboard-queries.ts';
import { HEALTHY, STORIES, type Story } from '../stack/alert-stories.ts';

const run = promisify(execFile);
const RULES = join(CHART, 'files/alerts/groups.yaml');

let promtool: string;
let folder: string;

beforeAll(async () => {
  promtool = (await ensureToolchain({ only: ['promtool'] })).path('promtool');
  folder = mkdtempSync(join(tmpdir(), 'alert-rules-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Times are in steps: of a minute, or for alerts that take days of four, which is less than Prometheus looks back. */
interface Timing {
  readonly step: number;
  readonly after: number;
  /** How long things are bad. */
  readonly bad: number;
  /** Until what is asked of the last hour has passed. */
  readonly end: number;
}

function timingOf(alert: Alert): Timing {
  const [, amount, unit = ''] = /^(\d+)([mhd])$/.exec(alert.for) ?? [];
  const minutes = Number(amount) * ({ m: 1, h: 60, d: 1_440 }[unit] ?? Number.NaN);
  const step = minutes > 1_440 ? 4 : 1;
  const after = minutes / step;
  return { step, after, bad: after + 30, end: after + 30 + 70 };
}

/** In promtool's notation: a value, what is added each time, and how many times. */
function valuesOf(course: Story['series'][string], { bad, end }: Timing): string {
  const left = end - bad;
  if ('growsBy' in course) return `0+${course.growsBy}x${bad} ${course.growsBy * bad}+0x${left}`;
  const during = Number.isNaN(course.bad) ? `_x${bad + 1}` : `${course.bad}+0x${bad}`;
  return `${during} ${course.good === undefined ? 'stale' : `${course.good}+0x${left}`}`;
}

const seriesOf = (series: Story['series'], timing: Timing) =>
  Object.entries(series).map(([name, course]) => ({ series: name, values: valuesOf(course, timing) }));

function expected({ severity, summary, description, ...alert }: Alert, { labels }: Story) {
  const filled = (text: string): string =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? `no ${label}`);
  return {
    exp_labels: { ...labels, severity },
    exp_annotations: {
      summary: filled(summary),
      description: filled(description),
      runbook_url: `${RUNBOOKS}#${anchorOf(alert)}`,
    },
  };
}

function testOf(alert: Alert, story: Story) {
  const timing = timingOf(alert);
  const { step, after, bad, end } = timing;
  const at = (steps: number, ...alerts: readonly object[]) => ({
    eval_time: `${steps * step}m`,
    alertname: alert.name,
    exp_alerts: alerts,
  });
  return {
    interval: `${step}m`,
    input_series: seriesOf(story.series, timing),
    alert_rule_test: [...(after > 0 ? [at(after - 1)] : []), at(bad, expected(alert, story)), at(end)],
  };
}

/** The path of a file with the rule of this alert alone, because promtool evaluates all of a file at each step. */
function ruleOf({ name }: Alert): string {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as {
    readonly groups: readonly {
      readonly name: string;
      readonly rules: readonly { readonly alert: string }[];
    }[];
  };
  const file = join(folder, `${name}.rule.yaml`);
  const rules = groups.flatMap(group => group.rules).filter(rule => rule.alert === name);
  writeFileSync(file, stringify({ groups: [{ name, rules }] }));
  return file;
}

/** What promtool prints; its exit code says whether all is as expected. */
async function promtoolTests(
  name: string,
  tests: readonly object[],
  { rules = RULES, step = 1 }: { readonly rules?: string; readonly step?: number } = {},
): Promise<string> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: `${step}m`, tests }));
  const { stdout } = await run(promtool, ['test', 'rules', file], { maxBuffer: 1 << 26 }).catch(
    (error: { stdout?: string; stderr?: string }) => ({
      stdout: `${error.stdout ?? ''}${error.stderr ?? ''}`,
    }),
  );
  return stdout;
}

test('promtool finds no fault in the rules', async () => {
  const { stdout } = await run(promtool, ['check', 'rules', RULES], { cwd: root });
  expect(stdout).toContain(`SUCCESS: ${ALERTS.length} rules found`);
});

test('promtool understands every query of the dashboards', async () => {
  const variables = {
    operator: 'etcd-operator',
    namespace: 'shop',
    cluster: 'example',
    __rate_interval: '5m',
  };
  const queries = dashboardQueries(variables);
  const rules = queries.map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
  const file = join(folder, 'dashboards.yaml');
  writeFileSync(file, stringify({ groups: [{ name: 'dashboards', rules }] }));
  const { stdout } = await run(promtool, ['check', 'rules', file]);
  expect(stdout).toContain(`SUCCESS: ${queries.length} rules found`);
});

test('every alert has a story', () => {
  expect(Object.keys(STORIES).sort()).toEqual(ALERTS.map(({ name }) => name).sort());
});

test.each(ALERTS)('$name fires after its time and ends', async alert => {
  const stories = STORIES[alert.name] ?? [];
  expect(stories.length).toBeGreaterThan(0);
  const tests = stories.map(story => testOf(alert, story));
  const printed = await promtoolTests(alert.name, tests, {
    rules: ruleOf(alert),
    step: timingOf(alert).step,
  });
  expect(printed).toMatch(/SUCCESS\s*$/);
});

test.each(ALERTS.filter(({ for: after }) => /[hd]$/.test(after)))(
  '$name does not begin anew when another replica of the operator takes over',
  async alert => {
    const [story] = STORIES[alert.name] ?? [];
    if (story === undefined) throw new Error('there is no story');
    const timing = timingOf(alert);
    const series = Object.keys(story.series).map(name => ({
      series: name,
      values: `1+0x${timing.after / 2} stale 1+0x${timing.end}`,
    }));
    const { step, bad } = timing;
    const fires = { eval_time: `${(timing.after + 4) * step}m`, alertname: alert.name };
    const tests = [
      {
        interval: `${step}m`,
        input_series: series,
        alert_rule_test: [{ ...fires, exp_alerts: [expected(alert, story)] }],
      },
    ];
    expect(bad).toBeGreaterThan(timing.after + 4);
    expect(await promtoolTests(`${alert.name}.gap`, tests, { rules: ruleOf(alert), step })).toMatch(
      /SUCCESS\s*$/,
    );
  },
);

test('a story that is wrong is noticed', async () => {
  const [alert] = ALERTS;
  const [story] = STORIES[alert?.name ?? ''] ?? [];
  if (alert === undefined || story === undefined) throw new Error('there is no alert');
  const wrong = { ...story, labels: { ...story.labels, name: 'another' } };
  expect(await promtoolTests('wrong', [testOf(alert, wrong)])).toContain('FAILED');
});

test('none fires in a day and a half in which all is well', async () => {
  const days = 1.5 * 1_440;
  const timing: Timing = { step: 1, after: 0, bad: days, end: days };
  const none = ALERTS.flatMap(({ name }) =>
    ['6m', '1h', '8h', '35h'].map(time => ({ eval_time: time, alertname: name, exp_alerts: [] })),
  );
  const tests = [{ interval: '1m', input_series: seriesOf(HEALTHY, timing), alert_rule_test: none }];
  expect(await promtoolTests('healthy', tests)).toMatch(/SUCCESS\s*$/);
});
