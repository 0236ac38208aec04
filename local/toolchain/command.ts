import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheDirectory } from './cache.ts';

export interface CommandOptions {
  /** The working directory; default this process's own. */
  cwd?: string;
  /** The environment, instead of this process's own. */
  env?: NodeJS.ProcessEnv;
  /** A file that gets all output, with its name in the error of a failure. */
  log?: string;
  /** Called with every line of standard error. */
  onLine?: (line: string) => void;
}

/** A command that ended badly: its last lines are in the message, all of them in the log file. */
class CommandError extends Error {
  override name = 'CommandError';
}

/** Lines of a failed command's output that its error repeats. */
const linesShown = 15;

/** The file that takes the output of the step `name`. */
export function logFile(name: string, cache = cacheDirectory()): string {
  return join(cache, 'logs', `${name}.log`);
}

/**
 * Runs a command to its end and returns its standard output. Throws `CommandError` when it cannot be
 * started or does not end with 0, with the last lines that it wrote and the path of the log.
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  if (options.log !== undefined) await mkdir(dirname(options.log), { recursive: true });
  const log = options.log === undefined ? undefined : createWriteStream(options.log, { flags: 'a' });
  log?.write(`$ ${program} ${args.join(' ')}\n`);
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const tail: string[] = [];
  const lines = lineSplitter(line => {
    tail.push(line);
    if (tail.length > linesShown) tail.shift();
    options.onLine?.(line);
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    log?.write(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    lines(chunk);
    log?.write(chunk);
  });
  const failure = await new Promise<string | undefined>(resolve => {
    child.once('error', error => resolve(`cannot be started: ${error.message}`));
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${signal ?? code}`));
  });
  lines('\n');
  await new Promise<void>(resolve => (log === undefined ? resolve() : log.end(() => resolve())));
  if (failure === undefined) return output;
  const shown = tail.length > 0 ? tail : output.trimEnd().split('\n').slice(-linesShown);
  const where = options.log === undefined ? '' : `\nwhole output: ${options.log}`;
  throw new CommandError(
    `${program} ${args.join(' ')} ${failure}\n${shown.map(line => `  ${line}`).join('\n')}${where}`,
  );
}

/** Cuts a stream of chunks into lines; empty lines are dropped. */
function lineSplitter(onLine: (line: string) => void): (chunk: string) => void {
  let rest = '';
  return chunk => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) if (line.trim() !== '') onLine(line);
  };
}
