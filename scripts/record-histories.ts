/**
 * Records the histories that test/replay replays: every workflow type, on a real Temporal server, over activities that
 * follow a script. What was recorded stays as it is; what the release's folder lacks is added.
 * Usage: scripts/record-histories.ts [release, default: the version in package.json] [scenarios by name, default: all]
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { WorkflowBench } from '../test/worlds/workflow-bench.ts';
import { RecordedRuns } from './histories/recorded-runs.ts';
import { SCENARIOS } from './histories/scenarios.ts';

/** They hold paths of this machine, and replay does not read them. */
function withoutStackTraces(json: string): string {
  return json.replace(/"stackTrace": "(?:[^"\\]|\\.)*"/g, '"stackTrace": ""');
}

const root = fileURLToPath(new URL('..', import.meta.url));

async function version(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}

const folder = join(root, 'test', 'histories', process.argv[2] ?? (await version()));
await mkdir(folder, { recursive: true });
const bench = await WorkflowBench.start();
const runs = new RecordedRuns(bench.client);
try {
  const only = process.argv.slice(3);
  for (const scenario of SCENARIOS) {
    if (only.length > 0 && !only.includes(scenario.name)) continue;
    for (const [name, handle] of Object.entries(await scenario(bench))) {
      for (const [before, history] of (await runs.of(handle)).entries()) {
        const file = join(folder, `${name}${before === 0 ? '' : `-${before}-before`}.json.gz`);
        if (existsSync(file)) continue;
        await writeFile(file, gzipSync(withoutStackTraces(historyToJSON(history)), { level: 9 }));
        console.log(`${scenario.name}: ${basename(file)}`);
      }
    }
  }
} finally {
  await bench.stop();
}
