import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { branchesOf, reachedBy, type Reached } from './branches.ts';
import { gateResult } from './gate.ts';

const PATH = 'src/planner/lag.ts';
const textsOf = (source: string): string[] => branchesOf(PATH, source).map(({ text }) => text);

/** Reaches branches that begin so. */
const reaches =
  (...texts: readonly string[]): Reached =>
  ({ text }) =>
    texts.includes(text);

describe('branches', () => {
  it.each([
    ['a function', 'function lag() { go(); }', ['{ go(); }']],
    ['a function that is passed on', 'const far = all.filter(a => a > 1);', ['a > 1']],
    ['both arms of an if', 'if (a) b(); else c();', ['b();', 'c();']],
    ['both arms of a condition', 'const d = a ? b : c;', ['b', 'c']],
    ['the right side of an operator', 'const d = a && b || c;', ['c', 'b']],
    ['a default that is computed', 'const d = a ?? b();', ['b()']],
    ['each case of a switch', "switch (a) { case 'b': b(); break; default: c(); }", ['b();', 'c();']],
    ['the body of a loop', 'for (const a of all) b(a);', ['b(a);']],
    ['what follows a return', '{ if (a) return; b(); c(); }', ['return;', 'b(); c(); }']],
    ['what follows a loop that may be left', '{ for (;;) break; b(); }', ['break;', 'b(); }']],
  ])('are %s', (_, source, texts) => {
    expect(textsOf(`function f() { ${source} }`).slice(1).toSorted()).toEqual(texts.toSorted());
  });

  it.each([
    ['a value in place of one that is never absent', 'const d = a ?? 0, e = b ?? [], f = c ?? undefined;'],
    ['an error about what callers never do', "if (a) throw new RangeError('never');"],
    ['what follows a statement that cannot leave', 'if (a.b) { } go();'],
  ])('are not %s', (_, source) => {
    expect(textsOf(source).filter(text => text !== '{ }')).toEqual([]);
  });

  it('are ignored where a comment with a reason stands in front of them', () => {
    const ignored = (source: string): string[] =>
      branchesOf(PATH, source).flatMap(({ isIgnored, text }) => (isIgnored ? [text] : []));
    expect(ignored('const d = a /* v8 ignore next -- a is there */ ?? b();')).toEqual(['b()']);
    expect(ignored('const d = a ? b : /* v8 ignore next -- a is there */ c;')).toEqual(['c']);
    expect(ignored('function f() {\n// v8 ignore next -- a is there\nif (b) c(() => d); e(); }')).toEqual([
      'c(() => d);',
      'd',
    ]);
    expect(ignored('const d = a /* v8 ignore next */ ?? b();')).toEqual([]);
  });

  it('are reached if a process that wrote its coverage ran their first character', () => {
    const source = 'function f(a) { return a ? b : c; }';
    const folder = mkdtempSync(join(tmpdir(), 'gate-test-'));
    const write = (name: string, ranges: readonly (readonly [number, number, number])[]): void =>
      writeFileSync(
        join(folder, name),
        JSON.stringify({
          result: [
            {
              url: `file:///checkout/${PATH}`,
              functions: [
                {
                  ranges: ranges.map(([startOffset, endOffset, count]) => ({
                    startOffset,
                    endOffset,
                    count,
                  })),
                },
              ],
            },
          ],
        }),
      );
    const reached = (): string[] =>
      branchesOf(PATH, source)
        .filter(reachedBy(folder, 'file:///checkout/'))
        .map(({ text }) => text);
    const after = (text: string): number => source.indexOf(text) + text.length;
    try {
      write('first.json', [
        [0, source.length, 3],
        [after('a ?'), after('? b'), 0],
      ]);
      expect(reached()).toEqual(['{ return a ? b : c; }', 'c']);
      write('second.json', [
        [0, source.length, 1],
        [after('? b'), after(': c'), 0],
      ]);
      expect(reached()).toEqual(['{ return a ? b : c; }', 'b', 'c']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('the gate', () => {
  const branches = branchesOf(PATH, 'function f(a) { return a ? b : c ? d : e; }');

  it('lets nothing through that neither reaches', () => {
    const { missing, counts } = gateResult(branches, reaches('b'), reaches());
    expect(missing.map(({ path, line, text }) => `${path}:${line}: ${text}`)).toEqual([
      `${PATH}:1: { return a ? b : c ? d : e; }`,
    ]);
    expect(counts).toEqual({ both: 0, onlySimulation: 1, onlyTests: 0 });
  });

  it('counts who reaches what', () => {
    const { missing, counts } = gateResult(
      branches,
      reaches('{ return a ? b : c ? d : e; }', 'c ? d : e', 'd'),
      reaches('{ return a ? b : c ? d : e; }', 'b'),
    );
    expect(missing.map(({ text }) => text)).toEqual(['e']);
    expect(counts).toEqual({ both: 1, onlySimulation: 2, onlyTests: 1 });
  });

  it('names what is reached though a comment says that it is not', () => {
    const [first, ...others] = branchesOf(PATH, 'const d = a /* v8 ignore next -- a is there */ ?? b();');
    const { missing, needless } = gateResult([first!, ...others], reaches('b()'), reaches());
    expect([missing, needless]).toEqual([[], [first]]);
  });
});
