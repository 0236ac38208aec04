/** What is switched off in the threads of the SDK, in a process that is started as the operator's container is. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const THREADS = fileURLToPath(new URL('../../src/main/workflow-threads.ts', import.meta.url));

/** Says whether promises can be hooked into, and whether a call into a context has a limit. */
const PROBE = `
  const { promiseHooks } = require('node:v8');
  const vm = require('node:vm');
  let hooked = true;
  try { promiseHooks.createHook({})(); } catch { hooked = false; }
  console.warn('a warning');
  let limited = false;
  const endless = new vm.Script('const end = Date.now() + 200; while (Date.now() < end);');
  try { endless.runInContext(vm.createContext({ Date }), { timeout: 50 }); } catch { limited = true; }
  console.log(JSON.stringify({ isMainThread: require('node:worker_threads').isMainThread, hooked, limited }));
`;

it('is done in the threads that run workflows, and not in the one that runs everything else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'threads-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'probe.cjs');
  await writeFile(
    file,
    `${PROBE}\nconst { isMainThread, Worker } = require('node:worker_threads');
    if (isMainThread) new Worker(__filename);`,
  );
  const { stdout, stderr } = await run(process.execPath, ['--import', THREADS, file]);
  const lines = stdout.trim().split('\n');
  expect(lines.map(line => JSON.parse(line) as unknown)).toEqual([
    { isMainThread: true, hooked: true, limited: true },
    { isMainThread: false, hooked: false, limited: false },
  ]);
  // The SDK says once on the console that it does without; that line alone is left out.
  expect(stderr.match(/a warning/g)).toHaveLength(1);
});
