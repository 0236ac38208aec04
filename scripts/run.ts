/** Runs the commands that the other scripts are made of. */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Our own Node, and the JavaScript entry points of the installed tools, so that no shebang needs a Node on PATH. */
export const node = process.execPath;
export const tool = {
  biome: join(root, 'node_modules/@biomejs/biome/bin/biome'),
  knip: join(root, 'node_modules/knip/bin/knip.js'),
  oxlint: join(root, 'node_modules/oxlint/bin/oxlint'),
  tsc: join(root, 'node_modules/typescript/bin/tsc'),
  vitest: join(root, 'node_modules/vitest/vitest.mjs'),
} as const;

export interface Outcome {
  readonly code: number;
  /** stdout and stderr as they came; empty when `inherit` was asked for. */
  readonly output: string;
  readonly seconds: number;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Straight to this terminal instead of into `output`. */
  readonly inherit?: boolean;
}

/** Runs Node with `args`; never rejects: a command that cannot start has code 127 and says why in `output`. */
export function runNode(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const started = performance.now();
  const seconds = (): number => (performance.now() - started) / 1000;
  return new Promise(resolve => {
    let output = '';
    const child = spawn(node, args, {
      cwd: options.cwd ?? root,
      // Tools that start `node` by name find ours. What Node compiled is kept: tests start hundreds of processes.
      env: {
        NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compile'),
        ...process.env,
        PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}`,
        ...options.env,
      },
      stdio: options.inherit === true ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', error =>
      resolve({ code: 127, output: `${output}${error.message}`, seconds: seconds() }),
    );
    child.on('close', code => resolve({ code: code ?? 1, output, seconds: seconds() }));
  });
}
