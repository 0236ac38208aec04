import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentKey, folderInputs } from '../../local/toolchain/hash.ts';
import { goRecipes, pauseRecipe } from '../../local/toolchain/programs.ts';
import {
  corednsVersion,
  etcdToolSubstitutes,
  etcdVersions,
  kubernetesVersion,
  olmVersion,
  operatorRegistryVersion,
} from '../../local/toolchain/versions.ts';

const goFolder = join(import.meta.dirname, '../../local/toolchain/go');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hash-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('contentKey', () => {
  it('depends on names and values, not on their order', () => {
    const key = contentKey({ one: 'a', two: 'b' });
    expect(key).toMatch(/^[0-9a-f]{16}$/);
    expect(contentKey({ two: 'b', one: 'a' })).toBe(key);
    expect(contentKey({ one: 'a', two: Buffer.from('b') })).toBe(key);
    expect(contentKey({ one: 'a', two: 'c' })).not.toBe(key);
    expect(contentKey({ one: 'a', three: 'b' })).not.toBe(key);
    expect(contentKey({ one: 'a' })).not.toBe(key);
  });

  it('distinguishes inputs that look the same when joined', () => {
    const keys = [{ ab: 'c' }, { a: 'bc' }, { a: 'b', c: '' }, { a: '1:b' }].map(inputs =>
      contentKey({ ...inputs }),
    );
    expect(new Set(keys).size).toBe(4);
  });
});

describe('folderInputs', () => {
  it('takes every file below the folder, and so any change of a source changes the key', () => {
    mkdirSync(join(folder, 'sub'));
    writeFileSync(join(folder, 'go.mod'), 'module x');
    writeFileSync(join(folder, 'sub/main.go'), 'package main');
    const before = folderInputs(folder, 'source/');
    expect(Object.keys(before).sort()).toEqual(['source/go.mod', 'source/sub/main.go']);
    writeFileSync(join(folder, 'sub/main.go'), 'package main // edited');
    expect(contentKey(folderInputs(folder, 'source/'))).not.toBe(contentKey(before));
  });
});

describe('the Go programs', () => {
  const recipes = [...goRecipes(), pauseRecipe()];

  it('have keys of their own, the same on every call', () => {
    const keys = recipes.map(recipe => recipe.artefact.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect([...goRecipes(), pauseRecipe()].map(recipe => recipe.artefact.key)).toEqual(keys);
  });

  it('pin the versions that the tools are named after', () => {
    const required = (module: string, path: string): string | undefined =>
      new RegExp(`^\\s*(?:require )?${path} v(\\S+)`, 'm').exec(
        readFileSync(join(goFolder, module, 'go.mod'), 'utf8'),
      )?.[1];
    expect(required('kube', 'k8s.io/kubernetes')).toBe(kubernetesVersion);
    expect(required('coredns', 'github.com/coredns/coredns')).toBe(corednsVersion);
    const framework = 'github.com/operator-framework';
    expect(required('olm', `${framework}/operator-lifecycle-manager`)).toBe(olmVersion);
    expect(required('olm', `${framework}/operator-registry`)).toBe(operatorRegistryVersion);
    for (const version of etcdVersions) {
      const own = etcdToolSubstitutes[version] === undefined;
      const modules = own ? ['server', 'etcdctl', 'etcdutl'] : ['server'];
      for (const name of modules) {
        expect(required(`etcd/${version}`, `go.etcd.io/etcd/${name}/v3`), `${name} of ${version}`).toBe(
          version,
        );
      }
    }
  });

  it('give every etcd version its server and both of its tools', () => {
    const tools = goRecipes().flatMap(recipe => Object.keys(recipe.tools));
    for (const version of etcdVersions) {
      expect(tools).toEqual(
        expect.arrayContaining([`etcd@${version}`, `etcdctl@${version}`, `etcdutl@${version}`]),
      );
    }
    expect(new Set(tools).size).toBe(tools.length);
  });
});
