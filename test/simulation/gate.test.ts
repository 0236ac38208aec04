import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { conditionOf, hasBranch } from './branch-conditions.ts';
import { Declarations, readSources } from './declarations.ts';
import { exempt } from './exempt.ts';
import { EXEMPT, faultsOf, gateResult, lineFor, NAMED_TESTS } from './gate.ts';

const BECAUSE = 'it is a table';

describe('the gate', () => {
  it('names tests that there are', () => {
    expect(NAMED_TESTS.length).toBeGreaterThan(5);
    expect(NAMED_TESTS.filter(path => !existsSync(path))).toEqual([]);
  });

  it('names functions and branches that there are', () => {
    expect(faultsOf(EXEMPT, new Declarations(readSources('src/planner')))).toEqual([]);
  });

  it('lets nothing through that is not on the list', () => {
    const [first] = EXEMPT.flatMap(({ in: name, when = [] }) => when.map(each => ({ name, when: each })));
    if (first === undefined) throw new Error('nothing is on the list');
    const { name, when } = first;
    const plain = name.slice(name.lastIndexOf('/') + 1);
    const path = `src/planner/${name.slice(0, name.lastIndexOf('/'))}.ts:1`;
    const unreached = [
      { at: path, in: plain, when, text: ': []' },
      { at: path, in: plain, when: 'something new', text: ': []' },
      { at: path, in: 'newFunction', when: undefined, text: 'function newFunction() {' },
    ];
    expect(gateResult(unreached).missing).toEqual(unreached.slice(1));
    expect(gateResult(unreached).missing.map(lineFor)).toEqual([
      `...exempt(BECAUSE, { ${plain}: ['something new'] }),`,
      "...exempt(BECAUSE, { newFunction: 'all' }),",
    ]);
  });

  it('knows a branch wherever its file is and however it is formatted', () => {
    const text = 'export function lag(a, b) { if (a.known) return b ? 1 : [2, 3]; return 0; }';
    const wide = text.replaceAll(/([({[,?:]) ?/g, '$1\n  ').replace('2,\n  3', '2,\n  3,\n');
    for (const source of [
      { path: 'src/planner/gates.ts', text },
      { path: 'src/planner/members/lag.ts', text: wide },
    ]) {
      const [lag] = new Declarations([source]).named('lag');
      if (lag === undefined) throw new Error('lag is there');
      const from = (part: string): string | undefined =>
        conditionOf(lag, source.text.indexOf(part), source.text.length - 1);
      expect([from('function'), from('return b'), from(':'), from('return 0')].slice(0, 2)).toEqual([
        undefined,
        'a.known',
      ]);
      expect(hasBranch(lag, 'not (b)')).toBe(true);
      expect(hasBranch(lag, 'not (a.known)')).toBe(true);
      expect(faultsOf(exempt(BECAUSE, { lag: ['a.known', 'b'] }), new Declarations([source]))).toEqual([]);
    }
  });

  it('says which function or branch is gone', () => {
    const sources = [
      { path: 'src/planner/gates.ts', text: 'function lag(a) { return a ? 1 : 2; }' },
      { path: 'src/planner/rolling.ts', text: 'function lag(a) { return a ? 1 : 3; }' },
    ];
    const faults = (name: string, when: string): string[] =>
      faultsOf(exempt(BECAUSE, { [name]: [when] }), new Declarations(sources));
    expect(faults('gates/lag', 'a')).toEqual([]);
    expect(faults('delay', 'a')).toEqual(['exemption: function delay is not in src/planner']);
    expect(faults('rolling/lag', 'b')).toEqual(['exemption: rolling/lag has no branch b']);
    expect(faults('lag', 'a')).toEqual([
      'exemption: lag: a is in src/planner/gates.ts and in src/planner/rolling.ts: name its file too',
    ]);
  });
});
