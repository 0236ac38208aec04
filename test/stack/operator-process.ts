/** The operator as a process of its own, the way its container starts it, on the host. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface OperatorProcess {
  /** GET on the health port: status and text, or undefined while nobody listens. */
  health(
    path: '/healthz' | '/readyz',
  ): Promise<{ readonly status: number; readonly text: string } | undefined>;
  /** The text of /metrics. */
  metrics(): Promise<string>;
  /** The most memory that it has had so far (resident, of a Linux machine); bytes. */
  peakMemory(): number;
  /** Everything that it has written so far. */
  output(): string;
  /** Seconds of processor time that it has used so far. */
  processorSeconds(): number;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** `USER_HZ`, which is 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** The operator of the sources, and the one that `scripts/build.ts` has made of them, which starts sooner. */
const PROGRAMS = {
  sources: ['--import', join(root, 'src/main/workflow-threads.ts'), join(root, 'src/main/operator.ts')],
  compiled: ['--import', join(root, 'dist/main/workflow-threads.js'), join(root, 'dist/main/operator.js')],
} as const;

/** Starts an operator; `environment` is all that it gets, apart from ports that are free. */
export async function startOperatorProcess(
  environment: Record<string, string>,
  program: keyof typeof PROGRAMS = 'sources',
): Promise<OperatorProcess> {
  const [health, metrics, temporalMetrics] = await Promise.all([freePort(), freePort(), freePort()]);
  const args = PROGRAMS[program];
  const child = spawn(process.execPath, args, {
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
    peakMemory: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    },
    output,
    processorSeconds: () => {
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
      // utime and stime; the second field is a name in parentheses, which may hold anything.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
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

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
