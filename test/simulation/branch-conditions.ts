/** What a branch that V8 counts stands for: the function that it is in, and the condition under which it is reached. */
import { type Declaration, type Node, nodesIn, normalised, textOf } from './declarations.ts';

/** Where V8 lets a branch begin: anywhere from `from` to before `to`. */
interface Place {
  readonly from: number;
  readonly to: number;
  /** Given where the branch ends there and nowhere else. */
  readonly end?: number;
  readonly when: string;
}

/**
 * The condition of the branch from one offset to another, e.g. `probe.answered`, `not (probe.answered)`, `case 'Delete'`,
 * `pods.filter(…)` for a function that is handed over; undefined when it is all of the declaration.
 */
export function conditionOf(declaration: Declaration, start: number, end: number): string | undefined {
  const { node, source } = declaration;
  if (isAllOf(node, start)) return undefined;
  const place = placesIn(declaration).find(
    each => each.from <= start && start < each.to && (each.end === undefined || each.end === end),
  );
  return place?.when ?? source.text.slice(start, end).replaceAll(/\s+/g, ' ').trim().slice(0, 100);
}

/** Whether the declaration has a branch of this condition; what is a function needs none. */
export function hasBranch(declaration: Declaration, when: string | undefined): boolean {
  if (when === undefined) return true;
  return placesIn(declaration).some(place => normalised(place.when) === normalised(when));
}

function isAllOf(node: Node, start: number): boolean {
  if (node.type !== 'VariableDeclarator') return start === node.start;
  return node.init !== null && isFunction(node.init) && start === node.init.start;
}

function placesIn(declaration: Declaration): Place[] {
  const owners = ownersIn(declaration);
  return [...nodesIn(declaration.node)].flatMap(node => placesOf(node, declaration, owners));
}

function placesOf(node: Node, { source }: Declaration, owners: ReadonlyMap<Node, string>): Place[] {
  const text = (of: Node): string => textOf(of, source);
  const at = (of: Node, when: string): Place => ({ from: of.start, to: of.start + 1, when });
  const between = (before: Node, after: Node, when: string): Place => ({
    from: before.end,
    to: after.start,
    when,
  });
  switch (node.type) {
    case 'IfStatement':
      return [
        at(node.consequent, text(node.test)),
        ...(node.alternate === null ? [] : [at(node.alternate, negation(node.test, text))]),
      ];
    case 'ConditionalExpression':
      return [
        between(node.test, node.consequent, text(node.test)),
        between(node.consequent, node.alternate, negation(node.test, text)),
      ];
    case 'LogicalExpression':
      return [between(node.left, node.right, conditionOfRight(node.operator, node.left, text))];
    case 'MemberExpression':
      return node.optional ? [between(node.object, node.property, `${text(node.object)} is there`)] : [];
    case 'AssignmentPattern':
      return [between(node.left, node.right, `${text(node.left)} is absent`)];
    case 'AssignmentExpression':
      return node.operator === '??=' ? [between(node.left, node.right, `${text(node.left)} is absent`)] : [];
    case 'SwitchStatement':
      return node.cases.map(each => at(each, each.test === null ? 'default' : `case ${text(each.test)}`));
    case 'ForOfStatement':
    case 'ForStatement':
    case 'ForInStatement':
    case 'WhileStatement':
      return [at(node.body, headOf(node, source.text))];
    case 'TryStatement':
      return node.handler === null ? [] : [at(node.handler, 'catch'), at(node.handler.body, 'catch')];
    case 'BlockStatement':
      return node.body.flatMap((statement, index) => {
        const next = node.body[index + 1];
        if (next === undefined) return [];
        return [{ from: statement.end, to: next.start + 1, when: whenPast(statement, source.text, text) }];
      });
    default: {
      const owner = owners.get(node);
      return owner === undefined
        ? []
        : [{ from: node.start, to: node.start + 1, end: node.end, when: owner }];
    }
  }
}

/** What comes after a statement is reached when that one did not return. */
function whenPast(statement: Node, source: string, text: (of: Node) => string): string {
  if (statement.type === 'IfStatement') return negation(statement.test, text);
  return `after ${headOf(statement, source)}`;
}

function headOf(node: Node, source: string): string {
  const end = 'body' in node && isPlaced(node.body) ? node.body.start : node.end;
  const head = node.type === 'TryStatement' ? 'try' : source.slice(node.start, end);
  return head.replaceAll(/\s+/g, ' ').trim().slice(0, 100);
}

function isPlaced(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'start' in value;
}

function conditionOfRight(operator: string, left: Node, text: (of: Node) => string): string {
  if (operator === '&&') return text(left);
  return operator === '||' ? negation(left, text) : `${text(left)} is absent`;
}

function negation(condition: Node, text: (of: Node) => string): string {
  if (condition.type === 'UnaryExpression' && condition.operator === '!') return text(condition.argument);
  return `not (${text(condition)})`;
}

function isFunction(node: Node): boolean {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

/** How functions within the declaration are called: by their names, or by whom they are handed to. */
function ownersIn({ node: within, source }: Declaration): Map<Node, string> {
  const owners = new Map<Node, string>();
  for (const node of nodesIn(within)) {
    if (node !== within && node.type === 'FunctionDeclaration')
      owners.set(node, `function ${node.id?.name ?? ''}`);
    if (isFunction(node) && !owners.has(node)) owners.set(node, textOf(node, source).slice(0, 100));
    if (node.type === 'CallExpression')
      for (const argument of node.arguments) owners.set(argument, `${textOf(node.callee, source)}(…)`);
    if (node.type === 'VariableDeclarator' && node !== within && node.init !== null)
      owners.set(node.init, textOf(node.id, source));
  }
  for (const node of owners.keys())
    if (!isFunction(node) && node.type !== 'FunctionDeclaration') owners.delete(node);
  return owners;
}
