/** From a command line to an exit code. */
import { FLAGS, type FlagName } from './arguments/flags.ts';
import { type CommandLine, parseCommandLine } from './arguments/parse.ts';
import { didYouMean } from './arguments/suggest.ts';
import { type AloneRow, type CommandForm, type CommandRow, globalFlagsOf } from './commands/command.ts';
import { COMMANDS } from './commands/table.ts';
import { complete } from './completion.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { Failure, usageFailure } from './failure.ts';
import { helpOf, helpOfAll } from './help.ts';
import type { Io } from './io.ts';
import { explainKubeError } from './kube-failures.ts';
import { showOn } from './output.ts';
import { Session } from './session.ts';

/** The command that kubectl_complete-etcd runs; not in help. */
const COMPLETE = '__complete';

/**
 * Runs one command. What goes wrong is said on the standard error output, with what to do about it.
 * @param argv without the program
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    if (argv[0] === COMPLETE) {
      await complete(argv.slice(1), io);
      return EXIT.done;
    }
    return await runOrThrow(parseCommandLine(argv), io);
  } catch (error) {
    const explained = explainKubeError(error);
    if (!(explained instanceof Failure)) throw error;
    io.err(`error: ${explained.message}\n${explained.advice.map(line => `${line}\n`).join('')}`);
    return explained.exit;
  }
}

async function runOrThrow(line: CommandLine, io: Io): Promise<ExitCode> {
  const { command = 'help', words, flags } = line;
  if (command === 'help' || flags.has('help')) {
    const [name] = command === 'help' ? words : [command];
    io.out(name === undefined ? helpOfAll() : helpOf(name, commandNamed(name)));
    return EXIT.done;
  }
  const row = commandNamed(command);
  checkUsage(command, row, line);
  const call = { words, flags, io, show: showOn(io, flags) };
  if ('runAlone' in row) return row.runAlone(call);
  const session = new Session(flags);
  try {
    return await row.run({ ...call, session });
  } finally {
    await session.close();
  }
}

function commandNamed(name: string): CommandRow | AloneRow {
  const row = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (row !== undefined) return row;
  throw usageFailure(
    `there is no command ${name}`,
    ...didYouMean(name, Object.keys(COMMANDS), 'kubectl etcd '),
    'kubectl etcd help lists all commands.',
  );
}

function checkUsage(name: string, row: CommandForm, { words, flags }: CommandLine): void {
  const form = `Usage: kubectl etcd ${`${name} ${row.usage}`.trim()} [FLAGS]`;
  const [least, most] = row.words;
  if (words.length < least) throw usageFailure(`${name} needs ${least === 1 ? 'a name' : row.usage}`, form);
  if (words.length > most) throw usageFailure(`${name} has no use for ${words.slice(most).join(' ')}`, form);
  if (row.noOutput !== undefined && flags.has('output'))
    throw usageFailure(`${name} has no output as json or yaml: ${row.noOutput}`, form);
  const taken = [...globalFlagsOf(row), ...row.flags];
  const foreign = (Object.keys(FLAGS) as FlagName[]).find(flag => flags.has(flag) && !taken.includes(flag));
  if (foreign !== undefined)
    throw usageFailure(`${name} has no flag --${foreign}`, `kubectl etcd help ${name} lists its flags.`);
}
