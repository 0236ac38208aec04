/** Writes what was asked for: for users, or in a format for programs. */
import { stringify } from 'yaml';
import { API_VERSION } from '../api/names.ts';
import type { Flags } from './arguments/flags.ts';
import type { Show } from './commands/command.ts';
import type { Io } from './io.ts';
import { paint } from './views/lines.ts';

/** Colors: on a terminal, unless somebody does not want them (https://no-color.org). */
function isColored(flags: Flags, { isTerminal, env }: Io): boolean {
  return isTerminal && !flags.has('no-color') && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

export function showOn(io: Io, flags: Flags): Show {
  const format = flags.value('output');
  return ({ data, lines }) => {
    if (format === undefined) io.out(paint(lines, isColored(flags, io)));
    else io.out(formatted(data, format));
  };
}

/** In YAML each value is a document of its own. */
export function formatted(data: unknown, format: string): string {
  return format === 'json'
    ? `${JSON.stringify(data, null, 2)}\n`
    : `---\n${stringify(data, { lineWidth: 0 })}`;
}

/** Objects as kubectl lists them. */
export function listOf(kind: string, items: readonly unknown[]): unknown {
  return { apiVersion: API_VERSION, kind: `${kind}List`, items };
}
