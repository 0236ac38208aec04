/**
 * Which folder may import what: the layers of the design as one table, read as an allow-list.
 * oxlint's no-restricted-imports matches the text of a specifier; these rows need the file it resolves to,
 * the difference between a type and a value, and what is reached through other files. Hence this check.
 */
import { type Edges, findPath, importsOf, matches, readSources, resolve } from './imports.ts';
import { root } from './run.ts';

/** `values` may be imported; `types` only with `import type`. Own folder: always. See `matches` for patterns. */
interface FolderRule {
  readonly values: readonly string[];
  readonly types?: readonly string[];
  /** What must not be reached by value through any chain of files: it would run, or be bundled. */
  readonly neverReach?: readonly string[];
  /** What is loaded by a call of import() does not count for that: only who needs it waits for it. */
  readonly mayReachLater?: boolean;
}

/** Patterns: `src/...` names files (`*` within a name, `**` across folders), `node:**` all builtins, else a package. */
export const importRules: Readonly<Record<string, FolderRule>> = {
  api: { values: [] },
  planner: {
    values: ['src/api/**', 'src/objects/**'],
    // Erased: what a member says of itself.
    types: ['src/etcd/answers.ts'],
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
  etcd: { values: ['etcd3', '@grpc/grpc-js', 'undici', 'node:**', 'src/api/**'] },
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
      // The names of status codes.
      '@grpc/grpc-js',
      'node:**',
      'src/api/**',
      'src/kube/**',
      'src/workflows/messages/resource.ts',
    ],
    types: ['src/etcd/health-pages.ts'],
  },
  telemetry: {
    values: [
      'pino',
      'prom-client',
      '@temporalio/activity',
      '@temporalio/common',
      '@temporalio/worker',
      'node:**',
      // Data: labels that are counted from zero.
      'src/api/**',
    ],
    types: ['src/kube/**', 'src/watcher/**', 'src/activities/**'],
  },
  // The program `kubectl etcd`, which knows the API server alone but for reports, and plans with the operator's own eyes. Nothing imports it.
  plugin: {
    values: [
      'node:**',
      'yaml',
      'package.json',
      'src/api/**',
      'src/kube/**',
      'src/planner/**',
      'src/activities/observe/observe.ts',
      'src/etcd/port.ts',
      'src/telemetry/scrub.ts',
    ],
    neverReach: ['@temporalio/**', 'etcd3', '@grpc/grpc-js'],
    mayReachLater: true,
  },
  main: { values: ['**'], neverReach: ['src/plugin/**'] },
};

/** Rows about single files, added to those of their folder: zod stays in the schemas, and Temporal's client in the plugin's reports. */
const fileRules: readonly { readonly file: string; readonly values: readonly string[] }[] = [
  { file: 'src/api/**/*.schema.ts', values: ['zod'] },
  {
    file: 'src/plugin/report/histories/temporal.ts',
    values: ['@temporalio/client', '@temporalio/common'],
  },
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

/**
 * What files outside of src/ may import of this repository, by the first row that names them; packages and builtins are free, and tests
 * may import everything. What builds, checks and generates needs no test: only what measures, simulates and records runs worlds of tests.
 */
const toolRules: readonly { readonly files: readonly string[]; readonly values: readonly string[] }[] = [
  { files: ['local/**'], values: ['local/**'] },
  {
    files: [
      'scripts/bench.ts',
      'scripts/bench/**',
      'scripts/record-histories.ts',
      'scripts/histories/**',
      'scripts/simulate.ts',
    ],
    values: [
      'src/**',
      'scripts/**',
      'local/**',
      'test/fakes/**',
      'test/simulation/**',
      'test/stack/**',
      'test/worlds/**',
    ],
  },
  { files: ['scripts/audit-rbac.ts'], values: ['scripts/**', 'local/stack/layout.ts'] },
  { files: ['scripts/release/**'], values: ['scripts/**', 'local/images/tar.ts'] },
  { files: ['scripts/**'], values: ['src/**', 'scripts/**', 'local/images/base.ts'] },
];

/** What is of this repository, and not of src/: the operator is built without it. */
const outside: readonly string[] = ['local/**', 'scripts/**', 'test/**'];

/** Folders that may not import a schema by value although the rest of src/api is open to them. */
const schemaFreeFolders = new Set(['planner', 'objects', 'workflows', 'etcd', 'kube', 'store']);

export interface Violation {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

const folderOf = (file: string): string => file.split('/')[1] ?? '';

function isAllowed(file: string, target: string, typeOnly: boolean): boolean {
  const folder = folderOf(file);
  const rule = importRules[folder];
  if (rule === undefined || matches(target, outside)) return false;
  if (target.startsWith(`src/${folder}/`)) return true;
  if (typeOnly && matches(target, rule.types ?? [])) return true;
  if (!typeOnly && schemaFreeFolders.has(folder) && target.endsWith('.schema.ts')) return false;
  const extra = fileRules.filter(row => matches(file, [row.file])).flatMap(row => row.values);
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
    const mayReachLater = importRules[folderOf(file)]?.mayReachLater === true;
    valueImports.set(
      file,
      edges.filter(({ typeOnly, isCall }) => !typeOnly && !(isCall && mayReachLater)),
    );
    for (const { target, typeOnly, line } of edges) {
      if (isAllowed(file, target, typeOnly)) continue;
      const how = typeOnly ? 'import type of' : 'import of';
      violations.push({ file, line, message: `${how} ${target} is not allowed in src/${folderOf(file)}` });
    }
  }
  return [...violations, ...checkReach(valueImports)];
}

/** Imports of scripts and of the local stack that their rows do not allow. `sources`: of scripts/ and local/, by path. */
export function checkTools(sources: ReadonlyMap<string, string>): Violation[] {
  return [...sources].flatMap(([file, source]) => {
    const rule = toolRules.find(({ files }) => matches(file, files));
    return importsOf(source).flatMap(({ specifier, line }) => {
      const target = resolve(file, specifier);
      const isOurs = specifier.startsWith('.');
      if (!isOurs || matches(target, rule?.values ?? [])) return [];
      return [{ file, line, message: `import of ${target} is not allowed in ${file}` }];
    });
  });
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

if (import.meta.main) {
  const sources = readSources(root);
  const violations = [
    ...checkImports(sources),
    ...checkTools(new Map([...readSources(root, 'scripts'), ...readSources(root, 'local')])),
    ...checkJudges(new Map([...sources, ...readSources(root, 'test')])),
  ];
  for (const { file, line, message } of violations) console.error(`${file}:${line}: ${message}`);
  if (sources.size === 0) console.error('no sources found under src/');
  process.exitCode = violations.length > 0 || sources.size === 0 ? 1 : 0;
}
