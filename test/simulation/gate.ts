/**
 * Every branch of the planner is reached by the simulation or by a test of functions, or a comment in front of it says why nothing
 * reaches it.
 */
import { type Branch, outermost, type Reached } from './branches.ts';

export interface GateResult {
  /** Reached by nothing, and no comment says why. */
  readonly missing: readonly Branch[];
  /** Reached, though a comment says that nothing reaches it. */
  readonly needless: readonly Branch[];
  readonly counts: Readonly<Record<'both' | 'onlySimulation' | 'onlyTests', number>>;
}

/** Judges what the simulation and the tests have reached. */
export function gateResult(branches: readonly Branch[], bySimulation: Reached, byTests: Reached): GateResult {
  const missing: Branch[] = [];
  const needless: Branch[] = [];
  const counts = { both: 0, onlySimulation: 0, onlyTests: 0 };
  for (const branch of branches) {
    const simulated = bySimulation(branch);
    const tested = byTests(branch);
    if (simulated && tested) counts.both += 1;
    else if (simulated) counts.onlySimulation += 1;
    else if (tested) counts.onlyTests += 1;
    else if (!branch.isIgnored) missing.push(branch);
    if (branch.isIgnored && (simulated || tested)) needless.push(branch);
  }
  return { missing: outermost(missing), needless, counts };
}
