import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { artefactPath, cacheDirectory, install, isInstalled } from '../../local/toolchain/cache.ts';

const artefact = { name: 'tool-1.2', key: 'abc' };
const cacheModule = join(import.meta.dirname, '../../local/toolchain/cache.ts');

let cache: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'cache-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  vi.unstubAllEnvs();
  await rm(cache, { recursive: true, force: true });
});

/** Another process that installs the artefact, and runs `build` (JavaScript) to fill the folder `folder`. */
function installElsewhere(build: string): ChildProcess {
  const program = `
    import { install } from ${JSON.stringify(cacheModule)};
    import { appendFileSync, writeFileSync } from 'node:fs';
    await install(${JSON.stringify(artefact)}, async folder => { ${build} }, { cache: ${JSON.stringify(cache)} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

function partials(): string[] {
  return readdirSync(join(cache, 'artefacts')).filter(name => name.startsWith('.partial-'));
}

describe('install', () => {
  it('builds once, and takes what is there after that', async () => {
    let builds = 0;
    const build = async (folder: string): Promise<void> => {
      builds += 1;
      await writeFile(join(folder, 'tool'), 'whole');
    };
    const path = await install(artefact, build, { cache });
    expect(await install(artefact, build, { cache })).toBe(path);
    expect(builds).toBe(1);
    expect(readFileSync(join(path, 'tool'), 'utf8')).toBe('whole');
    expect(partials()).toEqual([]);
  });

  it('shows nothing at the final place while it builds', async () => {
    await install(artefact, async () => expect(isInstalled(artefact, cache)).toBe(false), { cache });
    expect(isInstalled(artefact, cache)).toBe(true);
  });

  it('leaves nothing behind when the build fails, and can be repeated', async () => {
    const failing = install(
      artefact,
      async folder => {
        await writeFile(join(folder, 'tool'), 'half');
        throw new Error('no network');
      },
      { cache },
    );
    await expect(failing).rejects.toThrow('no network');
    expect(isInstalled(artefact, cache)).toBe(false);
    expect(partials()).toEqual([]);
    await install(artefact, folder => writeFile(join(folder, 'tool'), 'whole'), { cache });
    expect(isInstalled(artefact, cache)).toBe(true);
  });

  it('cleans up and builds again after a process that was killed in the middle', async () => {
    const child = installElsewhere(`
      writeFileSync(folder + '/tool', 'half');
      process.stdout.write('half');
      await new Promise(resolve => process.stdin.once('data', resolve));`);
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    expect(partials()).toHaveLength(1);
    child.kill('SIGKILL');
    await once(child, 'close');
    expect(isInstalled(artefact, cache)).toBe(false);
    const path = await install(artefact, folder => writeFile(join(folder, 'tool'), 'whole'), { cache });
    expect(readFileSync(join(path, 'tool'), 'utf8')).toBe('whole');
    expect(partials()).toEqual([]);
  });

  it('removes partial folders of dead processes, whatever they were building', async () => {
    const parent = join(cache, 'artefacts');
    const dead = join(parent, '.partial-99999999-00aa11-other-9-f00');
    const alive = join(parent, `.partial-${process.pid}-00aa11-other-9-f00`);
    await mkdir(dead, { recursive: true });
    await mkdir(alive);
    await install(artefact, async () => {}, { cache });
    expect(existsSync(dead)).toBe(false);
    expect(existsSync(alive)).toBe(true);
  });

  it('lets one of several processes build while the others wait for it', async () => {
    const record = join(cache, 'builds');
    const build = `
      appendFileSync(${JSON.stringify(record)}, 'x');
      writeFileSync(folder + '/tool', 'whole');
      await new Promise(resolve => setTimeout(resolve, 100));`;
    const codes = await Promise.all([1, 2, 3].map(() => once(installElsewhere(build), 'close')));
    expect(codes.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(readFileSync(record, 'utf8')).toBe('x');
  });

  it('keeps the newest versions of an artefact only, and leaves others alone', async () => {
    await install({ name: 'tool', key: 'other' }, async () => {}, { cache });
    for (const key of ['k1', 'k2', 'k3', 'k4'])
      await install({ name: 'tool-1.2', key }, async () => {}, { cache });
    const left = readdirSync(join(cache, 'artefacts')).sort();
    expect(left).toEqual(['tool-1.2-k2', 'tool-1.2-k3', 'tool-1.2-k4', 'tool-other']);
  });
});

describe('cacheDirectory', () => {
  it('follows its own variable, then the XDG one, then the home folder', () => {
    vi.stubEnv('ETCD_OPERATOR_CACHE', '/own');
    vi.stubEnv('XDG_CACHE_HOME', '/xdg');
    vi.stubEnv('HOME', '/home/someone');
    expect(cacheDirectory()).toBe('/own');
    expect(artefactPath(artefact)).toBe('/own/artefacts/tool-1.2-abc');
    vi.stubEnv('ETCD_OPERATOR_CACHE', '');
    expect(cacheDirectory()).toBe('/xdg/etcd-operator');
    vi.stubEnv('XDG_CACHE_HOME', '');
    expect(cacheDirectory()).toBe('/home/someone/.cache/etcd-operator');
  });
});
