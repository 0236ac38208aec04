/** Reads a command line. Pure. */
import { parseArgs } from 'node:util';
import { usageFailure } from '../failure.ts';
import { type FlagName, Flags, FLAGS } from './flags.ts';
import { didYouMean } from './suggest.ts';

export interface CommandLine {
  /** The first word that is no flag. */
  readonly command: string | undefined;
  /** The words after it. */
  readonly words: readonly string[];
  readonly flags: Flags;
}

const NAMES = Object.keys(FLAGS) as FlagName[];

const OPTIONS = Object.fromEntries(
  NAMES.map(name => {
    const { short, value } = FLAGS[name];
    const type = value === undefined ? ('boolean' as const) : ('string' as const);
    return [name, short === undefined ? { type } : { type, short }];
  }),
);

/** @param argv without the program. @throws Failure for a flag that does not exist or lacks its value */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const args = [...argv];
  const { tokens } = parseArgs({
    args,
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const words: string[] = [];
  const values = new Map<FlagName, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind !== 'option') continue;
    const name = knownName(token.rawName, args[token.index] ?? token.rawName);
    // kubectl also reads -n=shop.
    const value = token.rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, '');
    values.set(name, [...(values.get(name) ?? []), valueOf(name, value)]);
  }
  const [command, ...others] = words;
  return { command, words: others, flags: new Flags(values) };
}

/** @param word in which the flag stands, maybe among other short ones */
function knownName(flag: string, word: string): FlagName {
  const typed = flag.replace(/^--?/, '');
  const name = NAMES.find(known => (flag.startsWith('--') ? known : FLAGS[known].short) === typed);
  if (name !== undefined) return name;
  const whole = word.replace(/^--?/, '').replace(/=.*/s, '');
  const where = word === flag || flag.startsWith('--') ? '' : ` in ${word}`;
  throw usageFailure(`there is no flag ${flag}${where}`, ...didYouMean(whole, NAMES, '--'));
}

/** 'true' for a flag without a value. */
function valueOf(name: FlagName, value: string | undefined): string {
  const { value: form, choices } = FLAGS[name];
  if (form === undefined) return switchedOn(name, value);
  if (value === undefined || value === '') throw usageFailure(`the flag --${name} needs a value: ${form}`);
  if (choices !== undefined && !choices.includes(value)) {
    throw usageFailure(`--${name} must be ${choices.join(' or ')}, and not ${value}`);
  }
  return value;
}

/** kubectl's form --dry-run=server is what --dry-run means here. */
function switchedOn(name: FlagName, value: string | undefined): string {
  if (value === undefined || value === 'true' || (name === 'dry-run' && value === 'server')) return 'true';
  throw usageFailure(`the flag --${name} has no value, and "${value}" was given`);
}
