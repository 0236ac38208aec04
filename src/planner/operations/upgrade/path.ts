/**
 * How a cluster gets from the versions that its members run to the one that is asked for, or why it must not. All rules about
 * versions are here and in the table (api/versions/table.ts). etcd itself stops nobody who skips a minor or goes back, so
 * what is refused here is refused nowhere else.
 */
import {
  type Departure,
  DEPARTURES,
  type Descent,
  DESCENTS,
  DOWNGRADE_REFERENCE,
  FLOORS,
  NEWEST_KNOWN,
  ONE_MINOR_REFERENCE,
  SUPPORT_REFERENCE,
  SUPPORTED_MINORS,
  type SupportedMinor,
} from '../../../api/versions/table.ts';
import type { EnvVar } from '../../../api/schemas/types.ts';
import {
  checkVersion,
  compareVersions,
  isAtLeast,
  isOlderMinor,
  minorOf,
} from '../../../api/versions/compare.ts';
import type { UpgradeRefusal } from '../../model/upgrade-goal.ts';
import { settingsGone, settingsUnknown } from './settings.ts';

/** What one member says of versions (`/version`). */
export interface MemberVersions {
  readonly name: string;
  /** Of its program. */
  readonly server: string;
  /** The one that the cluster has agreed on, such as 3.5.0; undefined when it was not learnt. */
  readonly cluster?: string | undefined;
  /** Of its data on disk, such as 3.6.0; undefined before 3.6. */
  readonly storage?: string | undefined;
  /** To which version a downgrade is enabled; empty: to none. Undefined when it was not learnt, and before 3.6. */
  readonly downgrade?: string | undefined;
}

export interface UpgradeQuestion {
  /** At least one; all of them. */
  readonly members: readonly MemberVersions[];
  readonly target: string;
  readonly allowIntermediate: boolean;
  /** Undefined: not known. */
  readonly authEnabled: boolean | undefined;
  /** The environment variables that the specification gives to etcd. */
  readonly environment: readonly Pick<EnvVar, 'name' | 'value'>[];
  /** To which version this operator has enabled a downgrade; undefined: to none that it knows of. */
  readonly ownDowngrade?: string | undefined;
}

export type UpgradeAnswer =
  /** Every member runs it. */
  | { readonly kind: 'there' }
  /** The versions to go through, each on every member before the next; the last is the one asked for. */
  | {
      readonly kind: 'path';
      readonly hops: readonly [string, ...string[]];
      readonly notes: readonly string[];
    }
  /** `message`: what is wrong, why, and what to write instead, with the place where etcd says so. */
  | { readonly kind: 'refused'; readonly reason: UpgradeRefusal; readonly message: string };

/** The path to the target. Never throws; what is no version is refused. */
export function upgradePath(question: UpgradeQuestion): UpgradeAnswer {
  const { members, target } = question;
  const versions = [...new Set(members.map(({ server }) => server))];
  const fault = unusable(target, versions);
  if (fault !== undefined) return fault;
  const odd = versions.find(version => minorOf(version) === undefined);
  const [from] = versions;
  if (odd !== undefined || from === undefined) {
    const what =
      odd === undefined
        ? 'no member reports its version'
        : `a member runs ${odd}, which is not a release of etcd`;
    return refused(
      'VersionsDiffer',
      `${what}, so no upgrade path to ${target} is known; leave spec.version at the version that they ran until they answer`,
    );
  }
  if (versions.length > 1) return mixedPath(question, versions);
  if (from === target) return { kind: 'there' };
  return pathFrom(from, question);
}

/** A version that no living cluster may be moved to. */
function unusable(target: string, versions: readonly string[]): UpgradeAnswer | undefined {
  const check = checkVersion(target);
  if (!check.supported) return refused('VersionUnsupported', `${check.fault}. ${offer(versions)}`);
  const floor = FLOORS.find(
    ({ minor, version, forbidden }) =>
      forbidden === true && minor === minorOf(target) && !isAtLeast(target, version),
  );
  if (floor === undefined) return undefined;
  return refused(
    'ForbiddenVersion',
    `no cluster is upgraded to etcd ${target}: before ${floor.version} ${floor.reason}. ${offer(versions)}`,
  );
}

