/** The etcd releases this operator knows, which of them it runs, and below which it warns. Pure. */

/** The day on which the tables below were read from etcd's releases and advisories. */
export const VERSIONS_KNOWN_ON = '2026-11-21';

export const SUPPORTED_MINORS = ['3.5', '3.6', '3.7'] as const;
export type SupportedMinor = (typeof SUPPORTED_MINORS)[number];

/** The newest release known of each supported minor. */
export const NEWEST_KNOWN: Readonly<Record<SupportedMinor, string>> = {
  '3.5': '3.5.35',
  '3.6': '3.6.16',
  '3.7': '3.7.3',
};

/** The version of a cluster that names none: the newest known release of the minor that Kubernetes has run longest. */
export const DEFAULT_VERSION = NEWEST_KNOWN['3.6'];

export type FloorKind = 'dataLoss' | 'security';

/** A release below which a cluster of that minor runs with a known fault. */
export type Floor = {
  readonly minor: SupportedMinor;
  readonly version: string;
  readonly kind: FloorKind;
  /** What can happen below the floor, as the end of a sentence. */
  readonly reason: string;
};

/** Worst first within a minor: the first floor that a version is below is the one that is reported by name. */
export const FLOORS: readonly Floor[] = [
  {
    minor: '3.5',
    version: '3.5.3',
    kind: 'dataLoss',
    reason: 'a member that is killed under load can come back with data that differs from the others',
  },
  {
    minor: '3.5',
    version: '3.5.26',
    kind: 'dataLoss',
    reason:
      'removed members can come back to life and promoted members turn into learners when the cluster is upgraded to 3.6 (etcd issues 19557, 20793, 20967)',
  },
  {
    minor: '3.5',
    version: '3.5.33',
    kind: 'security',
    reason:
      'watches can leak keys across RBAC and a stalled TLS handshake blocks the listener (GHSA-xg4h-6gfc-h4m8, GHSA-6vch-q96h-7gc3)',
  },
  {
    minor: '3.6',
    version: '3.6.15',
    kind: 'dataLoss',
    reason: 'a member may be unable to start after a power loss (etcd issue 22314)',
  },
  {
    minor: '3.6',
    version: '3.6.14',
    kind: 'security',
    reason:
      'watches can leak keys across RBAC and a stalled TLS handshake blocks the listener (GHSA-xg4h-6gfc-h4m8, GHSA-6vch-q96h-7gc3)',
  },
  {
    minor: '3.7',
    version: '3.7.1',
    kind: 'security',
    reason:
      'watches can leak keys across RBAC and a stalled TLS handshake blocks the listener (GHSA-xg4h-6gfc-h4m8, GHSA-6vch-q96h-7gc3)',
  },
];

export type ParsedVersion = { readonly major: number; readonly minor: number; readonly patch: number };

/** What is said of a version below one or more floors. */
export type Outdated = {
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

/** Negative, zero or positive as `a` is older than, equal to or newer than `b`; throws a RangeError on what is no version. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)];
  if (left === undefined) throw new RangeError(`not a version x.y.z: ${a}`);
  if (right === undefined) throw new RangeError(`not a version x.y.z: ${b}`);
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
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
    reason: newer ? 'NewerThanKnown' : 'Supported',
    message: newer
      ? `etcd ${plain} is newer than ${NEWEST_KNOWN[supported]}, the newest ${supported} known to this operator on ${VERSIONS_KNOWN_ON}`
      : `etcd ${plain} is supported`,
    ...(outdated === undefined ? {} : { outdated }),
  };
}

function unsupported(version: string): VersionCheck {
  const parsed = parseVersion(version);
  const offer = `write one of ${SUPPORTED_MINORS.map(minor => NEWEST_KNOWN[minor]).join(', ')}`;
  if (parsed === undefined) {
    return {
      supported: false,
      reason: 'Malformed',
      message: `${JSON.stringify(version.slice(0, 64))} is not an etcd release of the form x.y.z; ${offer}`,
    };
  }
  const plain = trimVersion(version);
  const tooOld = compareVersions(plain, `${SUPPORTED_MINORS[0]}.0`) < 0;
  return tooOld
    ? {
        supported: false,
        reason: 'TooOld',
        message: `etcd ${plain} is out of support upstream and is not run by this operator; ${offer}`,
      }
    : {
        supported: false,
        reason: 'TooNew',
        message: `etcd ${plain} is of a minor that this operator was not tested with; ${offer}`,
      };
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
