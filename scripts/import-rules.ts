/**
 * Which folder of src/ may import what: the layers of the design as one table, read as an allow-list.
 * oxlint's no-restricted-imports matches the text of a specifier; these rows need the file it resolves to,
 * the difference between a type and a value, and what is reached through other files. Hence this check.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `values` may be imported; `types` only with `import type`. Own folder: always. See `matches` for patterns. */
interface FolderRule {
  readonly values: readonly string[];
  readonly types?: readonly string[];
  /** What must not be reached by value through any chain of files: it would run, or be bundled. */
  readonly neverReach?: readonly string[];
}

/** Patterns: `src/...` names files (`*` within a name, `**` across folders), `node:**` all builtins, else a package. */
export const importRules: Readonly<Record<string, FolderRule>> = {
  api: { values: [] },
  planner: {
    values: ['src/api/**', 'src/objects/**'],
    neverReach: ['zod', 'node:**'],
  },
  objects: {
    values: ['src/api/**'],
    neverReach: ['zod', 'node:**'],
  },
  workflows: {
    values: ['@temporalio/workflow', '@temporalio/common', 'src/api/**'],
    // Erased: what activities answer, and the decisions within.
    types: ['src/activities/**', 'src/planner/**'],
    neverReach: ['zod', 'node:**', 'src/planner/**', 'src/objects/**', 'src/activities/**'],
  },
  etcd: { values: ['etcd3', '@grpc/grpc-js', 'node:**', 'src/api/**'] },
  kube: { values: ['@kubernetes/client-node', 'undici', 'yaml', 'node:**', 'src/api/**'] },
  // X.509 only: what it reads and issues is handed to it, and nothing of it is kept.
  tls: { values: ['node:crypto', '@peculiar/x509', 'reflect-metadata'] },
  store: { values: ['@aws-sdk/client-s3', 'google-auth-library', 'undici', 'node:**', 'src/api/**'] },
  activities: {
    values: [
      '@temporalio/activity',
      'node:**',
      'src/api/**',
      'src/planner/**',
      'src/objects/**',
      'src/etcd/**',
      'src/kube/**',
      'src/store/**',
      'src/tls/**',
    ],
    // Names of messages and references only; a workflow's code is never run by an activity.
    types: ['src/workflows/messages/resource.ts'],
  },
  watcher: {
    values: [
      '@temporalio/client',
      'node:**',
      'src/api/**',
      'src/kube/**',
      'src/workflows/messages/resource.ts',
    ],
  },
  telemetry: {
    values: [
      'pino',
      'prom-client',
      '@temporalio/activity',
      '@temporalio/common',
      '@temporalio/worker',
      'node:**',
    ],
    types: ['src/kube/**', 'src/watcher/**', 'src/activities/**'],
  },
  main: { values: ['**'] },
};

/** Rows about single files, added to those of their folder: zod stays in the schemas. */
const fileRules: readonly { readonly file: string; readonly values: readonly string[] }[] = [
  { file: 'src/api/**/*.schema.ts', values: ['zod'] },
];

/**
 * What judges the operator in the simulation shares no code with what it judges: by value nothing of these is reached, through whatever
 * files. Types of steps and observations are fine.
 */
const judges: readonly string[] = [
  'test/simulation/ground-truth.ts',
  'test/simulation/invariants*.ts',
  'test/simulation/oracle*.ts',
];
const judged: readonly string[] = ['src/planner/**', 'src/activities/**', 'src/workflows/**'];

/** Folders that may not import a schema by value although the rest of src/api is open to them. */
const schemaFreeFolders = new Set(['planner', 'objects', 'workflows', 'etcd', 'kube', 'store']);

export interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Formatted code: a statement begins its line. A clause holds nothing but names, braces, commas and stars. */
const statement =
  /^[ \t]*(?:import\s*(?:(?<names>[\w\s{},*$]+?)\s*\bfrom\s*)?|export\s+(?<exported>(?:type\s+)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?))\s*from\s*)['"](?<specifier>[^'"\n]+)['"]/gm;
