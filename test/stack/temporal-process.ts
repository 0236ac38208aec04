/** The processes that a Temporal for tests is made of. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { Connection } from '@temporalio/client';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;
const run = promisify(execFile);

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Besides those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The file that everything is added to that it prints. */
  readonly log?: string;
}

/**
 * Starts a program that ends with this process at the latest, and resolves when `serves` does, which is called again while it
 * rejects. Throws what the program printed when it ends before, or when it takes too long.
 */
export async function launch(
  { command, args, env, log }: Command,
  serves: () => Promise<unknown>,
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  child.once('exit', () => process.off('exit', killOnExit));
  let output = '';
  const keep = (chunk: Buffer) => {
    if (log !== undefined) appendFileSync(log, chunk);
    output = (output + chunk.toString()).slice(-8192);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.once('error', error => keep(Buffer.from(String(error))));
  try {
    await untilServing(child, serves);
    return child;
  } catch (error) {
    await end(child, 'SIGKILL');
    throw new Error(`${command} did not come up; it printed: ${output}`, { cause: error });
  }
}

async function untilServing(child: ChildProcess, serves: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    if (hasEnded(child)) throw new Error('it ended by itself');
    try {
      await serves();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }
}

/** Rejects while the frontend does not answer for the namespace. @param token for a server with an authorizer */
export async function servesNamespace(address: string, namespace: string, token?: string): Promise<void> {
  const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const connection = await Connection.connect({ address, connectTimeout: 1_000, metadata });
  try {
    await connection.withDeadline(Date.now() + 2_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
  } finally {
    await connection.close();
  }
}

/** Sends the signal and waits for the end of the process; one that ignores SIGTERM is killed after a while. */
export async function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.pid === undefined || hasEnded(child)) return;
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  child.kill(signal);
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(impatience);
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Runs the CLI against a server and answers its standard output. */
export async function runCli(binary: string, address: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(binary, [...args, '--address', address], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
