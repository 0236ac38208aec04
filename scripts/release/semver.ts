/** Versions of releases: three numbers (semver.org, items 2 and 11). There are no pre-releases. */

/** Major, minor and patch. */
export type Version = readonly [major: number, minor: number, patch: number];

/** Undefined where the text is no version of the form X.Y.Z without leading zeros. */
export function parseVersion(text: string): Version | undefined {
  const match = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/.exec(text);
  return match === null ? undefined : [Number(match[1]), Number(match[2]), Number(match[3])];
}

/** Below 0 when `one` is the older version, above 0 when it is the newer, 0 when they are the same. */
export function compareVersions(one: Version, other: Version): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2];
}

/** The newest of the texts that are versions; undefined when there is none. */
export function newestVersion(texts: readonly string[]): string | undefined {
  return texts
    .flatMap(text => {
      const version = parseVersion(text);
      return version === undefined ? [] : [{ text, version }];
    })
    .sort((one, other) => compareVersions(other.version, one.version))[0]?.text;
}
