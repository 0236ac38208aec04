/** A release of this very checkout, made in a repository of its own. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { git } from '../../../scripts/release/git.ts';
import { root } from '../../../scripts/run.ts';

/** Newer than every release. */
const VERSION = '1999.0.0';
/** For a machine that is busy; milliseconds. */
const PATIENCE = 180_000;
const AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

let repository: string;
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const output = (name: string): string => read(`dist-release/${VERSION}/${name}`);
const release = (...args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, ['scripts/release.ts', ...args], {
    cwd: repository,
    encoding: 'utf8',
    env: { ...process.env, ...AUTHOR },
  });
/** Everything that a release could change. */
const state = (): unknown => [
  git(repository, 'status', '--porcelain', '--ignored'),
  git(repository, 'rev-parse', 'HEAD'),
  git(repository, 'tag', '--list'),
  git(repository, 'worktree', 'list'),
];

beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'release-dry-run-'));
  const isNeeded = (path: string): boolean =>
    !/^(\.git|node_modules|coverage|dist[^/]*)$/.test(relative(root, path));
  cpSync(root, repository, { recursive: true, filter: isNeeded });
  symlinkSync(join(root, 'node_modules'), join(repository, 'node_modules'));
  writeFileSync(
    join(repository, 'CHANGELOG.md'),
    read('CHANGELOG.md').replace(/^(# .*\n)(?:[^#]|\n)*## Next\n/m, '$1\n## Next\n\n- For this test.\n'),
  );
  git(repository, 'init', '--quiet', '--initial-branch=main');
  git(repository, 'add', '--all');
  execFileSync('git', ['commit', '--quiet', '-m', 'x'], {
    cwd: repository,
    env: { ...process.env, ...AUTHOR },
  });
}, PATIENCE);
afterAll(() => rmSync(repository, { recursive: true, force: true }), PATIENCE);

describe('a dry run', () => {
  let files: string[];
  let before: unknown;

  beforeAll(() => {
    before = state();
    const { status, stderr } = release('--version', VERSION, '--dry-run');
    if (status !== 0) throw new Error(stderr);
    files = readdirSync(join(repository, 'dist-release', VERSION)).sort();
  }, PATIENCE);

  test('changes nothing but its own folder, which git ignores', () => {
    expect(state()).toEqual(
      (before as string[]).map((part, index) => (index === 0 ? `!! dist-release/\n${part}` : part)),
    );
    expect(read('package.json')).not.toContain(VERSION);
  });

  test('writes every file of the release', () => {
    expect(files).toEqual(
      [
        'CHANGELOG.md',
        'RELEASE_NOTES.md',
        'SHA256SUMS',
        'crds.yaml',
        'etcd.yaml',
        `kubectl-etcd-${VERSION}-linux-amd64.tar.gz`,
        `kubectl-etcd-${VERSION}-linux-arm64.tar.gz`,
        `etcd-operator-${VERSION}.tgz`,
        `etcd-operator-bundle-${VERSION}.tgz`,
        'flow-control.yaml',
        'install.yaml',
        'licenses-amd64.txt',
        'licenses-arm64.txt',
        'monitoring.yaml',
        'namespaced-cluster.yaml',
        'namespaced.yaml',
        'sbom-amd64.cdx.json',
        'sbom-arm64.cdx.json',
        'temporal.yaml',
      ].sort(),
    );
  });

  test('names the new version in all of them, and nowhere the old one', () => {
    const chart = execFileSync('tar', ['-xzOf', `etcd-operator-${VERSION}.tgz`, 'etcd-operator/Chart.yaml'], {
      cwd: join(repository, 'dist-release', VERSION),
      encoding: 'utf8',
    });
    expect(chart).toContain(`\nversion: ${VERSION}\nappVersion: ${VERSION}\n`);
    for (const name of ['install.yaml', 'namespaced.yaml'])
      expect([...output(name).matchAll(/image: (\S+)/g)].map(([, image]) => image)).toEqual([
        `etcd-operator:${VERSION}`,
      ]);
    const sbom = JSON.parse(output('sbom-amd64.cdx.json')) as {
      metadata: { component: { version: string } };
    };
    expect(sbom.metadata.component.version).toBe(VERSION);
    expect(output('RELEASE_NOTES.md')).toMatch(/^- For this test\.\n/);
    expect(output('CHANGELOG.md')).toContain(`\n## ${VERSION}\n`);
    expect(output('CHANGELOG.md')).not.toContain('## Next');
  });

  test('puts namespaces and CRDs before what needs them', () => {
    const kinds = parseAllDocuments(output('install.yaml')).map(document => String(document.get('kind')));
    expect(kinds[0]).toBe('Namespace');
    expect(kinds.lastIndexOf('CustomResourceDefinition')).toBeLessThan(kinds.indexOf('ServiceAccount'));
    expect(kinds.indexOf('ServiceAccount')).toBeLessThan(kinds.indexOf('Deployment'));
  });

  test('writes sums that sha256sum checks', () => {
    const checked = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: join(repository, 'dist-release', VERSION),
      encoding: 'utf8',
    });
    expect(checked.trimEnd().split('\n')).toEqual(
      files.filter(name => name !== 'SHA256SUMS').map(name => `${name}: OK`),
    );
  });

  test('gives the same bytes when it is repeated', () => {
    const sums = output('SHA256SUMS');
    expect(release('--version', VERSION, '--dry-run').status).toBe(0);
    expect(output('SHA256SUMS')).toBe(sums);
  });
});

test('a generated file that is out of date stops the release, and leaves the files of an earlier run', () => {
  const sums = output('SHA256SUMS');
  const page = 'docs/reference/events.md';
  const text = read(page);
  writeFileSync(join(repository, page), `${text}\nBy hand.\n`);
  const commit = (message: string): void =>
    void execFileSync('git', ['commit', '--quiet', '-am', message], {
      cwd: repository,
      env: { ...process.env, ...AUTHOR },
    });
  commit('by hand');
  const { status, stderr } = release('--version', VERSION, '--dry-run');
  expect(status).toBe(1);
  expect(stderr).toContain(`${page} is out of date`);
  expect(output('SHA256SUMS')).toBe(sums);
  writeFileSync(join(repository, page), text);
  commit('put back');
});

test('what may not be released is refused before anything is written', () => {
  expect(release('--version', '0.0.1')).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('0.0.1 is older'),
  });
  expect(release()).toMatchObject({ status: 2 });
});

test('a release sets the version, commits it and tags it; the next check of generated files passes', () => {
  const { status, stdout } = release('--version', VERSION);
  expect(stdout).toContain(`tagged v${VERSION}; nothing is pushed`);
  expect(status).toBe(0);
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(git(repository, 'describe', '--exact-match')).toBe(`v${VERSION}`);
  expect(git(repository, 'show', '--format=%s', '--name-only').split('\n').filter(Boolean)).toEqual([
    `Release ${VERSION}`,
    'CHANGELOG.md',
    'bundle/manifests/etcd-operator.clusterserviceversion.yaml',
    'charts/etcd-operator/Chart.yaml',
    'deploy/operator/deployment.yaml',
    'docs/operations/install.md',
    'package-lock.json',
    'package.json',
  ]);
  const check = spawnSync(process.execPath, ['scripts/generate.ts', '--check'], {
    cwd: repository,
    encoding: 'utf8',
  });
  expect([check.stderr, check.status]).toEqual(['', 0]);
});
