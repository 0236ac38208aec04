/** The version of the operator stands in package.json. Wherever else it stands, it is written from there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.ts';

/** A file written by hand in which the image is named with its tag. */
interface Place {
  readonly path: string;
  /** Matches every mention; the first group is what stands before the version. */
  readonly mention: RegExp;
}

/** Chart.yaml is generated as a whole (scripts/generate-chart.ts). */
const PLACES: readonly Place[] = [
  { path: 'deploy/operator/deployment.yaml', mention: /(image: etcd-operator:)\S+/g },
  { path: 'docs/operations/install.md', mention: /(etcd-operator:)\d[\w.-]*/g },
];

const LOCK = 'package-lock.json';

/** The version in package.json. */
export function currentVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** The files that name the version: path from the root of the checkout to content with that of package.json. */
export function generateVersions(): Map<string, string> {
  const version = currentVersion();
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  return new Map([
    [LOCK, lockedVersion(read(LOCK), version)],
    ...PLACES.map(({ path, mention }): [string, string] => [
      path,
      mentionedVersion(read(path), version, { path, mention }),
    ]),
  ]);
}

/**
 * The text with every mention of the version replaced.
 * @throws when there is none: the file has changed, and the version may stand in it in another form
 */
export function mentionedVersion(text: string, version: string, { path, mention }: Place): string {
  if (text.search(mention) < 0)
    throw new Error(`${path} has no ${mention.source}: change scripts/version.ts`);
  return text.replace(mention, `$1${version}`);
}

/** A lock file as npm writes it, for another version of the package that it is of. */
export function lockedVersion(text: string, version: string): string {
  const lock = JSON.parse(text) as { version: string; packages: Record<string, { version: string }> };
  const own = lock.packages[''];
  if (own === undefined) throw new Error(`${LOCK} does not have the package itself: run npm install`);
  lock.version = version;
  own.version = version;
  return `${JSON.stringify(lock, undefined, 2)}\n`;
}
