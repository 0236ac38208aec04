/** What an exemption from the gate is (gate.ts), and the reasons that many have. */

/** Branches that the simulation does not reach, by their file below src/planner and how they begin. */
export interface Exempt {
  readonly file: string;
  /** Absent: all of the file, which a test of its own goes through. */
  readonly begins?: readonly string[];
  readonly because: string;
}

export const TYPES = 'the types allow it, what was looked at before excludes it';
export const RACE =
  'only when something changes between two reads of one pass; longer runs reach it by chance';
export const USERS = 'no users are simulated: test/activities/restore-life.test.ts';
