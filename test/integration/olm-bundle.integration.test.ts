/** The bundle by the checks of the Operator Lifecycle Manager and of OperatorHub. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { generateOlm } from '../../scripts/generate-olm.ts';
import { root } from '../../scripts/run.ts';

const run = promisify(execFile);
const CSV = 'manifests/etcd-operator.clusterserviceversion.yaml';
let verify: string;
let folder: string;

beforeAll(async () => {
  verify = (await ensureToolchain({ only: ['operator-verify'] })).path('operator-verify');
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'olm-bundle-'));
  await cp(join(root, 'bundle'), folder, { recursive: true });
});
afterEach(async () => rm(folder, { recursive: true }));

/** What the checks find in the folder, and whether they accept it. */
async function verdict(): Promise<{ accepted: boolean; found: string }> {
  return run(verify, [folder]).then(
    ({ stdout, stderr }) => ({ accepted: true, found: stdout + stderr }),
    (error: { stdout: string; stderr: string }) => ({ accepted: false, found: error.stdout + error.stderr }),
  );
}

async function edit(name: string, from: string, to: string): Promise<void> {
  const text = await readFile(join(folder, name), 'utf8');
  if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
  await writeFile(join(folder, name), text.replaceAll(from, to));
}

/** Rules of roles name no version: a user who may create PodDisruptionBudgets is taken for a user of the version that is gone. */
const KNOWN =
  /^Warning: .* removed in v1\.25\..* Migrate the API\(s\) for poddisruptionbudgets: \(\["[^"]*Rules\[\d+\]"\]\)$/;

test('there is nothing to say against it', async () => {
  const { accepted, found } = await verdict();
  expect(accepted).toBe(true);
  expect(found.split('\n').filter(line => line !== '' && !KNOWN.test(line))).toEqual([]);
});

test('there is nothing to say against that of a later release, which upgrades from every one before', async () => {
  for (const [path, content] of generateOlm('0.3.0'))
    await writeFile(join(folder, path.slice('bundle/'.length)), content);
  expect(await readFile(join(folder, CSV), 'utf8')).toContain('olm.skipRange: ">=0.2.0 <0.3.0"');
  const { accepted, found } = await verdict();
  expect(accepted).toBe(true);
  expect(found.split('\n').filter(line => line !== '' && !KNOWN.test(line))).toEqual([]);
});

test('a definition that is missing, an install mode that is none, and a category that OperatorHub does not know are found', async () => {
  await rm(join(folder, 'manifests/etcdrequests.crd.yaml'));
  await edit(CSV, 'supported: true', 'supported: false');
  await edit(CSV, 'categories: Database', 'categories: Databases');
  const { accepted, found } = await verdict();
  expect(accepted).toBe(false);
  expect(found).toMatch(/owned CRD .*EtcdRequest.* not found in bundle/);
  expect(found).toContain('none of InstallModeTypes are supported');
  expect(found).toContain('Databases');
});

test('a field that a ClusterServiceVersion does not have is found', async () => {
  await edit(CSV, 'specDescriptors:', 'specDescriptor:');
  expect(await verdict()).toMatchObject({
    accepted: false,
    found: expect.stringContaining('specDescriptor'),
  });
});
