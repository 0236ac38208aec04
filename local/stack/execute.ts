import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ExecuteOptions {
  input?: string;
  env?: NodeJS.ProcessEnv;
  timeoutMilliseconds?: number;
}

/**
 * Runs a program and gives its standard output. On any failure it throws an error that names the command and
 * carries the end of what the program said; a program that is not installed is named as such.
 */
export function execute(
  command: string,
  args: readonly string[],
  options: ExecuteOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      command,
      args,
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        ...(options.env ? { env: options.env } : {}),
        ...(options.timeoutMilliseconds
          ? { timeout: options.timeoutMilliseconds, killSignal: 'SIGKILL' }
          : {}),
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const line = [command, ...args].join(' ');
        if (error.code === 'ENOENT') return reject(new Error(`${command} is not installed or not on PATH`));
        const said = (stderr || stdout || error.message).trim().slice(-2000);
        reject(new Error(`${line} failed: ${said}`, { cause: error }));
      },
    );
    child.stdin?.on('error', () => {}); // the program may end without reading its input
    child.stdin?.end(options.input ?? '');
  });
}

/** Like {@link execute}, for clean-up where "it is not there any more" is as good: true when it succeeded. */
export async function attempt(command: string, args: readonly string[]): Promise<boolean> {
  try {
    await execute(command, args);
    return true;
  } catch {
    return false;
  }
}

export interface PollOptions {
  timeoutMilliseconds: number;
  intervalMilliseconds?: number;
  /** What is waited for, as it stands in the error: "timed out after 30 s waiting for <what>". */
  what: string;
  /** Ends the wait early with this error, for example because the process waited for has ended. */
  broken?: () => string | undefined;
}

/**
 * Calls `probe` until it gives something other than undefined and false. A throwing probe counts as "not yet";
 * its last error is reported when the time is up.
 */
export async function poll<T>(probe: () => Promise<T | undefined | false>, options: PollOptions): Promise<T> {
  const deadline = performance.now() + options.timeoutMilliseconds;
  let last: unknown;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    const broken = options.broken?.();
    if (broken !== undefined) throw new Error(`gave up waiting for ${options.what}: ${broken}`);
    if (performance.now() >= deadline) {
      const because = last instanceof Error ? ` (${last.message})` : '';
      const seconds = Math.round(options.timeoutMilliseconds / 1000);
      throw new Error(`timed out after ${seconds} s waiting for ${options.what}${because}`);
    }
    await delay(options.intervalMilliseconds ?? 100);
  }
}
