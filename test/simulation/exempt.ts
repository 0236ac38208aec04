/** What an exemption from the gate is (gate.ts), and the reasons that many have. */

/** Branches of a function that the simulation does not reach. */
export interface Exempt {
  /** A function or constant of src/planner; `backup/report/phaseOf` where files have others of that name (declarations.ts). */
  readonly in: string;
  /** The conditions under which its branches are reached, as the gate prints them. Absent: all of the function. */
  readonly when?: readonly string[];
  readonly because: string;
}

/** Branches that have one reason: by the name of their function, as the gate prints them. */
export function exempt(
  because: string,
  branches: Readonly<Record<string, 'all' | readonly string[]>>,
): Exempt[] {
  return Object.entries(branches).map(([name, when]) =>
    when === 'all' ? { in: name, because } : { in: name, when, because },
  );
}

export const TYPES = 'the types allow it, what was looked at before excludes it';
export const RACE =
  'only when something changes between two reads of one pass; longer runs reach it by chance';
export const USERS = 'no users are simulated: test/activities/restore-life.test.ts';