/** Where members of these versions can be brought: within their minor, and to the next one. */
function offer(versions: readonly string[]): string {
  const minors = new Set(versions.map(minorOf));
  const here = SUPPORTED_MINORS.filter(minor => minors.has(minor));
  const there = SUPPORTED_MINORS.filter(
    minor => versions.length > 0 && versions.every(version => leavesFor(version, minor)),
  );
  const offered = new Set([...here, ...there].map(minor => NEWEST_KNOWN[minor]));
  const choices = offered.size === 0 ? Object.values(NEWEST_KNOWN) : [...offered];
  return `Set spec.version to ${choices.join(' or ')} (docs/reference/versions.md)`;
}

function leavesFor(version: string, minor: string): boolean {
  const departure = departureFrom(version);
  return departure?.to === minor && isAtLeast(version, departure.floor);
}

function pathFrom(from: string, question: UpgradeQuestion): UpgradeAnswer {
  const { target, allowIntermediate } = question;
  if (isOlderMinor(target, from)) return pathDown(from, question);
  const hops = hopsBetween(from, target);
  if (hops === undefined) {
    const message = `etcd ${from} is too old to be upgraded to ${target}: there is no upgrade path from it to a maintained minor version (${SUPPORT_REFERENCE}). Create a new cluster and restore a backup into it`;
    return refused('SkipsMinor', message);
  }
  if (hops.length > 1 && !allowIntermediate) return needsIntermediate(from, target, hops);
  const obstacle =
    otherDowngrade(question, minorOf(hops[0]) ?? '') ?? minorObstacle(question, minorOf(from) ?? '', hops);
  if (obstacle !== undefined) return obstacle;
  return { kind: 'path', hops, notes: notesOn(from, target) };
}

/** Every version on the way: the floor of each minor that is left, the newest of each that is passed, the target. */
export function hopsBetween(from: string, target: string): readonly [string, ...string[]] | undefined {
  const passed: string[] = [];
  let at = from;
  while (minorOf(at) !== minorOf(target)) {
    const departure = departureFrom(at);
    if (departure === undefined) return undefined;
    const newest = newestOf(minorOf(at));
    if (!isAtLeast(at, departure.floor) && newest !== undefined) passed.push(newest);
    if (departure.to === minorOf(target)) break;
    at = NEWEST_KNOWN[departure.to];
    passed.push(at);
  }
  const [first, ...rest] = passed;
  return first === undefined ? [target] : [first, ...rest, target];
}

function departureFrom(version: string): Departure | undefined {
  return DEPARTURES.find(departure => departure.from === minorOf(version));
}

function newestOf(minor: string | undefined): string | undefined {
  return NEWEST_KNOWN[SUPPORTED_MINORS.find(known => known === minor) as SupportedMinor];
}

/** By etcd's downgrade, one minor after the other: to releases that could be upgraded again, so that it can be cancelled. */
function pathDown(from: string, question: UpgradeQuestion): UpgradeAnswer {
  const { target, allowIntermediate } = question;
  const descents = descentsBetween(from, target);
  const [first] = descents;
  if (first === undefined) {
    const message = `members of ${minorOf(from)} are not downgraded to ${target}: etcd supports it from 3.6 on (${DOWNGRADE_REFERENCE}). Set spec.version to a release of ${minorOf(from)}, such as ${from}; to go back, create a new cluster with ${target} and copy the keys into it`;
    return refused('AcrossMinorDown', message);
  }
  const last = descents.at(-1) ?? /* v8 ignore next -- there is one at least */ first;
  const floor =
    departureFrom(target)?.floor ??
    /* v8 ignore next -- every older minor is one that is left for another */ target;
  if (!isAtLeast(target, floor))
    return refused(
      'AcrossMinorDown',
      `members of ${minorOf(from)} are not downgraded to ${target}: beside members of ${last.from} only ${floor} and later releases of ${last.to} are run, from which they can be upgraded again (${last.reference}). Set spec.version to ${NEWEST_KNOWN[last.to]}`,
    );
  const [next, ...others] = hopsDown(descents, target);
  if (others.length > 0 && !allowIntermediate)
    return refused(
      'SkipsMinor',
      `etcd ${from} is not downgraded to ${target}: a downgrade must not skip a minor version (${DOWNGRADE_REFERENCE}). Set spec.version to ${next} first, or spec.upgrade.allowIntermediateVersions to true to downgrade through ${[next, ...others].join(', then ')}`,
    );
  const obstacle = otherDowngrade(question, first.to) ?? descentObstacle(question, first);
  if (obstacle !== undefined) return obstacle;
  return { kind: 'path', hops: [next, ...others], notes: notesOn(from, target) };
}

/** The newest release of each minor that is passed, and the target. */
function hopsDown(descents: readonly Descent[], target: string): readonly [string, ...string[]] {
  const [first, ...rest] = descents.slice(0, -1).map(({ to }) => NEWEST_KNOWN[to]);
  return first === undefined ? [target] : [first, ...rest, target];
}

