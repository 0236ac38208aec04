/** What the sources of this repository import, as found in their text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Whether it is a call, which loads the file when it is reached. */
  readonly isCall: boolean;
  readonly line: number;
}

/** Formatted code: a statement begins its line. A clause holds nothing but names, braces, commas and stars. */
const statement =
  /^[ \t]*(?:import\s*(?:(?<names>[\w\s{},*$]+?)\s*\bfrom\s*)?|export\s+(?<exported>(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?))\s*from\s*)['"](?<specifier>[^'"\n]+)['"]/gm;
const call = /\b(?:import|require)\s*\(\s*['"`](?<specifier>[^'"`\n]+)['"`]/g;

/** Every import and re-export of a formatted TypeScript source, with its line from 1. */
export function importsOf(source: string): Import[] {
  const found: Import[] = [];
  const add = (index: number, specifier: string, how: Pick<Import, 'typeOnly' | 'isCall'>): void => {
    found.push({ specifier, ...how, line: source.slice(0, index).split('\n').length });
  };
  for (const match of source.matchAll(statement)) {
    const clause = match.groups?.['names'] ?? match.groups?.['exported'] ?? '';
    add(match.index, match.groups?.['specifier'] ?? '', { typeOnly: isTypeOnly(clause), isCall: false });
  }
  for (const match of source.matchAll(call))
    add(match.index, match.groups?.['specifier'] ?? '', { typeOnly: false, isCall: true });
  return found;
}

/** With verbatimModuleSyntax only `import type` is erased: `import { type X }` still loads the module. */
function isTypeOnly(clause: string): boolean {
  return /^\s*type\b(?!\s*,|\s+from\b)/.test(clause);
}

function patternToRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  const body = escaped.replace(/\*\*\/|\*\*|\*/g, star =>
    star === '**/' ? '(?:.*/)?' : star === '**' ? '.*' : '[^/]*',
  );
  return new RegExp(`^${body}$`);
}

/** A package pattern also covers its subpaths (`pino` allows `pino/file`); a path pattern is exact. */
export function matches(target: string, patterns: readonly string[]): boolean {
  return patterns.some(
    pattern =>
      patternToRegExp(pattern).test(target) || (!pattern.includes('*') && target.startsWith(`${pattern}/`)),
  );
}

/** `src/...` for a relative specifier, else the specifier itself. */
export function resolve(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
}

export type Edges = ReadonlyMap<string, readonly { readonly target: string; readonly line: number }[]>;

/** The first chain of value imports from `start` to something forbidden; a direct hit is the other check's. */
export function findPath(edges: Edges, start: string, never: readonly string[]): string[] | undefined {
  const seen = new Set([start]);
  const open: string[][] = [[start]];
  for (let path = open.shift(); path !== undefined; path = open.shift()) {
    for (const { target } of edges.get(path.at(-1) ?? '') ?? []) {
      if (matches(target, never)) return [...path, target];
      if (seen.has(target)) continue;
      seen.add(target);
      open.push([...path, target]);
    }
  }
  return undefined;
}

/** Reads a folder of a checkout. */
export function readSources(root: string, folder = 'src'): Map<string, string> {
  const files = readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
  return new Map(files.map(file => [file, readFileSync(join(root, file), 'utf8')]));
}
