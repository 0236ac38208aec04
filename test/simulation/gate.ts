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

const VERSIONS =
  'versions and upgrades have scenes of their own, and tests of every refusal (test/planner/versions.test.ts)';
const RESTORES =
  'worlds have no backups to restore from (test/planner/restore-admission.test.ts, test/activities)';
const TYPES = 'the types allow it, what was looked at before excludes it';

const CHANCE = 'longer runs reach it by chance; a scene that leads there is still to be written';

const EXEMPT: readonly Exempt[] = [
  { file: 'gates.ts', begins: ': [`${name}: ${probe.read.message}`]', because: CHANCE },
  { file: 'gates.ts', begins: ": { reason: 'MembersUnhealthy'", because: CHANCE },
  { file: 'gates.ts', begins: '?? pod?.createdAt', because: CHANCE },
  { file: 'rendering.ts', begins: "return ['what it was made of is not known']", because: VERSIONS },
  { file: 'repair.ts', begins: '&& namesSeen.includes(name)', because: CHANCE },
  { file: 'report/conditions.ts', begins: "? 'NoDefaultStorageClass'", because: CHANCE },
  { file: 'storage.ts', begins: '{', because: CHANCE },
  { file: 'backup/', because: 'backups do not touch members (test/planner/backup, test/activities)' },
  { file: 'restore/', because: RESTORES },
  { file: 'upgrade', because: VERSIONS },
  { file: 'versions.ts', because: VERSIONS },
  { file: 'report/upgrading.ts', because: VERSIONS },
  { file: 'admission.ts', begins: 'return [];', because: RESTORES },
  { file: 'answers.ts', begins: 'function about(', because: RESTORES },
  { file: 'create.ts', begins: 'return true;', because: RESTORES },
  { file: 'create.ts', begins: '?.[ANNOTATION_RESTORED_BY]', because: RESTORES },
  { file: 'create.ts', begins: 'return blocked(awaitsRestore(', because: RESTORES },
  { file: 'create.ts', begins: 'function awaitsRestore(', because: RESTORES },
  { file: 'identity.ts', begins: 'function nextToken(', because: RESTORES },
  { file: 'plan.ts', begins: 'return about(under.uid', because: RESTORES },
  { file: 'rediscovery.ts', begins: 'return undefined;', because: RESTORES },
  { file: 'seal.ts', begins: 'return undefined;', because: RESTORES },
  { file: 'report/conditions.ts', begins: "return finding('Available', 'Restoring')", because: RESTORES },
  { file: 'report/conditions.ts', begins: '&&', because: RESTORES },
  {
    file: 'report/conditions.ts',
    begins: "return [finding('Recovering', 'RestoringCluster'",
    because: RESTORES,
  },
  { file: 'report/conditions.ts', begins: 'function isRescue(', because: RESTORES },
  { file: 'step-summary.ts', begins: 'default:', because: RESTORES },
  { file: 'step-summary.ts', begins: 'function restoreSummary(', because: RESTORES },
  { file: 'step-summary.ts', begins: "case 'requestBackup'", because: RESTORES },
  { file: 'step-summary.ts', begins: "case 'awaitBackup'", because: RESTORES },
  { file: 'answers.ts', begins: ': Math.min(', because: VERSIONS },
  { file: 'gates.ts', begins: ": { reason: 'VersionsDiffer'", because: VERSIONS },
  { file: 'repair.ts', begins: '|| version === undefined', because: VERSIONS },
  { file: 'repair.ts', begins: ': { version }', because: VERSIONS },
  { file: 'gates.ts', begins: ': []', because: TYPES },
  { file: 'membership/scale.ts', begins: 'return undefined;', because: TYPES },
  { file: 'membership/scale.ts', begins: 'return [];', because: TYPES },
  { file: 'move-leader.ts', begins: '? undefined', because: TYPES },
  { file: 'repair.ts', begins: 'return [];', because: TYPES },
  { file: 'report/conditions.ts', begins: ': undefined', because: TYPES },
  { file: 'report/quorum-risk.ts', begins: ": 'gone'", because: TYPES },
  { file: 'report/status.ts', begins: ': {}', because: TYPES },
];

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
