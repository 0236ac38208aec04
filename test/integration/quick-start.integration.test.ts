/** The files of docs/quick-start, as Helm, kubectl and the operator read them. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { root } from '../../scripts/run.ts';
import { validateCluster } from '../../src/api/validation/validate.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { parseConfig } from '../../src/main/config/config.ts';
import { at, listAt, type Manifest } from '../deploy/manifests.ts';
import { environmentOf, podOf } from '../deploy/rendered.ts';
import { type Helm, objectsOf, startHelm } from '../stack/helm.ts';

const run = promisify(execFile);
let helm: Helm;
let folder: string;

beforeAll(async () => {
  helm = await startHelm();
  folder = mkdtempSync(join(tmpdir(), 'quick-start-'));
  symlinkSync(root, join(folder, 'etcd-operator'));
  // As the kustomization of a checkout finds it.
  symlinkSync(join(root, 'deploy'), join(folder, 'deploy'));
  mkdirSync(join(folder, 'site'));
}, 120_000);
afterAll(async () => {
  await helm?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The block of a page that begins with the name of a file, written as that file. */
function fileOf(page: string, name: string): string {
  const text = readFileSync(join(root, 'docs/quick-start', page), 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  const found = blocks.filter(block => block.startsWith(`# ${name}`));
  expect(found).toHaveLength(1);
  const file = join(folder, name);
  writeFileSync(file, found[0] ?? '');
  return file;
}

async function kustomized(page: string, name = 'kustomization.yaml'): Promise<readonly Manifest[]> {
  const file = fileOf(page, name);
  const kubectl = (await ensureToolchain({ only: ['kubectl'] })).path('kubectl');
  const { stdout } = await run(kubectl, ['kustomize', dirname(file)], { maxBuffer: 64 * 1024 * 1024 });
  return objectsOf(stdout);
}

const configOf = (objects: readonly Manifest[]) =>
  parseConfig({ ...environmentOf(objects), POD_NAME: 'p', POD_NAMESPACE: 'n' });
const imageOf = (objects: readonly Manifest[]) => at(podOf(objects), 'spec', 'containers', 0, 'image');

test('an existing cluster: the kustomization gives the operator its image and the address of Temporal', async () => {
  const objects = await kustomized('kubernetes.md', 'site/kustomization.yaml');
  expect(imageOf(objects)).toMatch(/^registry\.example\.org\/etcd-operator:\d/);
  expect(configOf(objects).temporal.address).toBe('temporal.example.org:7233');
});

describe('without Internet', () => {
  const PRODUCTION = {
    temporal: {
      address: 'temporal.example.org:7233',
      namespace: 'etcd-operator-production',
      tls: {
        caFile: '/etc/temporal-tls/ca.crt',
        certFile: '/etc/temporal-tls/tls.crt',
        keyFile: '/etc/temporal-tls/tls.key',
      },
    },
    codec: { keysFolder: '/etc/temporal-codec' },
  };

  test.each([
    [
      'Helm',
      () => helm.render('etcd-operator', 'etcd-operator', '--values', fileOf('air-gapped.md', 'values.yaml')),
    ],
    ['kustomize', () => kustomized('air-gapped.md')],
  ])('%s pins the image, and lets the operator into Temporal with its keys', async (_, render) => {
    const objects = await render();
    expect(imageOf(objects)).toMatch(/^registry\.example\.org\/mirror\/etcd-operator@sha256:[0-9a-f]{64}$/);
    expect(at(podOf(objects), 'spec', 'imagePullSecrets')).toEqual([{ name: 'mirror' }]);
    expect(configOf(objects)).toMatchObject(PRODUCTION);
    const mounts = listAt(podOf(objects), 'spec', 'containers', 0, 'volumeMounts').map(mount =>
      at(mount, 'mountPath'),
    );
    expect(mounts).toEqual(expect.arrayContaining(['/tmp', '/etc/temporal-tls', '/etc/temporal-codec']));
    expect(objects.filter(({ kind }) => kind === 'NetworkPolicy').length).toBeGreaterThan(0);
  });

  test('the cluster is one that the operator carries out', () => {
    const objects = objectsOf(readFileSync(fileOf('air-gapped.md', 'cluster.yaml'), 'utf8'));
    expect(objects.map(({ kind }) => kind)).toEqual(['EtcdCluster', 'EtcdBackup']);
    expect(validateCluster(objects[0] as unknown as EtcdCluster).blocking).toEqual([]);
  });
});
