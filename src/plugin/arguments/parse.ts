/** Reads a command line. Pure. */
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

/** @param argv without the program. @throws Failure for a flag that does not exist or lacks its value */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const words: string[] = [];
  const values = new Map<FlagName, string[]>();
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--') {
      words.push(...rest.splice(0));
    } else if (word.startsWith('-') && word !== '-') {
      const { name, value } = word.startsWith('--') ? longFlag(word) : shortFlag(word);
      values.set(name, [...(values.get(name) ?? []), valueOf(name, value, rest)]);
    } else {
      words.push(word);
    }
  }
  const [command, ...others] = words;
  return { command, words: others, flags: new Flags(values) };
}

interface Given {
  readonly name: FlagName;
  readonly value: string | undefined;
}

function longFlag(word: string): Given {
  const [, typed = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
  const name = NAMES.find(known => known === typed);
  if (name === undefined)
    throw usageFailure(`there is no flag --${typed}`, ...didYouMean(typed, NAMES, '--'));
  return { name, value };
}

/** `-n shop`, `-nshop` and `-n=shop`. */
function shortFlag(word: string): Given {
  const name = NAMES.find(known => FLAGS[known].short === word[1]);
  if (name === undefined) {
    throw usageFailure(`there is no flag ${word}`, ...didYouMean(word.slice(1), NAMES, '--'));
  }
  const value = word.length > 2 ? word.slice(2).replace(/^=/, '') : undefined;
  if (value !== undefined && FLAGS[name].value === undefined)
    throw usageFailure(
      `the flag -${word[1]} has no value`,
      'Write flags without values apart, such as -A -w.',
    );
  return { name, value };
}

/** The value of a flag, which may be the next word; 'true' for a flag without one. */
function valueOf(name: FlagName, given: string | undefined, rest: string[]): string {
  const { value: form, choices } = FLAGS[name];
  if (form === undefined) return switchedOn(name, given);
  const value = given ?? rest.shift();
  if (value === undefined || value === '') throw usageFailure(`the flag --${name} needs a value: ${form}`);
  if (choices !== undefined && !choices.includes(value)) {
    throw usageFailure(`--${name} must be ${choices.join(' or ')}, and not ${value}`);
  }
  return value;
}

/** kubectl's form --dry-run=server is what --dry-run means here. */
function switchedOn(name: FlagName, given: string | undefined): string {
  if (given === undefined || given === 'true' || (name === 'dry-run' && given === 'server')) return 'true';
  throw usageFailure(`the flag --${name} has no value, and "${given}" was given`);
}
