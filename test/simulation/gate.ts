/**
 * Every branch of the planner is reached by the simulation, or it is said here why not. A branch is what V8 counts: a function, an
 * arm of a condition, what comes after a return.
 */
import { hasBranch } from './branch-conditions.ts';
import { isSameCondition, type Unreached } from './branches.ts';
import type { Declarations } from './declarations.ts';
import type { Exempt } from './exempt.ts';
import { EXEMPT_OF_CLUSTERS } from './exempt-of-clusters.ts';
import { EXEMPT_OF_USERS } from './exempt-of-users.ts';
import { EXEMPT_OF_REQUESTS } from './exempt-of-requests.ts';
import { EXEMPT_OF_RESTORES } from './exempt-of-restores.ts';

/** What stands in for a value that the types allow to be absent and that the callers have made sure of. */
const FALLBACK =
  /^\?\? ('[^']*'|-?\d+n?|\[\]|\{\}|undefined|Number\.NaN|(\w+\.)?now)$|^\?\.\w+$|^throw new RangeError/;

export const EXEMPT: readonly Exempt[] = [
  ...EXEMPT_OF_CLUSTERS,
  ...EXEMPT_OF_USERS,
  ...EXEMPT_OF_REQUESTS,
  ...EXEMPT_OF_RESTORES,
];

/** The tests that reasons name, as paths from the root. */
export const NAMED_TESTS: readonly string[] = EXEMPT.flatMap(
  ({ because }) => because.match(/test\/\S+\.test\.ts/g) ?? [],
);

export interface GateResult {
  /** Neither reached nor exempt. */
  readonly missing: readonly Unreached[];
  /** Exempt, and reached in this run: to be taken off the list unless chance reaches it now and then. */
  readonly needless: readonly string[];
}

/** Judges what a run left unreached. */
export function gateResult(unreached: readonly Unreached[]): GateResult {
  const needed = unreached.filter(({ text }) => !FALLBACK.test(text));
  return {
    missing: needed.filter(branch => !EXEMPT.some(exempt => covers(exempt, branch))),
    needless: eachBranch(EXEMPT)
      .filter(exempt => !needed.some(branch => covers(exempt, branch)))
      .map(nameOf),
  };
}

/** The line that takes a branch onto the list (exempt-of-*.ts), its reason left open. */
export function lineFor({ in: name, when }: Unreached): string {
  return `...exempt(BECAUSE, { ${name}: ${when === undefined ? "'all'" : `[${quoted(when)}]`} }),`;
}

/** What is wrong with exemptions: functions and branches that are not there, or that files have of one name. */
export function faultsOf(exempt: readonly Exempt[], planner: Declarations): string[] {
  return eachBranch(exempt).flatMap(each => {
    const named = planner.named(each.in);
    if (named.length === 0) return [`exemption: function ${each.in} is not in src/planner`];
    const having = named.filter(declaration => hasBranch(declaration, each.when?.[0]));
    if (having.length === 0) return [`exemption: ${each.in} has no branch ${each.when?.[0] ?? ''}`];
    if (having.length === 1) return [];
    const paths = having.map(({ source }) => source.path).join(' and in ');
    return [`exemption: ${nameOf(each)} is in ${paths}: name its file too`];
  });
}

function eachBranch(exempt: readonly Exempt[]): Exempt[] {
  return exempt.flatMap(each =>
    each.when === undefined ? [each] : each.when.map(when => ({ ...each, when: [when] })),
  );
}

function covers({ in: name, when }: Exempt, branch: Unreached): boolean {
  return (
    isNamed(name, branch) && (when === undefined || when.some(each => isSameCondition(each, branch.when)))
  );
}

/** The name may contain the end of the path too: see declarations.ts. */
function isNamed(name: string, branch: Unreached): boolean {
  const path = branch.at.slice(0, branch.at.lastIndexOf('.ts:'));
  return (
    name === branch.in || (name.endsWith(`/${branch.in}`) && `${path}/${branch.in}`.endsWith(`/${name}`))
  );
}

function nameOf({ in: name, when }: Exempt): string {
  return `${name}: ${when?.[0] ?? 'all of it'}`;
}

/** As a literal of JavaScript. */
function quoted(text: string): string {
  return /['\\]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}
