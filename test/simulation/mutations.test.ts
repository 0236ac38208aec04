import { describe, expect, it } from 'vitest';
import { Declarations, readSources, type Source } from './declarations.ts';
import { locate, switchable } from './mutated-source.ts';
import { at, type Edit, returns } from './mutation.ts';
import { EVERY_MUTATION, locateOf } from './mutations.ts';

const CHECK = `
export function check(members) {
  const away = members.filter(member => !member.answers);
  if (away.length > 0 && members.length > 1) return 'fault';
  return 'well';
}
`;
/** The same as somebody with narrow lines and other taste writes it. */
const REFORMATTED = `
export function check(
  members,
) {
  const away = members
    .filter(
      member => !member.answers,
    );
  if (
    away.length > 0 &&
    // One alone has nobody to ask.
    members.length > 1
  )
    return 'fault';
  return 'well';
}
`;
const EDITS = [at('check', 'away.length > 0 && members.length > 1', 'false'), returns('check', "'mutated'")];

const declared = (...sources: readonly Source[]): Declarations => new Declarations(sources);
/** What is at the place of an edit. */
function found(edit: Edit, ...sources: readonly Source[]): string {
  const { source, start, end } = locate(edit, declared(...sources));
  return `${source.path}: ${source.text.slice(start, end)}`;
}
/** What an expression is with no edit in effect, and with each. */
function outcomes(source: Source, edits: readonly Edit[], expression: string): unknown[] {
  const located = edits.map((edit, index) => ({
    ...locate(edit, declared(source)),
    put: edit.put,
    isInEffect: `inEffect === ${index}`,
  }));
  const text = switchable(source, located).replaceAll('export ', '');
  // oxlint-disable-next-line typescript/no-implied-eval -- what is made is source text
  const run = new Function('inEffect', `${text} return ${expression};`) as (inEffect?: number) => unknown;
  return [undefined, ...edits.keys()].map(number => run(number));
}

describe('mutations', () => {
  const src = declared(...readSources('src'));
  const edits = EVERY_MUTATION.flatMap(({ what, edits: each }) => each.map(edit => ({ what, edit })));

  it.each(edits)('$what: $edit.in', ({ what, edit }) => {
    expect(locateOf(what, edit, src).source.path).toMatch(/^src\//);
  });

  it('are found wherever a file is moved and however it is formatted', () => {
    const members = '[{ answers: true }, { answers: false }]';
    for (const source of [
      { path: 'src/planner/checks.ts', text: CHECK },
      { path: 'src/planner/members/asked.ts', text: REFORMATTED },
    ])
      expect(outcomes(source, EDITS, `check(${members})`)).toEqual(['fault', 'well', 'mutated']);
  });

  it('name a function that is not there any more', () => {
    const renamed = { path: 'src/planner/checks.ts', text: CHECK.replace('check', 'look') };
    expect(() => locateOf('nobody is asked', EDITS[0] as Edit, declared(renamed))).toThrow(
      'mutation "nobody is asked": function check is not in src/',
    );
  });

  it('name an expression that is there once', () => {
    const source = { path: 'src/checks.ts', text: 'const f = (a: number) => (a > 1 ? g(a > 1) : h(a>2));' };
    expect(() => found(at('f', 'a > 1', 'true'), source)).toThrow('its expression is in f twice: a > 1');
    expect(() => found(at('f', 'a > 3', 'true'), source)).toThrow('its expression is not in f: a > 3');
    expect(found(at('f', 'a > 2', 'true'), source)).toBe('src/checks.ts: a>2');
  });

  it('name the file too where two functions have a name', () => {
    const sources = ['src/gates.ts', 'src/lag.ts'].map(path => ({
      path,
      text: 'function behind() { go(1); }',
    }));
    expect(() => found(returns('behind', '0'), ...sources)).toThrow(
      'function behind is in src/gates.ts and in src/lag.ts: name its file too',
    );
    expect(found(returns('gates/behind', '0'), ...sources)).toMatch(/^src\/gates\.ts: /);
  });

  it('take effect one at a time, also one within another', () => {
    const source = {
      path: 'src/f.ts',
      text: 'const f = a => a > 1 && a < 9; function g(a) { return f(a); }',
    };
    const edits = [
      at('f', 'a > 1 && a < 9', "'all'"),
      at('f', 'a > 1', "'left'"),
      at('f', 'a < 9', "'right'"),
      returns('g', "'body'"),
    ];
    expect(outcomes(source, edits, '[f(5), g(5)]')).toEqual([
      [true, true],
      ['all', 'all'],
      [true, true],
      ['right', 'right'],
      [true, 'body'],
    ]);
  });
});
