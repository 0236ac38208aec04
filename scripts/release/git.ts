/** Git, in a folder that is not always this checkout. */
import { execFileSync } from 'node:child_process';

/** What `git ARGUMENTS` prints, without the blank at the end. @throws Error with what it says when it fails */
export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

/** The tag of a release. */
export const tagOf = (version: string): string => `v${version}`;

/** The versions that have a tag. */
export function taggedVersions(folder: string): string[] {
  return git(folder, 'tag', '--list', 'v*')
    .split('\n')
    .map(tag => tag.slice(1));
}
