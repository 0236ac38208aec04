/** Has functions of src/ loaded so that another can take the place of each: it is how mutations (mutations.ts) take guards away. */
import { registerHooks } from 'node:module';
import { parseSync } from 'oxc-parser';

// oxlint-disable-next-line typescript/no-explicit-any -- whatever a function takes and returns
export type AnyFunction = (...args: any[]) => any;

/** What takes the place of a function, made of the function itself. */
export interface Replacement {
  readonly guard: AnyFunction;
  // oxlint-disable-next-line typescript/no-explicit-any -- of the type of the guard
  readonly by: (original: any) => AnyFunction;
}

let inEffect: ReadonlyMap<AnyFunction, Replacement['by']> = new Map();

/** Puts these in the place of the functions that they name, and takes all others back. */
export function replaceBy(replacements: readonly Replacement[]): void {
  inEffect = new Map(replacements.map(({ guard, by }) => [guard, by]));
}

/** Calls what takes the place of a function, or else the function. */
export function callReplaceable(
  guard: AnyFunction,
  original: AnyFunction,
  args: readonly unknown[],
): unknown {
  return (inEffect.get(guard)?.(original) ?? original)(...args);
}

/** From now on the exported functions of src/ are loaded so. Must run before they are loaded. */
export function makeReplaceable(): void {
  Object.assign(globalThis, { callReplaceable });
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      const isOurs = url.includes('/src/') && !url.includes('/node_modules/') && url.endsWith('.ts');
      return isOurs ? { ...loaded, source: replaceable(String(loaded.source)) } : loaded;
    },
  });
}

/** A source whose exported functions, and constants that are functions, can be replaced. */
export function replaceable(text: string): string {
  const { program } = parseSync('source.ts', text);
  let made = '';
  let last = 0;
  const insert = (at: number, what: string): void => {
    made += text.slice(last, at) + what;
    last = at;
  };
  for (const { start, declaration } of program.body.filter(
    statement => statement.type === 'ExportNamedDeclaration',
  )) {
    if (declaration?.type === 'FunctionDeclaration' && declaration.id !== null) {
      const { name, end } = declaration.id;
      insert(start, `export function ${name}() { return callReplaceable(${name}, ${name}$, arguments); } `);
      last = declaration.start;
      insert(end, '$');
    } else if (declaration?.type === 'VariableDeclaration') {
      for (const { id, init } of declaration.declarations) {
        if (id.type !== 'Identifier' || init?.type !== 'ArrowFunctionExpression') continue;
        insert(init.start, `(original => (...args) => callReplaceable(${id.name}, original, args))(`);
        insert(init.end, ')');
      }
    }
  }
  return made + text.slice(last);
}