const call = /\b(?:import|require)\s*\(\s*['"`](?<specifier>[^'"`\n]+)['"`]/g;

/** Every import and re-export of a formatted TypeScript source, with its line from 1. */
export function importsOf(source: string): Import[] {
  const found: Import[] = [];
  const add = (index: number, specifier: string, typeOnly: boolean): void => {
    found.push({ specifier, typeOnly, line: source.slice(0, index).split('\n').length });
  };
  for (const match of source.matchAll(statement)) {
    const clause = match.groups?.['names'] ?? match.groups?.['exported'] ?? '';
    add(match.index, match.groups?.['specifier'] ?? '', isTypeOnly(clause));
  }
  for (const match of source.matchAll(call)) add(match.index, match.groups?.['specifier'] ?? '', false);
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
function matches(target: string, patterns: readonly string[]): boolean {
  return patterns.some(
    pattern =>
      patternToRegExp(pattern).test(target) || (!pattern.includes('*') && target.startsWith(`${pattern}/`)),
  );
}

/** `src/...` for a relative specifier, else the specifier itself. */
function resolve(file: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : specifier;
}

const folderOf = (file: string): string => file.split('/')[1] ?? '';

function isAllowed(file: string, target: string, typeOnly: boolean): boolean {
  const folder = folderOf(file);
  const rule = importRules[folder];
  if (rule === undefined) return false;
  if (target.startsWith(`src/${folder}/`)) return true;
  if (typeOnly && matches(target, rule.types ?? [])) return true;
  if (!typeOnly && schemaFreeFolders.has(folder) && target.endsWith('.schema.ts')) return false;
  const extra = fileRules.filter(row => patternToRegExp(row.file).test(file)).flatMap(row => row.values);
  return matches(target, [...rule.values, ...extra]);
}

/**
 * Checks sources against the table.
 * @param sources text by path, `src/...` with forward slashes
 * @returns one violation an import, in the order of the files
 */
export function checkImports(sources: ReadonlyMap<string, string>): Violation[] {
  const violations: Violation[] = [];
  const valueImports = new Map<string, { readonly target: string; readonly line: number }[]>();
  for (const [file, source] of sources) {
    const edges = importsOf(source).map(found => ({ ...found, target: resolve(file, found.specifier) }));
    valueImports.set(
      file,
      edges.filter(edge => !edge.typeOnly),
    );
    for (const { target, typeOnly, line } of edges) {
      if (isAllowed(file, target, typeOnly)) continue;
      const how = typeOnly ? 'import type of' : 'import of';
      violations.push({ file, line, message: `${how} ${target} is not allowed in src/${folderOf(file)}` });
    }
  }
  return [...violations, ...checkReach(valueImports)];
}

/** Judges that reach what they judge. `sources`: of src/ and test/, by path. */
export function checkJudges(sources: ReadonlyMap<string, string>): Violation[] {
  const edges = new Map(
    [...sources].map(([file, source]) => [
      file,
      importsOf(source)
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ specifier, line }) => ({ target: resolve(file, specifier), line })),
    ]),
  );
  return [...sources.keys()]
    .filter(file => matches(file, judges))
    .flatMap(file => {
      const path = findPath(edges, file, judged);
      if (path === undefined) return [];
      const line = edges.get(file)?.find(({ target }) => target === path[1])?.line ?? 1;
      return [{ file, line, message: `judges the operator, and reaches ${path.slice(1).join(' > ')}` }];
    });
}

type Edges = ReadonlyMap<string, readonly { readonly target: string; readonly line: number }[]>;

/** Indirect imports: a pure file may import another that drags in what it may not have itself. */
function checkReach(edges: Edges): Violation[] {
  const violations: Violation[] = [];
  for (const [file, direct] of edges) {
    const never = importRules[folderOf(file)]?.neverReach ?? [];
    if (never.length === 0) continue;
    for (const { target, line } of direct) {
      const path = findPath(edges, target, never);
      if (path === undefined) continue;
      violations.push({
        file,
        line,
        message: `reaches ${path.at(-1)} through ${path.slice(0, -1).join(' > ')}`,
      });
    }
  }
  return violations;
}

/** The first chain of value imports from `start` to something forbidden; a direct hit is the other check's. */
function findPath(edges: Edges, start: string, never: readonly string[]): string[] | undefined {
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

if (import.meta.main) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const sources = readSources(root);
  const violations = [
    ...checkImports(sources),
    ...checkJudges(new Map([...sources, ...readSources(root, 'test')])),
  ];
  for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
  if (sources.size === 0) console.error('no sources found under src/');
  process.exitCode = violations.length > 0 || sources.size === 0 ? 1 : 0;
}
