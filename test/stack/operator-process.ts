/** The operator as a process of its own, the way its container starts it, on the host. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';

const root = join(import.meta.dirname, '../..');

export interface OperatorProcess {
  /** GET on the health port: status and text, or undefined while nobody listens. */
  health(
    path: '/healthz' | '/readyz',
  ): Promise<{ readonly status: number; readonly text: string } | undefined>;
  /** The text of /metrics. */
  metrics(): Promise<string>;
  /** The text of the metrics of Temporal's SDK. */
  sdkMetrics(): Promise<string>;
  /** Of the process, for test/stack/process-usage.ts. */
  readonly pid: number;
  /** Everything that it has written so far. */
  output(): string;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** The operator of the sources, and the one that `scripts/build.ts` has made of them, which starts sooner. */
const PROGRAMS = {
  sources: [join(root, 'src/main/operator.ts')],
  compiled: [join(root, 'dist/main/operator.js')],
} as const;

/** Starts an operator; `environment` is all that it gets, apart from ports that are free. */
export async function startOperatorProcess(
  environment: Record<string, string>,
  program: keyof typeof PROGRAMS = 'sources',
): Promise<OperatorProcess> {
  const { health, metrics, temporalMetrics } = await freePorts('health', 'metrics', 'temporalMetrics');
  const child = spawn(process.execPath, [...PROGRAMS[program]], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HEALTH_PORT: String(health),
      METRICS_PORT: String(metrics),
      TEMPORAL_METRICS_PORT: String(temporalMetrics),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const get = async (port: number, path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return {
    health: path => get(health, path).catch(() => undefined),
    metrics: async () => (await get(metrics, '/metrics')).text,
    sdkMetrics: async () => (await get(temporalMetrics, '/metrics')).text,
    pid: child.pid ?? 0,
    output,
    signal: name => void child.kill(name),
    ended: new Promise(resolve => child.once('exit', code => resolve(code))),
  };
}

function collect(child: ChildProcess): () => string {
  let output = '';
  const keep = (chunk: Buffer): void => {
    output += chunk.toString();
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  child.once('exit', () => process.off('exit', killOnExit));
  return () => output;
}
