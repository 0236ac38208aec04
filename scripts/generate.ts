/**
 * Writes every generated file of the repository; with `--check` it writes nothing and fails when a file on disk
 * is not what would be generated.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { generateAlerts } from './generate-alerts.ts';
import { generateChart } from './generate-chart.ts';
import { generateCrds } from './generate-crds.ts';
import { generateDashboards } from './generate-dashboards.ts';
import { generateOlm } from './generate-olm.ts';
import { generateReference } from './generate-reference.ts';
import { root } from './run.ts';
import { generateVersions } from './version.ts';

/** Each gives its files by path from the root; a folder that one writes into holds nothing else, unless it is shared. */
const generators: readonly (() => ReadonlyMap<string, string>)[] = [
  generateCrds,
  generateReference,
  generateChart,
  generateVersions,
  generateAlerts,
  generateDashboards,
  generateOlm,
];

/** Folders that hold also what is written by hand. */
const shared: readonly string[] = [
  '.',
  'bundle',
  'charts/etcd-operator',
  'deploy/monitoring',
  'deploy/operator',
  'docs/operations',
];

/** How the files on disk differ from the generated ones, one line each. */
export function drift(generated: ReadonlyMap<string, string>, folder: string): string[] {
  const differing = [...generated].flatMap(([path, content]) => {
    const file = join(folder, path);
    if (!existsSync(file)) return [`${path} is missing`];
    return readFileSync(file, 'utf8') === content ? [] : [`${path} is out of date`];
  });
  return [...differing, ...leftOver(generated, folder).map(path => `${path} is no longer generated`)];
}

function leftOver(generated: ReadonlyMap<string, string>, folder: string): string[] {
  return [...new Set([...generated.keys()].map(dirname))]
    .filter(path => !shared.includes(path) && existsSync(join(folder, path)))
    .flatMap(path => readdirSync(join(folder, path)).map(name => `${path}/${name}`))
    .filter(path => !generated.has(path));
}

function write(generated: ReadonlyMap<string, string>): void {
  for (const path of leftOver(generated, root)) rmSync(join(root, path));
  for (const [path, content] of generated) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
  const generated = new Map(generators.flatMap(generate => [...generate()]));
  if (values.check) {
    const lines = drift(generated, root);
    for (const line of lines) console.error(`${line}: run \`npm run generate\` and commit`);
    process.exitCode = lines.length > 0 ? 1 : 0;
  } else {
    write(generated);
  }
}
