/**
 * The functions and constants of src/ by name. Mutations and the gate name a function, never a file, so that a file can be moved
 * and formatted again without a change here.
 */
import { globSync, readFileSync } from 'node:fs';
import { parseSync, type Node } from 'oxc-parser';

export type { Node } from 'oxc-parser';

export interface Source {
  readonly path: string;
  readonly text: string;
}

/** A function or a constant of a module, or a method as `Class.method`. */
export interface Declaration {
  readonly name: string;
  readonly node: Node;
  readonly source: Source;
}

/** The sources below a folder, e.g. `src/planner`. */
export function readSources(folder: string): Source[] {
  return globSync(`${folder}/**/*.ts`)
    .toSorted()
    .map(path => ({ path, text: readFileSync(path, 'utf8') }));
}

export class Declarations {
  readonly #sources: readonly Source[];
  readonly #parsed = new Map<Source, readonly Declaration[]>();

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
  }

  /**
   * Those of this name. It is the name itself or, where several have it, the end of the path before it, e.g. `gates/behind` for
   * the function `behind` of a file `gates.ts`.
   */
  named(name: string): readonly Declaration[] {
    const qualified = name.lastIndexOf('/');
    const plain = name.slice(qualified + 1);
    const end = qualified < 0 ? '' : `/${name.slice(0, qualified)}.ts`;
    const first = plain.split('.')[0] ?? plain;
    return this.#sources
      .filter(({ path, text }) => path.endsWith(end) && text.includes(first))
      .flatMap(source => this.of(source))
      .filter(declaration => declaration.name === plain);
  }

  /** All of one source. */
  of(source: Source): readonly Declaration[] {
    const known = this.#parsed.get(source) ?? declarationsOf(source);
    this.#parsed.set(source, known);
    return known;
  }

  /** All of a path, or none. */
  ofPath(path: string): readonly Declaration[] {
    return this.#sources.filter(source => source.path === path).flatMap(source => this.of(source));
  }
}

function declarationsOf(source: Source): Declaration[] {
  const { program, errors } = parseSync(source.path, source.text, { preserveParens: false });
  if (errors[0] !== undefined) throw new Error(`${source.path}: ${errors[0].message}`);
  return program.body
    .map(statement =>
      statement.type === 'ExportNamedDeclaration' ? (statement.declaration ?? statement) : statement,
    )
    .flatMap(namedNodes)
    .map(([name, node]) => ({ name, node, source }));
}

function namedNodes(node: Node): [string, Node][] {
  switch (node.type) {
    case 'FunctionDeclaration':
      return [[node.id?.name ?? '', node]];
    case 'VariableDeclaration':
      return node.declarations.flatMap(each => (each.id.type === 'Identifier' ? [[each.id.name, each]] : []));
    case 'ClassDeclaration':
      return node.body.body.flatMap(member =>
        'key' in member && 'name' in member.key && typeof member.key.name === 'string'
          ? [[`${node.id?.name ?? ''}.${member.key.name}`, member] as [string, Node]]
          : [],
      );
    default:
      return [];
  }
}

/** The node and all that are in it. */
export function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of Object.values(node))
    for (const each of Array.isArray(child) ? child : [child]) if (isNode(each)) yield* nodesIn(each);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The text without what a formatter may change: white space, and a comma or semicolon before a closing bracket. */
export function normalised(text: string): string {
  return text.replaceAll(/\s+/g, '').replaceAll(/[,;](?=[)\]}])/g, '');
}

/** The text of a node on one line, without comments. */
export function textOf(node: Node, { text }: Source): string {
  return text
    .slice(node.start, node.end)
    .replaceAll(/^\s*\/\/.*$|\/\*[\s\S]*?\*\/|\s\/\/\s.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/([([]) /g, '$1')
    .replaceAll(/,? ([)\]])/g, '$1')
    .trim();
}