/** The minors that are left on the way down; none where etcd knows no way. */
function descentsBetween(from: string, target: string): readonly Descent[] {
  const found: Descent[] = [];
  for (let at = minorOf(from); at !== minorOf(target); at = found.at(-1)?.to) {
    const descent = DESCENTS.find(candidate => candidate.from === at);
    if (descent === undefined) return [];
    found.push(descent);
  }
  return found;
}

/** What must hold before etcd is asked to downgrade. */
function descentObstacle(question: UpgradeQuestion, descent: Descent): UpgradeAnswer | undefined {
  const unknown = settingsUnknown(question.environment, descent);
  if (unknown !== undefined) return refused('SettingsGone', unknown);
  const isEnabled = question.members.some(({ downgrade = '' }) => minorOf(downgrade) === descent.to);
  return isEnabled ? undefined : agreementObstacle(question, descent.from);
}

/**
 * A downgrade that is enabled to another minor than the members go to: somebody enabled it, and etcd would keep the cluster at that
 * minor. One to the minor that all run already is ended by etcd.
 */
function otherDowngrade(
  { members, target, ownDowngrade = '' }: UpgradeQuestion,
  to: string,
): UpgradeAnswer | undefined {
  const strange = members.find(({ downgrade = '' }) => downgrade !== '' && minorOf(downgrade) !== to);
  const enabled = minorOf(strange?.downgrade ?? '');
  if (strange === undefined || enabled === undefined) return undefined;
  if (members.every(({ server }) => minorOf(server) === enabled))
    return refused(
      'ClusterVersionBehind',
      `etcd has not ended the downgrade to ${enabled} yet; it does so within seconds when every member answers (${DOWNGRADE_REFERENCE}); change nothing, but check members that do not answer`,
    );
  if (enabled === minorOf(ownDowngrade)) return undefined;
  const way = SUPPORTED_MINORS.find(minor => minor === enabled);
  const cancel = `ancel it: kubectl exec ${strange.name} -c etcd -- etcdctl downgrade cancel`;
  const advice =
    way === undefined
      ? `C${cancel}`
      : `Set spec.version to ${NEWEST_KNOWN[way]} to continue it, or c${cancel}`;
  return refused(
    'DowngradeEnabled',
    `the members are not brought to ${target}: a downgrade of etcd to ${enabled} is enabled, which this operator has not enabled for it (${DOWNGRADE_REFERENCE}). ${advice}`,
  );
}

function needsIntermediate(from: string, target: string, hops: readonly string[]): UpgradeAnswer {
  const [first = target] = hops;
  const way = hops.join(', then ');
  const advice = `Set spec.version to ${first} first, or spec.upgrade.allowIntermediateVersions to true to upgrade through ${way}`;
  const departure = departureFrom(from);
  const leaves = minorOf(first) === minorOf(from);
  if (departure !== undefined && leaves) {
    return refused(
      'BelowFloor',
      `etcd ${from} is not upgraded to ${target}: only ${departure.floor} and later releases of ${departure.from} can be upgraded, because ${departure.reason} (${departure.reference}). ${advice}`,
    );
  }
  return refused(
    'SkipsMinor',
    `etcd ${from} is not upgraded to ${target}: an upgrade must not skip a minor version, and etcd does not stop a member that does (${ONE_MINOR_REFERENCE}). ${advice}`,
  );
}

/** What must hold before any member leaves the minor, when the first hop leaves it. */
function minorObstacle(
  question: UpgradeQuestion,
  minor: string,
  hops: readonly string[],
): UpgradeAnswer | undefined {
  const [first = ''] = hops;
  const departure = departureFrom(`${minor}.0`);
  if (departure === undefined || minorOf(first) === minor) return undefined;
  return (
    authObstacle(question, departure) ??
    settingsObstacle(question, departure) ??
    agreementObstacle(question, minor)
  );
}

function authObstacle({ authEnabled }: UpgradeQuestion, departure: Departure): UpgradeAnswer | undefined {
  if (!departure.notWithAuth || authEnabled === false) return undefined;
  const known =
    authEnabled === true ? 'authentication is enabled' : 'it is not known whether authentication is disabled';
  return refused(
    'AuthEnabled',
    `${departure.from} is not upgraded while ${known}: ${departure.to} cannot read the entries of the log about users (${departure.reference}). Disable authentication, upgrade, and enable it again`,
  );
}

