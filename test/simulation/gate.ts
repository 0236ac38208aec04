/**
 * Every branch of the planner is reached by the simulation, or it is said here why not. A branch is what V8 counts: a function, an
 * arm of a condition, what comes after a return.
 */
import type { Unreached } from './branches.ts';

/** Branches that the simulation does not reach, by their file below src/planner and how they begin. */
interface Exempt {
  readonly file: string;
  /** Absent: the whole file. */
  readonly begins?: string;
  readonly because: string;
}

/** What stands in for a value that the types allow to be absent and that the callers have made sure of. */
const FALLBACK =
  /^\?\? ('[^']*'|-?\d+n?|\[\]|\{\}|undefined|Number\.NaN|(\w+\.)?now)$|^\?\.\w+$|^throw new RangeError/;

const EXEMPT: readonly Exempt[] = [];

export interface Verdict {
  /** Neither reached nor exempt. */
  readonly missing: readonly Unreached[];
  /** Exempt, and no longer there or reached in every run: to be taken off the list. */
  readonly needless: readonly string[];
}

/** Judges what a run left unreached. */
export function judge(unreached: readonly Unreached[]): Verdict {
  const needed = unreached.filter(({ text }) => !FALLBACK.test(text));
  return {
    missing: needed.filter(branch => !EXEMPT.some(exempt => covers(exempt, branch))),
    needless: EXEMPT.filter(exempt => !needed.some(branch => covers(exempt, branch))).map(
      ({ file, begins = 'all of it' }) => `${file}: ${begins}`,
    ),
  };
}

function covers({ file, begins = '' }: Exempt, { at, text }: Unreached): boolean {
  return at.startsWith(`src/planner/${file}`) && text.startsWith(begins);
}
