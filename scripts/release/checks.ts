/** What must hold before a release is made. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { notesFor, releasesOf } from './changelog.ts';
import { git, tagOf, taggedVersions } from './git.ts';
import { compareVersions, newestVersion, parseVersion, type Version } from './semver.ts';

/**
 * Why the checkout cannot be released as this version, one line each; empty when it can. All are found at once.
 * @param folder the checkout
 */
export function releaseFaults(folder: string, version: string): string[] {
  const wanted = parseVersion(version);
  if (wanted === undefined) return [`--version: ${version} must be of the form X.Y.Z, such as 1.2.3`];
  const changelog = readFileSync(join(folder, 'CHANGELOG.md'), 'utf8');
  return [
    ...treeFaults(folder),
    ...branchFaults(folder, wanted),
    ...orderFaults(folder, version, wanted),
    ...notesFaults(changelog, version),
    ...historyFaults(folder, previousRelease(folder, changelog, wanted)),
  ];
}

function treeFaults(folder: string): string[] {
  const changed = git(folder, 'status', '--porcelain');
  return changed === '' ? [] : [`commit or remove these first:\n${changed}`];
}

/** Patches of an older line are released from its own branch. */
function branchFaults(folder: string, [major, minor]: Version): string[] {
  const branch = git(folder, 'rev-parse', '--abbrev-ref', 'HEAD');
  const allowed = ['main', `release-${major}.${minor}`];
  return allowed.includes(branch)
    ? []
    : [`the branch is ${branch}; releases are made on ${allowed.join(' or ')}`];
}

/** On main the version grows; on the branch of a line it grows within the line, which is the same rule for what is merged there. */
function orderFaults(folder: string, version: string, wanted: Version): string[] {
  const { version: current } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const merged = git(folder, 'tag', '--list', 'v*', '--merged', 'HEAD').split('\n');
  const last = newestVersion(merged.map(tag => tag.slice(1)));
  if (taggedVersions(folder).includes(version)) return [`there is a tag ${tagOf(version)} already`];
  if (last !== undefined && compareVersions(wanted, parsed(last)) <= 0)
    return [`${version} is not newer than the last release, ${last}`];
  if (compareVersions(wanted, parsed(current)) < 0)
    return [`${version} is older than package.json, which has ${current}`];
  return [];
}

function notesFaults(changelog: string, version: string): string[] {
  try {
    notesFor(changelog, version);
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** The newest release before this one: by its tag, or where tags were not fetched by its section in CHANGELOG.md. */
function previousRelease(folder: string, changelog: string, wanted: Version): string | undefined {
  const known = [...taggedVersions(folder), ...releasesOf(changelog)];
  return newestVersion(
    known.filter(text => {
      const version = parseVersion(text);
      return version !== undefined && compareVersions(version, wanted) < 0;
    }),
  );
}

/** Workflows that the previous release began go on with this one; `npm run check` replays those that were recorded. */
function historyFaults(folder: string, previous: string | undefined): string[] {
  if (previous === undefined) return [];
  const histories = join('test/histories', previous);
  const present = existsSync(join(folder, histories)) ? readdirSync(join(folder, histories)) : [];
  return present.some(name => name.endsWith('.json.gz'))
    ? []
    : [`${histories} has no histories: nothing shows that workflows of ${previous} go on with this release`];
}

function parsed(text: string): Version {
  const version = parseVersion(text);
  if (version === undefined) throw new Error(`${text} is no version of the form X.Y.Z`);
  return version;
}