function settingsObstacle({ environment }: UpgradeQuestion, departure: Departure): UpgradeAnswer | undefined {
  const message = settingsGone(
    environment.map(({ name }) => name),
    departure,
  );
  return message === undefined ? undefined : refused('SettingsGone', message);
}

/**
 * A member of the next minor must not be started before the cluster and every member's data have arrived in this one: it
 * would find in its log what it cannot read (etcd 3.5 to 3.6 to 3.7, tried; docs/operations/upgrade.md).
 */
function agreementObstacle({ members }: UpgradeQuestion, minor: string): UpgradeAnswer | undefined {
  const behind = members.filter(member => !hasArrived(member, minor));
  if (behind.length === 0) return undefined;
  const found = behind.map(
    ({ name, cluster = 'unknown', storage }) =>
      `${name} (cluster version ${cluster}${isAtLeast(`${minor}.0`, '3.6.0') ? `, storage version ${storage ?? 'unknown'}` : ''})`,
  );
  return refused(
    'ClusterVersionBehind',
    `the cluster has not arrived in ${minor} yet: ${found.join(', ')}. etcd raises both versions within seconds when every member answers (${ONE_MINOR_REFERENCE}); change nothing, but check members that do not answer`,
  );
}

/**
 * Whether a member says that the cluster's version, and from 3.6 on that of its data, are of this minor, and that no downgrade is under
 * way: etcd ends one some seconds after the last member came, and changes neither version before.
 */
export function hasArrived(said: Omit<MemberVersions, 'name'>, minor: string): boolean {
  return (said.downgrade ?? '') === '' && isLowered({ ...said, server: `${minor}.0` }, minor);
}

/** Whether a member, of whatever release, says that the cluster's version and that of its data are of this minor. */
export function isLowered(
  { server, cluster, storage }: Omit<MemberVersions, 'name'>,
  minor: string,
): boolean {
  const knowsStorage = isAtLeast(server, '3.6.0');
  return minorOf(cluster ?? '') === minor && (!knowsStorage || minorOf(storage ?? '') === minor);
}

/** Members that were found on different versions: brought to one that some of them run already, or nothing is guessed. */
function mixedPath(question: UpgradeQuestion, versions: readonly string[]): UpgradeAnswer {
  const { target, members } = question;
  const strange = otherDowngrade(question, minorOf(target) ?? '');
  if (strange !== undefined) return strange;
  const sorted = versions.toSorted(compareVersions);
  const others = versions.filter(version => version !== target);
  if (versions.includes(target) && others.every(version => isOneStep(version, question))) {
    return { kind: 'path', hops: [target], notes: [`found on ${sorted.join(' and ')}`] };
  }
  const found = members.map(({ name, server }) => `${name} ${server}`).join(', ');
  const open = sorted.filter(version =>
    versions.every(other => other === version || isOneStep(other, { ...question, target: version })),
  );
  const newest = sorted.at(-1);
  const choices = open.map(
    version => `${version} to ${version === newest ? 'complete the upgrade' : 'go back'}`,
  );
  const advice =
    choices.length > 0
      ? `Set spec.version to ${choices.join(', or to ')}`
      : `No release is compatible with all of them: set spec.version to ${sorted[0]} and return the other members to it manually, or create a new cluster and restore a backup into it`;
  return refused(
    'VersionsDiffer',
    `the members run different versions (${found}), and they are not upgraded to ${target}: etcd supports members of two consecutive minor versions at most (${ONE_MINOR_REFERENCE}). ${advice}`,
  );
}

/** Whether a member that runs `version` may be started with the target at once, in a cluster that is mixed already. */
function isOneStep(version: string, { target, members }: UpgradeQuestion): boolean {
  const [here, there] = [minorOf(version), minorOf(target)];
  if (here === there) return true;
  if (departureFrom(version)?.to === there) return leavesFor(version, there ?? '');
  // Back is possible for as long as the cluster has not agreed on the newer minor.
  return (
    departureFrom(target)?.to === here && members.every(({ cluster }) => minorOf(cluster ?? '') === there)
  );
}

function notesOn(from: string, target: string): readonly string[] {
  const check = checkVersion(target);
  return [
    ...(check.reason === 'NewerThanKnown' ? [check.message] : []),
    ...(compareVersions(target, from) < 0 ? [`${target} is older than ${from}`] : []),
    ...(check.outdated === undefined ? [] : [check.outdated.message]),
  ];
}

function refused(reason: UpgradeRefusal, message: string): UpgradeAnswer {
  return { kind: 'refused', reason, message };
}
