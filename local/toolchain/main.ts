import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { formatDuration } from '../progress.ts';
import { buildRecordFile } from './cache.ts';
import { runCommand } from './command.ts';
import {
  allToolNames,
  cacheDirectory,
  ensureToolchain,
  type ToolName,
  type Toolchain,
  toolNames,
} from './index.ts';
import {
  azuriteVersion,
  etcdToolSubstitutes,
  helmVersion,
  olmVersion,
  operatorFrameworkVersion,
  operatorRegistryVersion,
} from './versions.ts';

const usage = `local/toolchain/main.ts [--only NAME,NAME...]
Builds or fetches every tool of the local stack into ${cacheDirectory()} (temporal-server, PostgreSQL and OLM only by name),
and prints where each is, its version, and the seconds that it once took.`;

/** Ensures the toolchain from the command line, and prints tool, version, seconds and path. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return console.log(usage);
  const names = toolNames();
  const only = values.only?.split(',').map(name => {
    const known = allToolNames().find(candidate => candidate === name);
    if (known === undefined)
      throw new Error(`--only: there is no tool ${name}; there are ${allToolNames().join(', ')}`);
    return known;
  });
  const start = performance.now();
  const toolchain = await ensureToolchain({ only: only ?? names });
  const elapsed = formatDuration(performance.now() - start);
  for (const row of await Promise.all((only ?? names).map(tool => describe(toolchain, tool)))) {
    console.log(`${row.tool.padEnd(24)} ${row.version.padEnd(10)} ${row.seconds.padStart(7)}  ${row.path}`);
  }
  console.log(`all there in ${elapsed}`);
}

interface Row {
  tool: ToolName;
  version: string;
  seconds: string;
  path: string;
}

async function describe(toolchain: Toolchain, tool: ToolName): Promise<Row> {
  const path = toolchain.path(tool);
  const version = await versionOf(toolchain, tool);
  // A tool that the machine had already has no record of how it was made.
  const record = await readFile(buildRecordFile(dirname(dirname(path))), 'utf8').catch(() => undefined);
  const seconds =
    record === undefined ? '-' : `${Math.round(Number(JSON.parse(record).milliseconds) / 100) / 10} s`;
  return { tool, version, seconds, path };
}

async function versionOf(toolchain: Toolchain, tool: ToolName): Promise<string> {
  const [name, named] = tool.split('@');
  // etcd's tools may be of a newer version than the etcd that they are for.
  if (named !== undefined) return name === 'etcd' ? named : (etcdToolSubstitutes[named] ?? named);
  if (['local-provisioner', 'versitygw', 'fake-gcs-server'].includes(tool)) return '-';
  if (tool === 'azurite-blob') return azuriteVersion;
  if (tool === 'helm') return helmVersion;
  if (tool === 'operator-verify') return operatorFrameworkVersion;
  if (['olm-operator', 'olm-crds', 'catalog-operator'].includes(tool)) return olmVersion;
  if (tool === 'opm') return operatorRegistryVersion;
  if (tool === 'kubectl') return toolchain.versions.kubernetes;
  const output = await runCommand(toolchain.path(tool), ['--version']);
  return /\d+\.\d+\.\d+/.exec(output)?.[0] ?? output.trim();
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
