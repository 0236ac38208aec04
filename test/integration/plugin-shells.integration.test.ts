/** The completion scripts of `kubectl-etcd` in the shells that they are for. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureToolchain, type ToolName } from '../../local/toolchain/index.ts';
import { root } from '../../scripts/run.ts';
import { PluginBench, WELL } from '../plugin/bench.ts';

const run = promisify(execFile);
let folder: string;
let bench: PluginBench;
let shells: (name: 'zsh' | 'fish') => string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plugin-shells-'));
  bench = await PluginBench.start();
  await bench.put('EtcdCluster', 'example', { status: WELL });
  const toolchain = await ensureToolchain({ only: ['zsh', 'fish'] satisfies ToolName[] });
  shells = name => toolchain.path(name);
  env = {
    ...process.env,
    PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
    KUBECONFIG: bench.server.kubeconfig,
    HOME: folder,
  };
  for (const name of ['zsh', 'fish']) {
    const { stdout } = await run('kubectl-etcd', ['completion', name], { env });
    await writeFile(join(folder, name === 'zsh' ? '_kubectl-etcd' : 'completion.fish'), stdout);
  }
  await writeFile(join(folder, 'given.yaml'), '');
}, 120_000);
afterAll(async () => {
  await bench?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What fish offers for this line, by its own completion. */
async function fish(line: string): Promise<string[]> {
  const script = 'source $argv[1]; complete --do-complete $argv[2]';
  const { stdout, stderr } = await run(
    shells('fish'),
    ['--no-config', '-c', script, join(folder, 'completion.fish'), line],
    { env, cwd: folder },
  );
  expect(stderr).toBe('');
  return stdout.split('\n').filter(offered => offered !== '');
}

/**
 * What zsh's completion system is given for these words: the script is run by zsh, the functions of the system that it calls print what
 * they are called with. They are in zsh's line editor, which needs a terminal.
 */
async function zsh(words: readonly string[], load: string): Promise<string[]> {
  const script = `
    compdef() { registered=$1 }
    _describe() { print -rl -- "\${(@P)3}" }
    _files() { print -r -- FILES }
    ${load}
    words=("\${(@)argv[2,-1]}")
    CURRENT=$#words
    $registered`;
  const { stdout, stderr } = await run(shells('zsh'), ['-f', '-c', script, 'zsh', folder, ...words], { env });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(offered => offered !== '');
}

const SOURCED = 'source $1/_kubectl-etcd';
const AUTOLOADED = 'fpath=($1); autoload -U _kubectl-etcd; registered=_kubectl-etcd';

describe('fish', () => {
  test.each<[string, RegExp[]]>([
    ['kubectl-etcd stat', [/^status\twhat a cluster is doing: /]],
    ['kubectl-etcd status ', [/^example$/]],
    ['kubectl-etcd replace example example-', [/^example-0$/, /^example-1$/, /^example-2$/]],
    ['kubectl-etcd fleet -o ', [/^json$/, /^yaml$/]],
    ['kubectl-etcd plan example -f giv', [/^given\.yaml/]],
    ['kubectl-etcd status example ', []],
  ])('"%s"', async (line, expected) => {
    const offered = await fish(line);
    expect(offered).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(offered[index]).toMatch(pattern);
  });
});

describe.each([
  ['sourced', SOURCED],
  ['as a file in a folder of fpath', AUTOLOADED],
])('zsh, %s', (_, load) => {
  test.each<[string[], RegExp[]]>([
    // The colon in the description is no separator.
    [['kubectl-etcd', 'stat'], [/^status:what a cluster is doing\\: /]],
    [['kubectl-etcd', 'status', ''], [/^example$/]],
    [
      ['kubectl-etcd', 'replace', "'example'", ''],
      [/^example-0$/, /^example-1$/, /^example-2$/],
    ],
    [['kubectl-etcd', 'plan', 'example', '-f', ''], [/^FILES$/]],
    [['kubectl-etcd', 'status', 'example', ''], []],
  ])('%j', async (words, expected) => {
    const offered = await zsh(words, load);
    expect(offered).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(offered[index]).toMatch(pattern);
  });
});
