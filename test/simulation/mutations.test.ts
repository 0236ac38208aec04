import { describe, expect, it } from 'vitest';
import { type AnyFunction, callReplaceable, replaceable, replaceBy } from './replaceable.ts';

const SOURCE = `
export function check(members) {
  return isWell(members) ? 'well' : 'fault';
}
export const isWell = members => members.every(Boolean);
export async function ask(members) {
  return check(members);
}
function inner() {
  return isWell([]);
}
`;

type Functions = Readonly<Record<'check' | 'isWell' | 'ask', AnyFunction>>;
/** What a source exports when it is loaded as for mutations. */
function loaded(source: string): Functions {
  const text = `${replaceable(source).replaceAll('export ', '')} return { check, isWell, ask };`;
  // oxlint-disable-next-line typescript/no-implied-eval -- what is made is source text
  return (new Function('callReplaceable', text) as (call: unknown) => Functions)(callReplaceable);
}

describe('replaceable functions', () => {
  it('are the exported ones, also where their own file calls them', async () => {
    const { check, isWell, ask } = loaded(SOURCE);
    const members = [true, false];
    const answers = async (): Promise<unknown[]> => [check(members), isWell(members), await ask(members)];
    expect(await answers()).toEqual(['fault', false, 'fault']);

    replaceBy([{ guard: isWell, by: () => () => true }]);
    expect(await answers()).toEqual(['well', true, 'well']);

    replaceBy([{ guard: check, by: (original: AnyFunction) => each => `${original(each)}, or so` }]);
    expect(await answers()).toEqual(['fault, or so', false, 'fault, or so']);

    replaceBy([]);
    expect(await answers()).toEqual(['fault', false, 'fault']);
  });

  it('leave the rest of a source as it is', () => {
    const text =
      'interface A { readonly b: string }\nfunction f() {}\nexport const C = 5;\nexport class D { e() {} }\n';
    expect(replaceable(text)).toBe(text);
  });
});
