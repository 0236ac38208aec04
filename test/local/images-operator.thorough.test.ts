import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { coreBridgeRelease, layOut, moduleFiles } from '../../local/images/app-files.ts';
import type { Image } from '../../local/images/index.ts';
import { ensureOperatorImage, operatorSettings } from '../../local/images/operator.ts';
import { parseLdd } from '../../local/images/runtime.ts';
import { silentProgress } from '../../local/progress.ts';
import { folderInputs } from '../../local/toolchain/hash.ts';
import type { Toolchain } from '../../local/toolchain/index.ts';

const bridge = '@temporalio/core-bridge';
const ownRelease = `node_modules/${bridge}/releases/${coreBridgeRelease()}/index.node`;

let folder: string;
let root: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'operator-image-'));
  root = join(folder, 'checkout');
  vi.stubEnv('ETCD_OPERATOR_CACHE', join(folder, 'cache'));
  writeCheckout();
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function put(path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

/** A small checkout with packages of every sort, and compiled sources. */
function writeCheckout(): void {
  const packages: Record<string, object> = {
    '': { version: '9.8.7' },
    'node_modules/library': { version: '1.0.0' },
    'node_modules/library/node_modules/nested': { version: '2.0.0' },
    'node_modules/tool': { version: '3.0.0', dev: true },
    'node_modules/for-other-systems': { version: '4.0.0', optional: true },
    [`node_modules/${bridge}`]: { version: '5.0.0' },
  };
  put('package.json', JSON.stringify({ name: 'etcd-operator', version: '9.8.7' }));
  put('package-lock.json', JSON.stringify({ packages }));
  for (const [path, { version, optional }] of Object.entries(packages) as [
    string,
    Record<string, unknown>,
  ][]) {
    if (path !== '' && optional !== true) put(`${path}/package.json`, JSON.stringify({ version }));
  }
  for (const name of [
    'index.js',
    'index.js.map',
    'index.d.ts',
    'README.md',
    'LICENSE',
    'test/a.js',
    'dist/doc/b.js',
  ]) {
    put(`node_modules/library/${name}`, name);
  }
  put('node_modules/library/node_modules/nested/index.js', 'nested');
  put('node_modules/tool/index.js', 'tool');
  put(`node_modules/${bridge}/sdk-core/lib.rs`, 'rust');
  put(`node_modules/${bridge}/releases/other-system/index.node`, 'foreign');
  mkdirSync(dirname(join(root, ownRelease)), { recursive: true });
  copyFileSync('/bin/sh', join(root, ownRelease));
  put('dist/main/operator.js', 'console.log(1);');
  put('dist/main/operator.js.map', '{}');
  put('dist/workflow-bundle.js', 'bundle');
}

const expectedModules = [
  `${bridge}/package.json`,
  `${bridge}/releases/${coreBridgeRelease()}/index.node`,
  'library/LICENSE',
  'library/dist/doc/b.js',
  'library/index.js',
  'library/node_modules/nested/index.js',
  'library/node_modules/nested/package.json',
  'library/package.json',
].map(path => `node_modules/${path}`);

const expectedOwn = [
  'dist/main/operator.js',
  'dist/main/operator.js.map',
  'dist/workflow-bundle.js',
  'package.json',
];

describe('moduleFiles', () => {
  it('takes production packages without types, maps, documents, tests and foreign native code', () => {
    expect(moduleFiles(root).map(file => file.path)).toEqual(expectedModules);
  });

  it('fails when node_modules is not what the lock file says', () => {
    put('node_modules/library/package.json', JSON.stringify({ version: '1.0.1' }));
    expect(() => moduleFiles(root)).toThrow(
      'node_modules/library: 1.0.1 is installed, package-lock.json has 1.0.0: run npm ci',
    );
    rmSync(join(root, 'node_modules/library'), { recursive: true });
    expect(() => moduleFiles(root)).toThrow(/nothing is installed/);
  });
});

describe('ensureOperatorImage', () => {
  it('has Node, the packages and the operator in three layers, and starts as it should', async () => {
    const image = await build();
    expect(image.reference).toBe('docker.io/library/etcd-operator:9.8.7');
    const { layers, config } = unpack(image);
    expect(layers).toHaveLength(3);
    expect(layers[0]?.files).toEqual(
      expect.arrayContaining(['usr/local/bin/node', 'etc/passwd', 'etc/ssl/certs/ca-certificates.crt']),
    );
    expect(layers[0]?.files.some(file => file.endsWith('/libc.so.6'))).toBe(true);
    expect(layers[1]?.files).toEqual(expectedModules.map(path => `app/${path}`));
    expect(layers[2]?.files).toEqual(expectedOwn.map(path => `app/${path}`));
    expect(config.config).toMatchObject({
      Entrypoint: ['/usr/local/bin/node', '/app/dist/main/operator.js'],
      User: '65532:65532',
      WorkingDir: '/app',
    });
    expect(config.rootfs.diff_ids).toEqual(layers.map(layer => `sha256:${layer.digest}`));
  }, 30_000);

  it('makes only the last layer again after an edit, and nothing without one', async () => {
    const first = await build();
    expect(await build()).toEqual(first);
    put('dist/main/operator.js', 'console.log(2);');
    const second = await build();
    expect(second.digest).not.toBe(first.digest);
    const [before, after] = [unpack(first), unpack(second)].map(image =>
      image.layers.map(layer => layer.digest),
    );
    expect(after?.slice(0, 2)).toEqual(before?.slice(0, 2));
    expect(after?.[2]).not.toBe(before?.[2]);
  }, 30_000);

  it('holds the files that the Dockerfile copies, and starts as the Dockerfile says', async () => {
    const dockerfile = readDockerfile();
    const image = unpack(await build());
    const built = image.layers.flatMap(layer => layer.files).filter(file => file.startsWith('app/'));
    const stage = join(folder, 'stage');
    // What the build stage's last step does, and then what each COPY takes of it.
    layOut(root, join(stage, 'image/app'));
    expect(dockerfile.steps).toContain('RUN node local/images/lay-out.ts /image/app');
    const copied = dockerfile.copies
      .filter(copy => copy.from.startsWith('/image/'))
      .flatMap(copy => filesBelow(join(stage, copy.from)).map(file => join(copy.to, file).slice(1)));
    expect([...copied].sort()).toEqual([...built].sort());
    expect(dockerfile.copies).toContainEqual({ from: '/usr/local/bin/node', to: '/usr/local/bin/node' });
    expect(dockerfile.steps).toEqual(
      expect.arrayContaining([
        `ENTRYPOINT ${JSON.stringify(operatorSettings.entrypoint).replaceAll(',', ', ')}`,
        `USER ${operatorSettings.user}`,
        `WORKDIR ${operatorSettings.workingDirectory}`,
        ...Object.entries(operatorSettings.environment ?? {}).map(([name, value]) => `ENV ${name}=${value}`),
      ]),
    );
  }, 30_000);
});

describe('parseLdd', () => {
  it('reads libraries and the loader, and not what has no file', () => {
    const output =
      '\tlinux-vdso.so.1 (0x00007ffc2)\n\tlibm.so.6 => /lib/libm.so.6 (0x00007f1)\n\t/lib64/ld-linux.so.2 (0x00007f2)\n';
    expect(parseLdd(output, 'node')).toEqual(['/lib/libm.so.6', '/lib64/ld-linux.so.2']);
    expect(parseLdd('\tstatically linked\n', 'node')).toEqual([]);
    expect(() => parseLdd('\tlibx.so.1 => not found\n', 'node')).toThrow('node needs the library libx.so.1');
  });
});

const noTools: Toolchain = {
  path: tool => {
    throw new Error(`the operator's image needs no ${tool}`);
  },
  cniBinDir: '',
  versions: { kubernetes: '', etcd: [], temporal: '', node: process.versions.node },
};

function build(): Promise<Image> {
  return ensureOperatorImage(noTools, { progress: silentProgress, root, dist: join(root, 'dist') });
}

interface Unpacked {
  layers: { digest: string; files: string[] }[];
  config: { config: Record<string, unknown>; rootfs: { diff_ids: string[] } };
}

/** Reads an image's archive with tar, checking on the way that everything has the hash that it is named after. */
function unpack(image: Image): Unpacked {
  const out = join(folder, 'unpacked', image.digest);
  mkdirSync(out, { recursive: true });
  execFileSync('tar', ['-xf', image.archive, '-C', out]);
  const [manifest] = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
  expect(manifest.RepoTags).toEqual([image.reference]);
  expect(`sha256:${sha256(join(out, manifest.Config))}`).toBe(image.digest);
  const layers = manifest.Layers.map((name: string) => {
    const digest = sha256(join(out, name));
    expect(name).toBe(`${digest}.tar`);
    const listed = execFileSync('tar', ['-tf', join(out, name)], { encoding: 'utf8' })
      .trim()
      .split('\n');
    return { digest, files: listed.filter(path => !path.endsWith('/')) };
  });
  return { layers, config: JSON.parse(readFileSync(join(out, manifest.Config), 'utf8')) };
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Every file at or below a path, relative to it (empty for a file itself). */
function filesBelow(path: string): string[] {
  try {
    return Object.keys(folderInputs(path)).map(file => relative('.', file));
  } catch {
    return [''];
  }
}

function readDockerfile(): { steps: string[]; copies: { from: string; to: string }[] } {
  const text = readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8');
  const steps = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  const last = steps.slice(steps.findLastIndex(step => step.startsWith('FROM ')));
  const copies = last.flatMap(step => {
    const match = /^COPY --from=build (\S+) (\S+)$/.exec(step);
    return match === null ? [] : [{ from: match[1] ?? '', to: match[2] ?? '' }];
  });
  return { steps, copies };
}
