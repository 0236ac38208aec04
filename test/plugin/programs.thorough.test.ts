/** The two files that kubectl can run: that of a checkout, and the bundle. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { capture } from '../../src/plugin/programs.ts';
import { PluginBench, WELL } from './bench.ts';

const run = promisify(execFile);
/** Node 24 is on PATH of those who use the bundle. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
let folder: string;
let bench: PluginBench;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubectl-etcd-'));
  bench = await PluginBench.start();
  await bench.put('EtcdCluster', 'example', { status: WELL });
  await run(process.execPath, [join(root, 'scripts/build-plugin.ts'), folder]);
}, 120_000);
afterAll(async () => {
  await bench.stop();
  await rm(folder, { recursive: true });
});

test.each([
  ['of a checkout', () => join(root, 'bin/kubectl-etcd')],
  ['bundled', () => join(folder, 'kubectl-etcd')],
])('the program %s shows a cluster, and ends with the exit code', async (_, program) => {
  const flags = ['--kubeconfig', bench.server.kubeconfig];
  const { stdout, stderr } = await run(program(), ['status', 'example', ...flags], { env });
  expect(stdout).toContain('example-0');
  expect(stdout).not.toContain('\u001b');
  expect(stderr).toBe('');
  // Its standard input is no terminal: it cannot ask.
  await expect(run(program(), ['pause', 'example', ...flags], { env })).rejects.toMatchObject({ code: 2 });
});

test('a program that does not end in time is ended, also one that does not listen', async () => {
  const deaf = "trap '' TERM; echo begun; while :; do read -t 1; done";
  const started = Date.now();
  const captured = await capture('bash', ['-c', deaf], { timeoutMs: 1_000 });
  expect(captured).toEqual({ code: 1, out: 'begun\n', err: 'it took longer than 1 s', timedOut: true });
  expect(Date.now() - started).toBeLessThan(20_000);
});

test('beside it lies what kubectl runs for shell completion', async () => {
  const path = { ...env, PATH: `${folder}:${env.PATH}` };
  const { stdout } = await run(join(folder, 'kubectl_complete-etcd'), ['expl'], { env: path });
  expect(stdout).toMatch(/^explain\t.*\n:4\n$/);
});
