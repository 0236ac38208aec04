/** The files of a release, read by the programs that they are for. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { packFolder } from '../../scripts/release/chart-archive.ts';
import { installManifests } from '../../scripts/release/manifests.ts';
import { root } from '../../scripts/run.ts';
import { currentVersion } from '../../scripts/version.ts';
import type { Manifest } from '../deploy/manifests.ts';
import { keyOf } from '../deploy/rendered.ts';
import { CHART, type Helm, objectsOf, startHelm, TEMPORAL } from '../stack/helm.ts';

const run = promisify(execFile);
let folder: string;
let helm: Helm;
let kubectl: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'release-files-'));
  kubectl = (await ensureToolchain({ only: ['kubectl'] })).path('kubectl');
  helm = await startHelm();
});
afterAll(async () => {
  await helm?.close();
  await rm(folder, { recursive: true, force: true });
});

const sorted = (objects: readonly Manifest[]): Manifest[] =>
  objects.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));

test.each([
  ['install.yaml', 'deploy'],
  ['crds.yaml', 'deploy/crd'],
  ['namespaced.yaml', 'deploy/namespaced'],
  ['namespaced-cluster.yaml', 'deploy/namespaced/cluster'],
  ['monitoring.yaml', 'deploy/monitoring'],
  ['flow-control.yaml', 'deploy/flow-control'],
  ['temporal.yaml', 'deploy/temporal'],
])('%s has the objects that kubectl makes of %s', async (name, source) => {
  const { stdout } = await run(kubectl, ['kustomize', join(root, source)], { maxBuffer: 64 * 1024 * 1024 });
  const written = installManifests(currentVersion()).get(name);
  expect(sorted(objectsOf(written ?? ''))).toEqual(sorted(objectsOf(stdout)));
});

test('the packed chart is for Helm the same as the folder', async () => {
  const archive = join(folder, 'chart.tgz');
  await packFolder(CHART, 'etcd-operator', archive);
  const of = (chart: string): Promise<string> =>
    helm.run('template', 'prod', chart, '--namespace', 'ops', ...TEMPORAL);
  expect(await of(archive)).toBe(await of(CHART));
  expect(await helm.run('show', 'values', archive)).toBe(await helm.run('show', 'values', CHART));
  expect(await helm.run('lint', archive, '--strict', ...TEMPORAL)).toContain('0 chart(s) failed');
});
