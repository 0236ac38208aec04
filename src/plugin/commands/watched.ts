import { EXIT, type ExitCode } from '../exit-codes.ts';
import { patiently } from '../patient.ts';
import type { Call, Found } from './command.ts';

/** How often --watch looks. */
const CHECK_MS = 2_000;
/** Clears a terminal and moves to its beginning (ECMA-48). */
const CLEAR = '\u001b[2J\u001b[H';

/** Shows what `look` finds: once, or with --watch again whenever it has changed, until the command is interrupted. */
export async function watched(call: Call, look: () => Promise<Found>): Promise<ExitCode> {
  const first = await look();
  if (!call.flags.has('watch')) {
    call.show((await first.completed?.()) ?? first);
    return EXIT.done;
  }
  const { io } = call;
  const isScreen = io.isTerminal && !call.flags.has('output');
  // What is shown on a terminal contains ages, which change by themselves.
  const stateOf = ({ lines, data }: Found): string => JSON.stringify(isScreen ? lines : data);
  const lookAgain = patiently(io, look);
  let state = '';
  for (let found: Found | undefined = first; ; found = await lookAgain()) {
    if (found !== undefined && stateOf(found) !== state) {
      const shown = (await found.completed?.()) ?? found;
      if (isScreen) io.out(CLEAR);
      else if (state !== '' && !call.flags.has('output')) io.out('\n');
      call.show(shown);
      state = stateOf(found);
    }
    await io.pause(CHECK_MS);
    if (io.interrupted.aborted) return EXIT.done;
  }
}
