/** A real Prometheus on this machine that scrapes a stack as deploy/monitoring/prometheus.yml says, with the rules of the chart. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { root } from '../../scripts/run.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { CHART } from './helm.ts';
import { discoverPods, type PodDiscovery } from './pod-discovery.ts';
import { poll } from './poll.ts';
import { freePort } from './free-ports.ts';

/** A test run that is cut short leaves no process behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** As Prometheus' API returns it. */
export interface FiringAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Of now. */
  readonly value: readonly [time: number, value: string];
}

export interface Prometheus {
  readonly url: string;
  /** @throws when the expression is refused */
  readonly query: (expr: string) => Promise<readonly Series[]>;
  readonly alerts: () => Promise<readonly FiringAlert[]>;
  /** What it has printed. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

interface ScrapeConfig {
  readonly kubernetes_sd_configs: readonly {
    readonly namespaces?: { readonly names: readonly [string] };
  }[];
}

/**
 * Scrapes every ten seconds, and evaluates every second. `KEPT_PROMETHEUS` in the environment names a folder to which its data are copied in the end.
 * @param timesFaster the time that an alert must hold (`for`) is divided by this; nothing else of the rules is changed
 */
export async function startPrometheus(
  kube: KubeClient,
  { timesFaster }: { readonly timesFaster: number },
): Promise<Prometheus> {
  const program = (await ensureToolchain({ only: ['prometheus'] })).path('prometheus');
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  const kept = process.env['KEPT_PROMETHEUS'];
  const discovery = await discoverPods(kube);
  writeFileSync(join(folder, 'prometheus.yml'), configuration(discovery));
  const rules = readFileSync(join(CHART, 'files/alerts/groups.yaml'), 'utf8');
  writeFileSync(join(folder, 'etcd-operator.rules.yml'), faster(rules, timesFaster));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(folder, 'log');
  const output = openSync(logFile, 'w');
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(program, args, { stdio: ['ignore', output, output], cwd: folder });
  closeSync(output);
  running.add(child);
  const ended = once(child, 'exit');
  const log = (): string => readFileSync(logFile, 'utf8');
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as {
      readonly status: string;
      readonly data: T;
      readonly error?: string;
    };
    if (status !== 'success') throw new Error(`${path}: ${error}`);
    return data;
  };
  await poll(async () => (await fetch(`${url}/-/ready`)).ok, { timeoutMs: 60_000, otherwise: log });
  return {
    url,
    query: async expr =>
      (await ask<{ readonly result: readonly Series[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    alerts: async () => (await ask<{ readonly alerts: readonly FiringAlert[] }>('alerts')).alerts,
    log,
    stop: async () => {
      discovery.stop();
      child.kill('SIGTERM');
      await ended;
      running.delete(child);
      if (kept !== undefined) cpSync(folder, join(kept, basename(folder)), { recursive: true });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(discovery: PodDiscovery): string {
  const shipped = parse(readFileSync(join(root, 'deploy/monitoring/prometheus.yml'), 'utf8')) as {
    readonly scrape_configs: readonly ScrapeConfig[];
  };
  const scrape_configs = shipped.scrape_configs.map(({ kubernetes_sd_configs, ...config }) => ({
    ...config,
    scrape_interval: '10s',
    scrape_timeout: '10s',
    http_sd_configs: kubernetes_sd_configs.map(({ namespaces }) => discovery.of(namespaces?.names[0])),
  }));
  return stringify({ ...shipped, global: { evaluation_interval: '1s' }, scrape_configs });
}

/** Only the lines with `for` differ. */
function faster(rules: string, times: number): string {
  const seconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400 };
  return rules.replaceAll(/^( +for: )(\d+)([mhd])$/gm, (_, start: string, amount: string, unit: string) => {
    const milliseconds = Math.ceil((Number(amount) * (seconds[unit] ?? Number.NaN) * 1_000) / times);
    return `${start}${milliseconds}ms`;
  });
}
