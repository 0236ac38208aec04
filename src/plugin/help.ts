/** The help of the plugin and of each command. Pure. */
import { type FlagName, FLAGS, GLOBAL_FLAGS } from './arguments/flags.ts';
import { type CommandForm, globalFlagsOf } from './commands/command.ts';
import { ALONE } from './commands/alone.ts';
import { ASKING } from './commands/asking.ts';
import { LOOKING } from './commands/looking.ts';
import { PLANNING } from './commands/planning.ts';
import { REACHING } from './commands/reaching.ts';

const EXIT_CODES = `Exit codes: 0 done, 1 error, 2 wrong usage, 3 refused or failed request, 4 missing right, 5 timed out.`;

/** All commands. */
export function helpOfAll(): string {
  return `Shows and steers etcd clusters of etcd-operator, through the API server.

Usage: kubectl etcd COMMAND [NAME] [FLAGS]

Look:
${commandList(LOOKING)}
Plan (nothing is written):
${commandList(PLANNING)}
Ask (each creates an EtcdRequest in your name, after a confirmation):
${commandList(ASKING)}
Data, members and support:
${commandList(REACHING)}
The plugin itself:
${commandList(ALONE)}
${flagList('Flags of every command', GLOBAL_FLAGS)}
kubectl etcd help COMMAND shows the flags of one command.
${EXIT_CODES}
`;
}

/** One command. */
export function helpOf(name: string, row: CommandForm): string {
  const { usage, about, flags, more = [] } = row;
  const words = usage === '' ? '' : ` ${usage}`;
  return `kubectl etcd ${name}${words} [FLAGS]

${about[0]?.toUpperCase() ?? ''}${about.slice(1)}.
${more.map(line => `${line}\n`).join('')}
${flags.length === 0 ? '' : `${flagList('Flags', flags)}\n`}${flagList('Flags of every command', globalFlagsOf(row))}`;
}

function commandList(commands: Readonly<Record<string, CommandForm>>): string {
  return columns(Object.entries(commands).map(([name, row]) => [`${name} ${row.usage}`.trim(), row.about]));
}

function flagList(title: string, names: readonly FlagName[]): string {
  const form = (name: FlagName): string => {
    const { short, value } = FLAGS[name];
    return `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  };
  return `${title}:\n${columns(names.map(name => [form(name), FLAGS[name].about]))}`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join('');
}
