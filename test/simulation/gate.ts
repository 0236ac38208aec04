/**
 * Every branch of the planner is reached by the simulation, or it is said here why not. A branch is what V8 counts: a function, an
 * arm of a condition, what comes after a return.
 */
import type { Unreached } from './branches.ts';
import type { Exempt } from './exempt.ts';
import { EXEMPT_OF_CLUSTERS } from './exempt-of-clusters.ts';
import { EXEMPT_OF_RESTORES } from './exempt-of-restores.ts';

/** What stands in for a value that the types allow to be absent and that the callers have made sure of. */
const FALLBACK =
  /^\?\? ('[^']*'|-?\d+n?|\[\]|\{\}|undefined|Number\.NaN|(\w+\.)?now)$|^\?\.\w+$|^throw new RangeError/;

const EXEMPT: readonly Exempt[] = [...EXEMPT_OF_CLUSTERS, ...EXEMPT_OF_RESTORES];

/** The tests that reasons name, as paths from the root. */
export const NAMED_TESTS: readonly string[] = EXEMPT.flatMap(
  ({ because }) => because.match(/test\/\S+\.test\.ts/g) ?? [],
);

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
    needless: EXEMPT.flatMap(({ file, begins = [''] }) =>
      begins
        .filter(text => !needed.some(branch => isAt(branch, file, text)))
        .map(text => `${file}: ${text === '' ? 'all of it' : text}`),
    ),
  };
}

function covers({ file, begins = [''] }: Exempt, branch: Unreached): boolean {
  return begins.some(text => isAt(branch, file, text));
}

/** The file is told with its ending, so that none is taken for another that begins alike. */
function isAt({ at, text }: Unreached, file: string, begins: string): boolean {
  return at.startsWith(`src/planner/${file}:`) && text.startsWith(begins);
}
