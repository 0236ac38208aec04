import { parseArgs } from 'node:util';
import type { Command } from './stack/commands.ts';
import { COMMANDS, USAGE } from './stack/commands.ts';

/** `--name` may stand before the command or, as any other option, after it; what follows `kubectl` is kubectl's. */
function split(argv: readonly string[]): {
  name: string | undefined;
  command: string | undefined;
  rest: string[];
} {
  const words = [...argv];
  let name: string | undefined;
  const takeName = (): void => {
    const first = words[0];
    if (first === '--name') [, name] = words.splice(0, 2);
    else if (first?.startsWith('--name=')) name = words.shift()?.slice('--name='.length);
  };
  takeName();
  const command = words.shift();
  takeName();
  return { name, command, rest: words };
}

async function run(command: Command, name: string | undefined, rest: string[]): Promise<void> {
  if (command.passThrough === true) return command.run({ name: name ?? 'demo', words: rest, options: {} });
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: { name: { type: 'string' }, ...command.options },
  });
  const { name: later, ...options } = values;
  await command.run({
    name: typeof later === 'string' ? later : (name ?? 'demo'),
    words: positionals,
    options,
  });
}

const { name, command: word, rest } = split(process.argv.slice(2));
const command = word === undefined ? undefined : COMMANDS[word];
if (command === undefined) {
  const askedForHelp = word === undefined || ['help', '--help', '-h'].includes(word);
  process.stderr.write(`${askedForHelp ? '' : `local: there is no command ${word}\n\n`}${USAGE}`);
  process.exitCode = askedForHelp ? 0 : 2;
} else {
  try {
    await run(command, name, rest);
  } catch (error) {
    process.stderr.write(`local ${word}: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
