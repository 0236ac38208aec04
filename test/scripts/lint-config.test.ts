import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, runNode, tool } from '../../scripts/run.ts';

/** A file that breaks exactly one rule, by the rule that must find it. */
const violations: readonly [rule: string, file: string, source: string][] = [
  [
    'typescript(no-floating-promises)',
    'src/kube/a.ts',
    'export function f(p: Promise<void>): void {\n  p;\n}',
  ],
  [
    'typescript(no-misused-promises)',
    'src/kube/b.ts',
    'export function f(p: Promise<boolean>): number {\n  return p ? 1 : 2;\n}',
  ],
  [
    'typescript(switch-exhaustiveness-check)',
    'src/kube/c.ts',
    `export function f(kind: 'a' | 'b'): void {\n  switch (kind) {\n    case 'a':\n      return;\n  }\n}`,
  ],
  ['typescript(only-throw-error)', 'src/kube/d.ts', `export function f(): never {\n  throw 'text';\n}`],
  ['typescript(no-explicit-any)', 'src/kube/e.ts', 'export const f = (x: any): void => void x;'],
  [
    'typescript(consistent-type-imports)',
    'src/kube/f.ts',
    `import { Stats } from 'node:fs';\nexport const f = (x: Stats): void => void x;`,
  ],
  ['eslint(eqeqeq)', 'src/kube/g.ts', 'export const f = (x: number): boolean => x == 1;'],
  [
    'eslint(max-params)',
    'src/kube/h.ts',
    'export const f = (a: number, b: number, c: number, d: number): number => a + b + c + d;',
  ],
  [
    'eslint(complexity)',
    'src/kube/i.ts',
    `export function f(x: number): number {\n${'  if (x > 1) x++;\n'.repeat(15)}  return x;\n}`,
  ],
  [
    'eslint(max-lines-per-function)',
    'src/kube/j.ts',
    `export function f(x: number): number {\n${'  x++;\n'.repeat(60)}  return x;\n}`,
  ],
  [
    'eslint(max-lines)',
    'src/kube/k.ts',
    Array.from({ length: 351 }, (_, i) => `export const a${i} = ${i};`).join('\n'),
  ],
  ['import(no-cycle)', 'src/kube/l.ts', `import { m } from './m.ts';\nexport const l = (): number => m();`],
  ['import(no-cycle)', 'src/kube/m.ts', `import { l } from './l.ts';\nexport const m = (): number => l();`],
  ['oxc(no-async-await)', 'src/planner/n.ts', 'export const f = async (): Promise<void> => undefined;'],
  ['eslint(no-restricted-properties)', 'src/planner/o.ts', 'export const f = (): number => Math.random();'],
  ...['Date', 'performance', 'process', 'Buffer', 'crypto', 'console', 'fetch', 'Promise'].map(
    (name): [string, string, string] => [
      'eslint(no-restricted-globals)',
      `src/objects/${name}.ts`,
      `export const f = (): unknown => ${name};`,
    ],
  ),
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'].map((name): [string, string, string] => [
    'eslint(no-restricted-globals)',
    `src/planner/${name}.ts`,
    `export const f = (): unknown => ${name};`,
  ]),
];

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
}

const isReport = (value: unknown): value is { readonly diagnostics: readonly Diagnostic[] } =>
  typeof value === 'object' && value !== null && 'diagnostics' in value;

describe('a violation of each lint rule is found', () => {
  const folder = mkdtempSync(join(tmpdir(), 'etcd-operator-lint-'));
  let diagnostics: readonly Diagnostic[] = [];

  beforeAll(async () => {
    for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) {
      copyFileSync(join(root, name), join(folder, name));
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const [, file, source] of violations) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), `${source}\n`);
    }
    const { output } = await runNode([tool.oxlint, '--type-aware', '--format=json', 'src'], { cwd: folder });
    const report: unknown = JSON.parse(output);
    diagnostics = isReport(report) ? report.diagnostics : [];
  }, 30_000);

  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(violations)('%s in %s', (rule, file) => {
    expect(diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code)).toContain(rule);
  });
});
