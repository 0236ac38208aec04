/** Whatever names the version of the operator names the one in package.json. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { releasesOf } from '../../scripts/release/changelog.ts';
import { newestVersion } from '../../scripts/release/semver.ts';
import { root } from '../../scripts/run.ts';
import { currentVersion, lockedVersion, mentionedVersion } from '../../scripts/version.ts';

const version = currentVersion();
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Files of users and of machines, without the toolchain's own modules. */
function filesOf(path: string): string[] {
  if (statSync(join(root, path)).isFile()) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1));
}

test('every tag of the operator’s image is the version', () => {
  const searched = [
    'README.md',
    'CONTRIBUTING.md',
    'Makefile',
    'bundle',
    'charts',
    'deploy',
    'docs',
    'src',
  ].flatMap(filesOf);
  const tags = searched.flatMap(path =>
    [...read(path).matchAll(/etcd-operator:(\d+\.\d+\.\d+[\w.-]*)/g)].map(([, tag]) => [path, tag]),
  );
  expect(tags.filter(([, tag]) => tag !== version)).toEqual([]);
  expect(tags.map(([path]) => path)).toEqual(
    expect.arrayContaining(['deploy/operator/deployment.yaml', 'docs/operations/install.md']),
  );
});

test('the chart and the lock file have the version', () => {
  const chart = parse(read('charts/etcd-operator/Chart.yaml')) as Record<string, string>;
  const lock = JSON.parse(read('package-lock.json')) as {
    readonly version: string;
    readonly packages: Readonly<Record<string, { readonly version: string }>>;
  };
  expect([chart['version'], chart['appVersion'], lock.version, lock.packages['']?.version]).toEqual(
    Array.from({ length: 4 }, () => version),
  );
});

test('it is the newest in CHANGELOG.md, and older releases have histories', () => {
  expect(newestVersion(releasesOf(read('CHANGELOG.md')))).toBe(version);
  const older = releasesOf(read('CHANGELOG.md')).filter(release => release !== version);
  expect(older.filter(release => !existsSync(join(root, 'test/histories', release)))).toEqual([]);
});

test('a file that does not mention the version any more is an error, not left as it is', () => {
  const place = { path: 'deploy/x.yaml', mention: /(image: etcd-operator:)\S+/g };
  expect(mentionedVersion('image: etcd-operator:0.1.0\n', '9.8.7', place)).toBe(
    'image: etcd-operator:9.8.7\n',
  );
  expect(() => mentionedVersion('image: other:0.1.0\n', '9.8.7', place)).toThrow('deploy/x.yaml has no');
});

test('a lock file is changed as npm writes it, in the two places of the package itself', () => {
  const lock = {
    name: 'a',
    version: '0.1.0',
    packages: { '': { version: '0.1.0' }, 'node_modules/b': { version: '0.1.0' } },
  };
  expect(JSON.parse(lockedVersion(JSON.stringify(lock), '0.2.0'))).toEqual({
    ...lock,
    version: '0.2.0',
    packages: { ...lock.packages, '': { version: '0.2.0' } },
  });
  expect(lockedVersion(read('package-lock.json'), version)).toBe(read('package-lock.json'));
  expect(() => lockedVersion('{"packages":{}}', '1.0.0')).toThrow('npm install');
});
