/** A copy of the last commit in which a release is prepared, so that one that fails leaves the checkout as it was. */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { git } from './git.ts';

/** @returns a folder with the files of HEAD and the packages of the checkout; remove it after use */
export function copyOfHead(checkout: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'etcd-operator-release-'));
  git(checkout, 'clone', '--quiet', '--no-hardlinks', '--depth', '1', `file://${checkout}`, copy);
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The files of the copy that differ from those of the checkout. */
export function changedFiles(copy: string): string[] {
  return git(copy, 'status', '--porcelain', '--untracked-files=all', '--no-renames', '-z')
    .split('\0')
    .filter(line => line !== '')
    .map(line => line.slice(3));
}

/** Makes these files of the checkout what they are in the copy. */
export function takeOver(copy: string, checkout: string, files: readonly string[]): void {
  for (const file of files) {
    const [from, to] = [join(copy, file), join(checkout, file)];
    if (!existsSync(from)) rmSync(to);
    else if (!existsSync(to) || !readFileSync(from).equals(readFileSync(to))) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
    }
  }
}
