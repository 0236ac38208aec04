import { type FlagName, type Flags, GLOBAL_FLAGS } from '../arguments/flags.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import type { Session } from '../session.ts';
import type { Line } from '../views/lines.ts';

/** What a command works with. */
export interface Call {
  readonly words: readonly string[];
  readonly flags: Flags;
  readonly io: Io;
  readonly session: Session;
  readonly show: Show;
}

/** Writes what was asked for: the lines for users, or `data` for --output. */
export type Show = (shown: Shown) => void;

export interface Shown {
  readonly data: unknown;
  readonly lines: readonly Line[];
}

/** What was found, of which more is asked only if it is shown. */
export interface Found extends Shown {
  /** With what was asked besides. It does not count as a change. */
  readonly completed?: () => Promise<Shown>;
}

/** What help, completion and checks of the command line know of a command. */
export interface CommandForm {
  /** The words after the command, such as `NAME [MEMBER]`. */
  readonly usage: string;
  /** How many words it takes: at least, at most. */
  readonly words: readonly [number, number];
  readonly about: string;
  /** Beside the global ones. */
  readonly flags: readonly FlagName[];
  /** More lines of its help. */
  readonly more?: readonly string[];
  /** Why --output cannot be honoured; it is refused then. Absent: it is. */
  readonly noOutput?: string;
}

/** The flags of every command that this one takes, too. */
export function globalFlagsOf({ noOutput }: CommandForm): readonly FlagName[] {
  return GLOBAL_FLAGS.filter(flag => flag !== 'output' || noOutput === undefined);
}

/** One command. */
export interface CommandRow extends CommandForm {
  readonly run: (call: Call) => Promise<ExitCode>;
}

/** A command that is about the plugin alone. */
export interface AloneRow extends CommandForm {
  readonly runAlone: (call: Omit<Call, 'session'>) => ExitCode;
}
