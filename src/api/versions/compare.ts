/** Comparing etcd versions, and judging one by what is known of it (table.ts). Pure. */
import {
  FLOORS,
  NEWEST_KNOWN,
  SUPPORT_REFERENCE,
  SUPPORTED_MINORS,
  type SupportedMinor,
  VERSIONS_KNOWN_ON,
} from './table.ts';

export type ParsedVersion = { readonly major: number; readonly minor: number; readonly patch: number };

/** What is said of a version below one or more floors. */
type Outdated = {
  readonly reason: 'BelowDataLossFloor' | 'BelowSecurityFloor';
  readonly message: string;
  /** The lowest release of the same minor that is above every floor. */
  readonly floor: string;
  readonly recommended: string;
};

export type VersionCheck = {
  readonly supported: boolean;
  readonly reason: 'Supported' | 'NewerThanKnown' | 'TooOld' | 'TooNew' | 'Malformed';
  readonly message: string;
  /** Why it is not run, without what to write instead; empty when it is. */
  readonly fault: string;
  readonly outdated?: Outdated;
};

/** The version without surrounding space and without one leading `v`; old clients send both forms. */
export function trimVersion(version: string): string {
  return version.trim().replace(/^v/, '');
}

/** `x.y.z` with an optional leading `v`; undefined for anything else, pre-releases included. */
export function parseVersion(version: string): ParsedVersion | undefined {
  const match = /^(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})$/.exec(trimVersion(version));
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** `major.minor` of a version; undefined when it is not a version. */
export function minorOf(version: string): string | undefined {
  const parsed = parseVersion(version);
  return parsed === undefined ? undefined : `${parsed.major}.${parsed.minor}`;
}

/**
 * Negative, zero or positive as `a` is older than, equal to or newer than `b`. What is no version x.y.z, such as a candidate for a
 * release that somebody started by hand, comes before every one that is.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined || right === undefined)
    return Number(left !== undefined) - Number(right !== undefined);
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
}

/** Whether `version` is of an older minor than `than`; false where one of them is no version. */
export function isOlderMinor(version: string, than: string): boolean {
  const [minor, other] = [minorOf(version), minorOf(than)];
  return minor !== undefined && other !== undefined && compareVersions(`${minor}.0`, `${other}.0`) < 0;
}

/** Whether etcd `version` is at least `floor`; false for what is no version. */
export function isAtLeast(version: string, floor: string): boolean {
  return parseVersion(version) !== undefined && compareVersions(version, floor) >= 0;
}

/**
 * Whether this operator runs a version, and what is known against it. Never throws.
 * A patch release newer than the table is accepted: a release of etcd must not wait for one of ours.
 */
export function checkVersion(version: string): VersionCheck {
  const minor = minorOf(version);
  const supported = SUPPORTED_MINORS.find(known => known === minor);
  if (supported === undefined) return unsupported(version);
  const plain = trimVersion(version);
  const outdated = checkFloors(plain, supported);
  const newer = compareVersions(plain, NEWEST_KNOWN[supported]) > 0;
  return {
    supported: true,
    fault: '',
    reason: newer ? 'NewerThanKnown' : 'Supported',
    message: newer
      ? `etcd ${plain} is newer than ${NEWEST_KNOWN[supported]}, the newest ${supported} known to this operator on ${VERSIONS_KNOWN_ON}`
      : `etcd ${plain} is supported`,
    ...(outdated === undefined ? {} : { outdated }),
  };
}

function unsupported(version: string): VersionCheck {
  const [reason, fault] = faultOf(version);
  const offer = `write one of ${SUPPORTED_MINORS.map(minor => NEWEST_KNOWN[minor]).join(', ')}`;
  return { supported: false, reason, fault, message: `${fault}; ${offer}` };
}

function faultOf(version: string): readonly ['Malformed' | 'TooOld' | 'TooNew', string] {
  if (parseVersion(version) === undefined)
    return ['Malformed', `${JSON.stringify(version.slice(0, 64))} is not an etcd release of the form x.y.z`];
  const plain = trimVersion(version);
  return compareVersions(plain, `${SUPPORTED_MINORS[0]}.0`) < 0
    ? [
        'TooOld',
        `etcd ${plain} is out of support upstream (${SUPPORT_REFERENCE}) and is not run by this operator`,
      ]
    : ['TooNew', `etcd ${plain} is of a minor that this operator was not tested with`];
}

function checkFloors(version: string, minor: SupportedMinor): Outdated | undefined {
  const below = FLOORS.filter(floor => floor.minor === minor && compareVersions(version, floor.version) < 0);
  const worst = below[0];
  if (worst === undefined) return undefined;
  const highest = below.reduce((a, b) => (compareVersions(a.version, b.version) >= 0 ? a : b));
  const faults = below.map(floor => `below ${floor.version} ${floor.reason}`).join('; ');
  return {
    reason: worst.kind === 'dataLoss' ? 'BelowDataLossFloor' : 'BelowSecurityFloor',
    floor: highest.version,
    recommended: NEWEST_KNOWN[minor],
    message: `etcd ${version} has known faults: ${faults}. Set spec.version to ${NEWEST_KNOWN[minor]}`,
  };
}
