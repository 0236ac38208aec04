/** The two files that kubectl can run: that of a checkout, and the bundle. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

describe('bundled', () => {
  const version = /^kubectl-etcd \S+, with Node \d/;

  test.each(['commonjs', 'module'])(
    'it runs beside a package.json of type %s, and within its folder',
    async type => {
      const beside = join(folder, type);
      await mkdir(beside);
      await writeFile(join(beside, 'package.json'), JSON.stringify({ type }));
      for (const file of ['kubectl-etcd', 'etcd-plugin.mjs'])
        await copyFile(join(folder, file), join(beside, file));
      expect((await run(join(beside, 'kubectl-etcd'), ['version'], { env, cwd: beside })).stdout).toMatch(
        version,
      );
    },
  );

  test('it runs through a symbolic link, from a folder with unusual characters, and passes words on', async () => {
    const odd = join(folder, 'a %20 "b" #c');
    await mkdir(odd);
    for (const file of ['kubectl-etcd', 'etcd-plugin.mjs'])
      await copyFile(join(folder, file), join(odd, file));
    const link = join(folder, 'link');
    await symlink(join(odd, 'kubectl-etcd'), link);
    expect((await run(link, ['version'], { env })).stdout).toMatch(version);
    expect((await run(link, ['--help'], { env })).stdout).toContain('Usage: kubectl etcd COMMAND');
  });

  /** A folder for PATH whose node says that it is this version, as the process of the real one does. */
  async function withNode(named: string): Promise<string> {
    const path = join(folder, `node-${named}`);
    await mkdir(path);
    const fakeVersion = join(path, 'told.cjs');
    await writeFile(fakeVersion, `Object.defineProperty(process.versions, 'node', { value: '${named}' });`);
    const script = `#!/bin/sh\nexec '${process.execPath}' --require '${fakeVersion}' "$@"\n`;
    await writeFile(join(path, 'node'), script, { mode: 0o755 });
    return path;
  }

  test('an older Node gets a message with the one that is needed', async () => {
    const old = { ...process.env, PATH: `${await withNode('20.20.2')}:/usr/bin:/bin` };
    await expect(run(join(folder, 'kubectl-etcd'), ['version'], { env: old })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /^kubectl-etcd: Node 24 or later is needed on PATH, and \S+ is 20\.20\.2\. .*\n$/,
      ),
    });
  });

  test('without Node it says so', async () => {
    const bare = join(folder, 'bare');
    await mkdir(bare);
    for (const tool of ['dirname', 'readlink']) await symlink(`/usr/bin/${tool}`, join(bare, tool));
    await expect(
      run('/bin/sh', [join(folder, 'kubectl-etcd'), 'version'], { env: { PATH: bare } }),
    ).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Node 24 or later is needed on PATH'),
    });
  });

  test('without the program beside it, it says which files belong together', async () => {
    const alone = join(folder, 'alone');
    await mkdir(alone);
    await copyFile(join(folder, 'kubectl-etcd'), join(alone, 'kubectl-etcd'));
    await expect(run(join(alone, 'kubectl-etcd'), ['version'], { env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('etcd-plugin.mjs is missing'),
    });
  });
});

test('a program that does not end in time is ended, also one that does not listen', async () => {
  const deaf = "trap '' TERM; echo begun; while :; do read -t 1; done";
  const started = Date.now();
  const captured = await capture('bash', ['-c', deaf], { timeoutMs: 5_000 });
  expect(captured).toEqual({ code: 1, out: 'begun\n', err: 'it took longer than 5 s', timedOut: true });
  expect(Date.now() - started).toBeLessThan(60_000);
});

test('beside it lies what kubectl runs for shell completion', async () => {
  const path = { ...env, PATH: `${folder}:${env.PATH}` };
  const { stdout } = await run(join(folder, 'kubectl_complete-etcd'), ['expl'], { env: path });
  expect(stdout).toMatch(/^explain\t.*\n:4\n$/);
});
