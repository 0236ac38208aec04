/** The plugin as a program without Node: what it answers, and that krew can install it. */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, mkdir, open, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { krewManifest, NOWHERE } from '../../scripts/release/krew.ts';
import { type PluginArchive } from '../../scripts/release/krew.ts';
import { writePluginArchives } from '../../scripts/release/plugin-archives.ts';
import { root } from '../../scripts/run.ts';
import { currentVersion } from '../../scripts/version.ts';
import { PluginBench, WELL } from './bench.ts';

const run = promisify(execFile);
const VERSION = currentVersion();
/** Of this machine, in the names of krew. */
const OWN = process.arch === 'arm64' ? 'arm64' : 'amd64';
/** In the ELF header: e_machine. */
const MACHINES = { amd64: 62, arm64: 183 } as const;

let folder: string;
let bench: PluginBench;
let archives: readonly PluginArchive[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubectl-etcd-executable-'));
  bench = await PluginBench.start();
  await bench.put('EtcdCluster', 'example', { status: WELL });
  archives = await writePluginArchives(folder, VERSION);
}, 180_000);
afterAll(async () => {
  await bench?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Platform {
  readonly selector: { readonly matchLabels: { readonly os: string; readonly arch: 'amd64' | 'arm64' } };
  readonly uri: string;
  readonly sha256: string;
  readonly bin: string;
}
interface Manifest {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly version: string; readonly platforms: readonly Platform[] };
}

const manifest = (base?: string): Manifest => parse(krewManifest(VERSION, archives, base)) as Manifest;

/** Installs as krew does: the archive of the first platform that fits is compared, unpacked, and its program linked. @returns the folder for PATH */
async function installed(
  arch: 'amd64' | 'arm64',
): Promise<{ readonly path: string; readonly store: string }> {
  const { metadata, spec } = manifest();
  const platform = spec.platforms.find(({ selector }) => selector.matchLabels.arch === arch);
  if (platform === undefined) throw new Error(`no platform for ${arch}`);
  const archive = join(folder, platform.uri.replace(`${NOWHERE}/`, ''));
  expect(
    createHash('sha256')
      .update(await readFile(archive))
      .digest('hex'),
  ).toBe(platform.sha256);
  const home = join(folder, `krew-${arch}`);
  const store = join(home, 'store', metadata.name, spec.version);
  const path = join(home, 'bin');
  await mkdir(store, { recursive: true });
  await mkdir(path, { recursive: true });
  execFileSync('tar', ['-xzf', archive, '-C', store]);
  await symlink(join(store, platform.bin), join(path, `kubectl-${metadata.name}`));
  return { path, store };
}

describe('the manifest for krew', () => {
  test('has the fields that krew asks for, and a platform for each archive', () => {
    expect(manifest()).toMatchObject({
      apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
      kind: 'Plugin',
      metadata: { name: 'etcd' },
      spec: { version: `v${VERSION}`, shortDescription: expect.stringMatching(/^.{1,50}$/) },
    });
    expect(manifest().spec.version).toMatch(/^v\d+\.\d+\.\d+$/);
    expect(manifest().spec.platforms.map(({ selector }) => selector.matchLabels)).toEqual([
      { os: 'linux', arch: 'amd64' },
      { os: 'linux', arch: 'arm64' },
    ]);
    for (const { sha256, bin } of manifest().spec.platforms) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(bin).toBe('kubectl-etcd');
    }
  });

  test('names the address under which the release is published', () => {
    expect(manifest('https://files.example.org/v1/').spec.platforms.map(({ uri }) => uri)).toEqual(
      archives.map(({ name }) => `https://files.example.org/v1/${name}`),
    );
  });
});

describe('what krew installs', () => {
  let env: NodeJS.ProcessEnv;
  let etcd: (...words: string[]) => ReturnType<typeof run>;

  beforeAll(async () => {
    // Neither Node nor a kubeconfig is there.
    env = { PATH: `${(await installed(OWN)).path}:/usr/bin:/bin`, HOME: folder };
    etcd = (...words) => run('kubectl-etcd', words, { env });
  });

  test('answers without an API server', async () => {
    expect((await etcd('version')).stdout).toMatch(
      new RegExp(`^kubectl-etcd ${VERSION.replaceAll('.', '\\.')}, with Node \\d`),
    );
    expect((await etcd('--help')).stdout).toContain('Usage: kubectl etcd COMMAND');
    expect((await etcd('completion', 'kubectl')).stdout).toBe(
      await readFile(join(root, 'bin/kubectl_complete-etcd'), 'utf8'),
    );
    await expect(etcd('completion', 'tcsh')).rejects.toMatchObject({ code: 2 });
  });

  test('completes command lines in bash', async () => {
    const words = 'COMP_WORDS=(kubectl-etcd expl); COMP_CWORD=1; _kubectl_etcd; echo "${COMPREPLY[@]}"';
    const { stdout } = await run('bash', ['-c', `source <(kubectl-etcd completion bash); ${words}`], { env });
    expect(stdout).toBe('explain\n');
  });

  test('shows a cluster, and reports that there is no Temporal', async () => {
    const flags = ['--kubeconfig', bench.server.kubeconfig];
    const { stdout, stderr } = await etcd('status', 'example', ...flags);
    expect(stdout).toContain('example-0');
    expect(stderr).toBe('');
    // The client of Temporal is loaded from within the program, too.
    const to = join(folder, 'report.tar.gz');
    const report = await etcd('report', 'example', '--to', to, '--temporal-address', '127.0.0.1:1', ...flags);
    expect(report.stderr).toContain('workflows: Temporal at 127.0.0.1:1 did not return them');
    expect((await stat(to)).size).toBeGreaterThan(500);
  });
});

test.each(['amd64', 'arm64'] as const)('the program for %s is one for that processor', async architecture => {
  const store = join(folder, `elf-${architecture}`);
  await mkdir(store);
  const { name = '' } = archives.find(archive => archive.architecture === architecture) ?? {};
  execFileSync('tar', ['-xzf', join(folder, name), '-C', store]);
  const program = await open(join(store, 'kubectl-etcd'));
  try {
    const { buffer } = await program.read(Buffer.alloc(20), 0, 20, 0);
    expect(buffer.subarray(0, 4).toString('latin1')).toBe('\u007fELF');
    expect(buffer.readUInt16LE(18)).toBe(MACHINES[architecture]);
  } finally {
    await program.close();
  }
});

test('the same sources give the same archive', async () => {
  const again = join(folder, 'again');
  const [second] = await writePluginArchives(again, VERSION, [OWN]);
  expect(second).toEqual(archives.find(({ architecture }) => architecture === OWN));
}, 180_000);
