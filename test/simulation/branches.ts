/**
 * Branches of source files, and which of them processes reached: a function, an arm of a condition, a body of a loop, and what follows
 * a statement that may return. Processes run with NODE_V8_COVERAGE write what they reached.
 */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Comment, type MemberExpression, type Node, parseSync } from 'oxc-parser';

export interface Branch {
  readonly path: string;
  /** Where it begins: the number of the character and of the line. */
  readonly start: number;
  readonly line: number;
  readonly end: number;
  /** How it begins. */
  readonly text: string;
  /** A comment in front of it says why nothing reaches it: `v8 ignore next -- the reason`. */
  readonly isIgnored: boolean;
}

/** Whether processes reached a branch. */
export type Reached = (branch: Branch) => boolean;

/** All branches of the files below a folder, e.g. `src/planner`. */
export function branchesBelow(folder: string): Branch[] {
  return globSync(`${folder}/**/*.ts`)
    .toSorted()
    .flatMap(path => branchesOf(path, readFileSync(path, 'utf8')));
}

/** All branches of a file, in their order. */
export function branchesOf(path: string, text: string): Branch[] {
  const { program, comments, errors } = parseSync(path, text, { preserveParens: false });
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const nodes = [...nodesIn(program)];
  const ignored = comments.flatMap(comment => ignoredBy(comment, nodes, text));
  return nodes
    .flatMap(armsOf)
    .map(({ start, end }) => ({
      path,
      start,
      line: text.slice(0, start).split('\n').length,
      end,
      text: text.slice(start, end).split('\n')[0]?.slice(0, 100) ?? '',
      isIgnored: ignored.some(node => node.start <= start && start < node.end),
    }))
    .toSorted(outerFirst);
}

/** What the processes reached that wrote their coverage into this folder. Paths are relative to the root of the checkout. */
export function reachedBy(folder: string, root = `file://${process.cwd()}/`): Reached {
  const reached = new Map<string, Uint8Array>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage;
    for (const { url, functions } of result) {
      if (!url.startsWith(`${root}src/`)) continue;
      const path = url.slice(root.length);
      const ranges = functions
        .flatMap(each => each.ranges)
        .map(({ startOffset: start, endOffset: end, count }) => ({ start, end, count }));
      const here = new Uint8Array(Math.max(...ranges.map(({ end }) => end)));
      // An inner range says more than the one around it.
      for (const { start, end, count } of ranges.toSorted(outerFirst))
        here.fill(count > 0 ? 1 : 0, start, end);
      const before = reached.get(path);
      reached.set(path, before === undefined ? here : before.map((each, at) => each | (here[at] ?? 0)));
    }
  }
  return ({ path, start }) => reached.get(path)?.[start] === 1;
}

/** Those that no branch of the list is around. */
export function outermost(branches: readonly Branch[]): Branch[] {
  return branches.filter(
    branch =>
      !branches.some(
        other =>
          other !== branch &&
          other.path === branch.path &&
          other.start <= branch.start &&
          branch.end <= other.end,
      ),
  );
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

interface Place {
  readonly start: number;
  readonly end: number;
}

const outerFirst = (a: Place, b: Place): number => a.start - b.start || b.end - a.end;

function armsOf(node: Node): Place[] {
  switch (node.type) {
    case 'IfStatement':
      return [node.consequent, node.alternate].filter(arm => arm !== null && !isAssertion(arm)) as Place[];
    case 'ConditionalExpression':
      return [node.consequent, node.alternate];
    case 'LogicalExpression':
      return node.operator !== '&&' && isFallback(node.right) ? [] : [node.right];
    case 'AssignmentPattern':
      return isFallback(node.right) ? [] : [node.right];
    case 'SwitchCase':
      return node.consequent.slice(0, 1);
    case 'ForOfStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'WhileStatement':
    case 'CatchClause':
      return [node.body];
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return node.body === null ? [] : [node.body];
    case 'BlockStatement':
      return node.body
        .filter((_, index) => index > 0 && mayLeave(node.body[index - 1] as Node))
        .map(({ start }) => ({ start, end: node.end }));
    default:
      return [];
  }
}

/** Whether a statement can be reached without the one after it. */
function mayLeave(statement: Node): boolean {
  return [...nodesIn(statement)].some(({ type }) => /^(Return|Throw|Continue|Break)Statement$/.test(type));
}

/** What stands in for a value that the types allow to be absent and that the callers have made sure of. */
function isFallback(node: Node): boolean {
  switch (node.type) {
    case 'Literal':
      return true;
    case 'ArrayExpression':
      return node.elements.length === 0;
    case 'ObjectExpression':
      return node.properties.length === 0;
    case 'Identifier':
      return node.name === 'undefined' || node.name === 'now';
    case 'MemberExpression':
      return /^Number\.|\.now$/.test(nameOf(node));
    default:
      return false;
  }
}

/** `a.b` of such an expression. */
function nameOf({ object, property }: MemberExpression): string {
  const name = (node: Node): string => ('name' in node && typeof node.name === 'string' ? node.name : '');
  return `${name(object)}.${name(property)}`;
}

/** Whether it says that callers never do this. */
function isAssertion(node: Node): boolean {
  return (
    node.type === 'ThrowStatement' &&
    node.argument.type === 'NewExpression' &&
    'name' in node.argument.callee &&
    node.argument.callee.name === 'RangeError'
  );
}

/** What a comment excludes: the outermost node that begins after it. */
function ignoredBy({ value, end }: Comment, nodes: readonly Node[], text: string): Place[] {
  if (!/^\s*v8 ignore next -- \S/.test(value)) return [];
  const [between] = /^\s*((\?\?|&&|\|\||[?:=]|else\b)\s*)?/.exec(text.slice(end)) ?? [''];
  return nodes.filter(({ start }) => start === end + between.length).slice(0, 1);
}

function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node))
    for (const each of Array.isArray(child) ? child : [child]) if (isNode(each)) yield* nodesIn(each);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
