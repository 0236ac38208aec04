import { describe, expect, test } from 'vitest';
import { auditFaults, isAllowed } from '../../scripts/audit/rules.ts';
import type { Lock, LockedPackage } from '../../scripts/lock-file.ts';

const hash = `sha512-${'A'.repeat(86)}==`;
const good: LockedPackage = { version: '1.0.0', integrity: hash, license: 'MIT' };
const faultsOf = (lock: Lock, licenses: Readonly<Record<string, string>> = {}): string[] =>
  auditFaults({ '': { version: '0.1.0' }, ...lock }, path => licenses[path]);

test('packages with a hash and a license have no fault', () => {
  expect(faultsOf({ 'node_modules/a': good, 'node_modules/a/node_modules/b': good })).toEqual([]);
});

test.each<readonly [string, LockedPackage, string]>([
  [
    'an address',
    { ...good, resolved: 'https://registry.example.org/a.tgz' },
    'https://registry.example.org/a.tgz',
  ],
  ['no hash', { version: '1.0.0', license: 'MIT' }, 'SHA-512'],
  ['a weak hash', { ...good, integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, 'SHA-512'],
  ['an install script', { ...good, hasInstallScript: true }, 'install script'],
  ['another license', { ...good, license: 'AGPL-3.0-only' }, 'AGPL-3.0-only'],
  ['no license', { version: '1.0.0', integrity: hash }, 'nobody says its license'],
])('a package with %s is named', (_, locked, fault) => {
  const path = 'node_modules/a';
  expect(faultsOf({ [path]: locked })).toEqual([expect.stringContaining(fault)]);
  expect(faultsOf({ [path]: locked })[0]).toMatch(/^node_modules\/a: /);
});

test('a license that the lock file does not know is read from the installed package', () => {
  const { license: _, ...silent } = good;
  expect(faultsOf({ 'node_modules/a': silent }, { 'node_modules/a': 'ISC' })).toEqual([]);
  expect(faultsOf({ 'node_modules/a': silent }, { 'node_modules/a': 'GPL-2.0-only' })).toHaveLength(1);
});

test('a package that another one needs, also on other systems alone, has an entry where that one finds it', () => {
  const needsB: LockedPackage = { ...good, optionalDependencies: { '@x/b': '1.0.0' } };
  const missing = (lock: Lock): string[] => faultsOf(lock);
  expect(missing({ 'node_modules/a': needsB })).toEqual([
    expect.stringMatching(/^node_modules\/a: needs @x\/b, which has no entry/),
  ]);
  expect(missing({ 'node_modules/a': needsB, 'node_modules/@x/b': good })).toEqual([]);
  expect(missing({ 'node_modules/a': needsB, 'node_modules/a/node_modules/@x/b': good })).toEqual([]);
  expect(
    missing({ 'node_modules/a/node_modules/@x/c': needsB, 'node_modules/a/node_modules/@x/b': good }),
  ).toEqual([]);
  expect(missing({ 'node_modules/a': needsB, 'node_modules/c/node_modules/@x/b': good })).toHaveLength(1);
  expect(missing({ '': { dependencies: { z: '1.0.0' } } })).toEqual([
    expect.stringMatching(/^package.json: needs z/),
  ]);
});

describe('an exception', () => {
  test('is for its own package alone', () => {
    const copyleft = { ...good, license: 'MPL-2.0' };
    expect(faultsOf({ 'node_modules/lightningcss-linux-x64-gnu': copyleft })).toEqual([]);
    expect(faultsOf({ 'node_modules/lightningcss2': copyleft })).toHaveLength(1);
    const scripted = { ...good, hasInstallScript: true };
    expect(faultsOf({ 'node_modules/a/node_modules/protobufjs': scripted })).toEqual([]);
    expect(faultsOf({ 'node_modules/protobufjs-cli': scripted })).toHaveLength(1);
  });

  test('is for packages of systems on which nothing is built, which npm knows nothing of', () => {
    const bare: LockedPackage = { version: '1.0.0', optional: true };
    const other = (system: LockedPackage): string[] => faultsOf({ 'node_modules/a': { ...bare, ...system } });
    expect(other({ os: ['darwin'] })).toEqual([]);
    expect(other({ os: ['linux'], cpu: ['x64'], libc: ['musl'] })).toEqual([]);
    expect(other({ os: ['linux'], cpu: ['s390x'] })).toEqual([]);
    expect(other({ os: ['linux'], cpu: ['arm64'], libc: ['glibc'] })).toHaveLength(2);
    expect(other({})).toHaveLength(2);
    expect(faultsOf({ 'node_modules/a': { version: '1.0.0', os: ['darwin'] } })).toHaveLength(2);
  });
});

test('the parts of the SDK are of one release, also where one is nested', () => {
  const lock = {
    'node_modules/@temporalio/client': { ...good, version: '1.24.0' },
    'node_modules/other/node_modules/@temporalio/common': { ...good, version: '1.23.0' },
  };
  expect(faultsOf(lock)).toEqual([expect.stringContaining('1.23.0, 1.24.0')]);
});

test.each([
  ['MIT OR GPL-3.0-only', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['MIT AND ISC', true],
  ['MIT AND GPL-3.0-only', false],
  ['GPL-3.0-only OR MIT AND ISC', true],
  ['MITTEN', false],
  ['SEE LICENSE IN LICENSE', false],
])('of %s it is %s that it is allowed', (expression, allowed) => {
  expect(isAllowed(expression, ['MIT', 'ISC'])).toBe(allowed);
});
