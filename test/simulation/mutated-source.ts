/** Where the edits of mutations belong in src/, and sources in which each can be put into effect. */
import {
  type Declaration,
  type Declarations,
  type Node,
  nodesIn,
  normalised,
  type Source,
  textOf,
} from './declarations.ts';
import type { Edit } from './mutation.ts';

export interface Located {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
  /** A block: what it returns at once. Else an expression takes the place of the one that is there. */
  readonly isBlock: boolean;
}

/** Where the expression of an edit stands. Throws an Error that says what is wrong with the name or the expression. */
export function locate({ in: name, find }: Edit, declarations: Declarations): Located {
  const named = declarations.named(name);
  if (named.length === 0) throw new Error(`function ${name} is not in src/`);
  const found = named.flatMap(each =>
    (find === undefined ? [bodyOf(each, name)] : expressionsOf(each, find)).map(node => ({
      source: each.source,
      start: node.start,
      end: node.end,
      isBlock: find === undefined && node.type === 'BlockStatement',
    })),
  );
  const [first, ...more] = found;
  if (first === undefined) throw new Error(`its expression is not in ${name}: ${find ?? ''}`);
  const paths = [...new Set(found.map(({ source }) => source.path))];
  if (paths.length > 1)
    throw new Error(`function ${name} is in ${paths.join(' and in ')}: name its file too`);
  if (more.length > 0) throw new Error(`its expression is in ${name} ${times(found.length)}: ${find ?? ''}`);
  return first;
}

/** A source in which each edit that was located there asks first whether it is in effect. */
export function switchable(
  { text }: Source,
  edits: readonly (Located & { readonly put: string; readonly isInEffect: string })[],
): string {
  // Around an expression, brackets of a longer one stand outside of those of a shorter one.
  const outerFirst = edits.toSorted((a, b) => b.end - b.start - (a.end - a.start));
  const before = new Map<number, string>();
  const after = new Map<number, string>();
  const insert = (map: Map<number, string>, at: number, what: (there: string) => string): unknown =>
    map.set(at, what(map.get(at) ?? ''));
  for (const { start, end, isBlock, put, isInEffect } of outerFirst) {
    if (isBlock) insert(before, start + 1, there => `${there} if (${isInEffect}) return (${put});`);
    else {
      insert(before, start, there => `${there}(${isInEffect} ? (${put}) : (`);
      insert(after, end, there => `))${there}`);
    }
  }
  const offsets = [...new Set([...before.keys(), ...after.keys()])].toSorted((a, b) => a - b);
  let mutated = '';
  let last = 0;
  for (const offset of offsets) {
    mutated += text.slice(last, offset) + (after.get(offset) ?? '') + (before.get(offset) ?? '');
    last = offset;
  }
  return mutated + text.slice(last);
}

function expressionsOf({ node, source }: Declaration, find: string): Node[] {
  const wanted = normalised(find);
  const found = [...nodesIn(node)].filter(
    each => /Expression$|Literal$/.test(each.type) && normalised(textOf(each, source)) === wanted,
  );
  // An optional chain and the last call of it are two nodes of one expression.
  return found.filter((each, index) => found.findIndex(other => other.start === each.start) === index);
}

function bodyOf({ node }: Declaration, name: string): Node {
  const declared = node.type === 'VariableDeclarator' ? node.init : node;
  const made = declared?.type === 'MethodDefinition' ? declared.value : declared;
  const body = made !== null && 'body' in made ? made.body : undefined;
  if (
    made === null ||
    body === undefined ||
    body === null ||
    !/Function/.test(made.type) ||
    Array.isArray(body)
  )
    throw new Error(`${name} is no function: name an expression of it`);
  return body as Node;
}

const times = (count: number): string => (count === 2 ? 'twice' : `${count} times`);
