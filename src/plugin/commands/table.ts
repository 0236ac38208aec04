import { ALONE } from './alone.ts';
import { ASKING } from './asking.ts';
import type { AloneRow, CommandRow } from './command.ts';
import { LOOKING } from './looking.ts';
import { PLANNING } from './planning.ts';
import { REACHING } from './reaching.ts';

/** Every command, in the order of help, but for `help` itself. */
export const COMMANDS: Readonly<Record<string, CommandRow | AloneRow>> = {
  ...LOOKING,
  ...PLANNING,
  ...ASKING,
  ...REACHING,
  ...ALONE,
};
