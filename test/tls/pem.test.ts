/** etcd reads PEM with Go, to which a block that does not begin and end on lines of its own is not there. */
import { beforeAll, describe, expect, test } from 'vitest';
import { inspect } from '../../src/tls/inspect.ts';
import type { Pair } from '../../src/tls/issue.ts';
import { parseCertificates } from '../../src/tls/pem.ts';
import { TestAuthority } from '../fakes/certificates.ts';

let first: string;
let second: string;
let leaf: Pair;
beforeAll(async () => {
  const authorities = await Promise.all(['first', 'second'].map(name => TestAuthority.create(name)));
  [first = '', second = ''] = authorities.map(({ pair }) => pair.cert.trim());
  leaf = await authorities[0]!.issue({});
});

describe('a bundle of authorities', () => {
  test.each<[string, (a: string, b: string) => string, number]>([
    ['one after the other', (a, b) => `${a}\n${b}\n`, 2],
    ['with Windows line ends', (a, b) => `${a}\n${b}`.replaceAll('\n', '\r\n'), 2],
    ['with blanks at the ends of lines', (a, b) => `${a}\n${b}`.replaceAll('\n', '  \n'), 2],
    ['with words before, between and after', (a, b) => `a company\n${a}\n# the next\n${b}\nthe end`, 2],
    ['of which one has no end', (a, b) => `${a.slice(0, 200)}\n${b}`, 1],
  ])('is read %s', (_, written, count) => {
    expect(parseCertificates(written(first, second))).toHaveLength(count);
  });

  test.each<[string, (a: string, b: string) => string]>([
    ['whose blocks stand in one line, as of files without a last line end', (a, b) => `${a}${b}`],
    ['with a byte order mark', (a, b) => `\uFEFF${a}\n${b}`],
    ['that is indented', (a, b) => `${a}\n${b}`.replaceAll(/^/gm, '  ')],
  ])('%s is a fault', (_, written) => {
    const { faults } = inspect(
      { ...leaf, ca: written(first, second) },
      { now: Date.now(), usages: [], hosts: [] },
    );
    expect(faults).toMatchObject([{ part: 'ca', kind: 'Malformed' }]);
    expect(faults[0]?.detail).toContain('on separate lines');
  });

  test('with a key in it is a fault', () => {
    const { faults } = inspect(
      { ...leaf, ca: `${first}\n${leaf.key}` },
      { now: Date.now(), usages: [], hosts: [] },
    );
    expect(faults).toMatchObject([{ part: 'ca', kind: 'Malformed' }]);
    expect(faults[0]?.detail).toContain('with which etcd does not start');
  });
});
