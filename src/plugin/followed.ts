import type { Call, Shown } from './commands/command.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { Failure, failure } from './failure.ts';
import { patiently } from './patient.ts';

/** Something that was asked for, and is waited for. */
export interface Followed<T> {
  /** Such as `etcdrequest/pause-x7k2p`. */
  readonly what: string;
  readonly look: () => Promise<T>;
  readonly progress: (found: T) => string;
  /** How it ended; undefined while it has not. */
  readonly verdict: (found: T) => { readonly shown: Shown; readonly exit: ExitCode } | undefined;
  /** The command that shows it again. */
  readonly again: string;
}

const CHECK_MS = 1_000;

/**
 * Waits until it has ended, and shows how. Each new message goes to the standard error output.
 * @throws Failure `timedOut` when that takes longer than `seconds`
 */
export async function followed<T>(
  { io, show }: Call,
  { what, look, progress, verdict, again }: Followed<T>,
  seconds: number,
): Promise<ExitCode> {
  const end = io.now() + seconds * 1_000;
  const lookAgain = patiently(io, look);
  const advice = `Look again with: ${again}`;
  let said = '';
  for (;;) {
    const found = await lookAgain();
    const ended = found === undefined ? undefined : verdict(found);
    if (ended !== undefined) {
      show(ended.shown);
      return ended.exit;
    }
    const says = found === undefined ? said : progress(found);
    if (says !== said) io.err(`${says}\n`);
    said = says;
    if (io.interrupted.aborted) throw failure(`interrupted; ${what} continues`, advice);
    if (io.now() >= end) {
      const message = `${what} is not finished after ${seconds} s, and continues: ${says}`;
      throw new Failure(EXIT.timedOut, message, [advice]);
    }
    await io.pause(CHECK_MS);
  }
}
