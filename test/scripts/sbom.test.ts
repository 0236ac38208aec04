import { describe, expect, test } from 'vitest';
import { moduleFiles } from '../../local/images/app-files.ts';
import { root } from '../../scripts/run.ts';
import { licenseTable } from '../../scripts/sbom.ts';
import { cycloneDx } from '../../scripts/sbom/cyclonedx.ts';
import { type Architecture, crates, npmPackages } from '../../scripts/sbom/packages.ts';
import { at, listAt } from '../deploy/manifests.ts';

const packages = npmPackages(root, process.arch === 'arm64' ? 'arm64' : 'x64');
const product = {
  name: 'etcd-operator',
  version: '1.2.3',
  license: 'Apache-2.0',
  dependencies: ['etcd3'],
  node: '24.1.0',
};

test('the packages are those that the image has files of', () => {
  const folderOf = (path: string): string => {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [''];
    return folder;
  };
  const laidOut = new Set(moduleFiles(root).map(({ path }) => folderOf(path)));
  // A package of types alone leaves no file in the image but its package.json.
  expect(packages.map(({ path }) => path).sort()).toEqual([...laidOut].sort());
});

test.each<readonly [Architecture, string]>([
  ['x64', '@swc/core-linux-x64-gnu'],
  ['arm64', '@swc/core-linux-arm64-gnu'],
])('native packages are those of %s', (architecture, name) => {
  const native = npmPackages(root, architecture).filter(one => one.name.startsWith('@swc/core-'));
  expect(native.map(one => one.name)).toEqual([name]);
});

test('every npm package says its license and its hash', () => {
  expect(packages.filter(({ license }) => license === undefined).map(({ name }) => name)).toEqual([]);
  for (const { hash } of packages) expect(hash?.[1]).toMatch(/^[0-9a-f]{128}$/);
});

test('the crates of the native library have names, versions and hashes, and are none of its own', () => {
  const found = crates(root);
  expect(found.length).toBeGreaterThan(100);
  expect(found.map(({ name }) => name)).toContain('tokio');
  expect(found.map(({ name }) => name)).not.toContain('temporalio-sdk-core');
  for (const { version, hash } of found)
    expect([version, hash?.[1]]).toEqual([
      expect.stringMatching(/^\d/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
});

describe('the document', () => {
  const all = [...packages, ...crates(root)];
  const document = cycloneDx(product, all);
  const refs = [
    at(document, 'metadata', 'component', 'bom-ref'),
    ...listAt(document, 'components').map(component => at(component, 'bom-ref')),
  ];

  test('names every component once, and depends on nothing else', () => {
    expect(refs).toHaveLength(new Set(refs).size);
    for (const dependency of listAt(document, 'dependencies')) {
      expect(refs).toContain(at(dependency, 'ref'));
      for (const ref of listAt(dependency, 'dependsOn')) expect(refs).toContain(ref);
    }
  });

  test('begins with what the operator uses itself', () => {
    expect(at(document, 'dependencies', 0)).toEqual({
      ref: 'pkg:npm/etcd-operator@1.2.3',
      dependsOn: ['pkg:generic/node@24.1.0', 'node_modules/etcd3'],
    });
  });

  test('writes identifiers, expressions and names of licenses apart, and scopes as groups', () => {
    const of = (license: string): unknown =>
      at(
        cycloneDx(product, [
          {
            path: 'node_modules/@a/b',
            ecosystem: 'npm',
            name: '@a/b',
            version: '1.0.0',
            license,
            hash: undefined,
            needs: [],
          },
        ]),
        'components',
        1,
      );
    expect(of('MIT')).toEqual({
      type: 'library',
      'bom-ref': 'node_modules/@a/b',
      group: '@a',
      name: 'b',
      version: '1.0.0',
      licenses: [{ license: { id: 'MIT' } }],
      purl: 'pkg:npm/%40a/b@1.0.0',
    });
    expect(of('Apache-2.0 AND MIT')).toMatchObject({ licenses: [{ expression: 'Apache-2.0 AND MIT' }] });
    expect(of('SEE LICENSE IN LICENSE')).toMatchObject({
      licenses: [{ license: { name: 'SEE LICENSE IN LICENSE' } }],
    });
  });

  test('is the same for the same packages', () => {
    expect(cycloneDx(product, all)).toEqual(document);
  });
});

test('the table of licenses counts packages and names each once', () => {
  const of = (name: string, license: string | undefined, ecosystem: 'npm' | 'cargo' = 'npm') =>
    ({ path: name, ecosystem, name, version: '1', license, hash: undefined, needs: [] }) as const;
  expect(licenseTable([of('b', 'MIT'), of('a', 'ISC'), of('b', 'MIT'), of('t', undefined, 'cargo')])).toBe(
    'ISC (1): a\nMIT (2): b\nnot in Cargo.lock (1): t\n',
  );
});
