import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { releaseFaults } from '../../../scripts/release/checks.ts';
import { git } from '../../../scripts/release/git.ts';

let folder: string;
const put = (path: string, content: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
};
const commit = (): void => {
  git(folder, 'add', '--all');
  git(folder, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '--quiet', '-m', 'x');
};

/** A repository whose 0.2.0 is released and whose 0.3.0 can be. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'release-checks-'));
  git(folder, 'init', '--quiet', '--initial-branch=main');
  put('package.json', '{ "version": "0.2.0" }');
  put('CHANGELOG.md', '# Changelog\n\n## Next\n\n- New.\n\n## 0.2.0\n\n- First.\n');
  put('test/histories/0.2.0/etcdCluster-whole.json.gz', 'x');
  commit();
  git(folder, 'tag', 'v0.2.0');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a newer version can be released', () => {
  for (const version of ['0.2.1', '0.3.0', '1.0.0']) expect(releaseFaults(folder, version)).toEqual([]);
});

test.each([
  ['0.2.0', 'there is a tag v0.2.0 already'],
  ['0.1.9', '0.1.9 is not newer than the last release, 0.2.0'],
])('%s is refused: %s', (version, fault) => {
  expect(releaseFaults(folder, version)).toContain(fault);
});

test.each(['0.3', 'v0.3.0', '0.3.0-rc.1'])('%s is refused as no version', version => {
  expect(releaseFaults(folder, version)).toEqual([
    `--version: ${version} must be of the form X.Y.Z, such as 1.2.3`,
  ]);
});

test('before the first tag, the version in package.json is the oldest that can be released', () => {
  git(folder, 'tag', '--delete', 'v0.2.0');
  expect(releaseFaults(folder, '0.1.0')).toContain('0.1.0 is older than package.json, which has 0.2.0');
  expect(releaseFaults(folder, '0.3.0')).toEqual([]);
});

test('what is not committed is named', () => {
  put('new.txt', 'x');
  expect(releaseFaults(folder, '0.3.0')).toEqual(['commit or remove these first:\n?? new.txt']);
});

test('a release is made on main, or on the branch of its line', () => {
  git(folder, 'checkout', '--quiet', '-b', 'release-0.2');
  expect(releaseFaults(folder, '0.2.1')).toEqual([]);
  expect(releaseFaults(folder, '0.3.0')).toEqual([
    'the branch is release-0.2; releases are made on main or release-0.3',
  ]);
});

test('a patch of an older line needs to be newer than that line alone', () => {
  git(folder, 'checkout', '--quiet', '-b', 'release-0.2');
  git(folder, 'checkout', '--quiet', 'main');
  put('CHANGELOG.md', '# Changelog\n\n## 0.3.0\n\n- New.\n\n## 0.2.0\n\n- First.\n');
  commit();
  git(folder, 'tag', 'v0.3.0');
  expect(releaseFaults(folder, '0.2.1')).toContain('0.2.1 is not newer than the last release, 0.3.0');
  git(folder, 'checkout', '--quiet', 'release-0.2');
  expect(releaseFaults(folder, '0.2.1')).toEqual([]);
});

test('without notes and without histories of the release before, all is named at once', () => {
  put('CHANGELOG.md', '# Changelog\n\n## 0.2.0\n\n- First.\n');
  rmSync(join(folder, 'test/histories'), { recursive: true });
  commit();
  expect(releaseFaults(folder, '0.3.0')).toEqual([
    'CHANGELOG.md: say under "## Next" what changes for those who run the operator',
    'test/histories/0.2.0 has no histories: nothing shows that workflows of 0.2.0 go on with this release',
  ]);
});
