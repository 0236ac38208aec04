/** The manifests as docs/operations/install.md says to apply them, on a real kube-apiserver: installed, upgraded, and changed by hand. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';

const run = promisify(execFile);
const NAMESPACE = ['-n', 'etcd-operator'] as const;
/** In the namespace of nobody else, unlike that of the manifests. */
const ADDRESS = 'temporal.example.org:7233';

let plane: ControlPlane;
/** What a reader has: the manifests, and what is written beside them. */
let folder: string;
let page: string;

beforeAll(async () => {
  plane = await startControlPlane();
  folder = await mkdtemp(join(tmpdir(), 'manifests-'));
  await symlink(plane.kubectl, join(folder, 'kubectl'));
  await cp(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true });
  page = await readFile(join(root, 'docs/operations/install.md'), 'utf8');
});
afterAll(async () => {
  await plane?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The only block of commands of a section. */
function blockOf(section: string): string {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [, block] = /^```sh\n(.*?)^```$/ms.exec(text) ?? [];
  if (block === undefined) throw new Error(`"${section}" has no block of commands`);
  return block;
}

/** Types commands beside the manifests. @throws Error with what they printed when one fails */
async function type(commands: string): Promise<string> {
  const env = { PATH: `${folder}:${process.env['PATH']}`, KUBECONFIG: plane.kubeconfig };
  return (await run('bash', ['-euc', commands], { cwd: folder, env })).stdout;
}

const environment = (name: string): Promise<string> =>
  type(
    `kubectl ${NAMESPACE.join(' ')} get deployment etcd-operator -o ` +
      `'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="${name}")].value}'`,
  );

test('the operator is installed with the address of Temporal', async () => {
  await type(blockOf('With an existing Temporal'));
  expect(await environment('TEMPORAL_ADDRESS')).toBe(ADDRESS);
});

test('a later release is applied over it as the page says, and the address stays', async () => {
  const manifest = join(folder, 'deploy/operator/deployment.yaml');
  const before = await readFile(manifest, 'utf8');
  await writeFile(manifest, before.replace('value: info', 'value: debug'));
  const [apply = ''] = blockOf('Upgrading the operator').split('\n');
  await type(apply);
  expect(await environment('LOG_LEVEL')).toBe('debug');
  expect(await environment('TEMPORAL_ADDRESS')).toBe(ADDRESS);
});

test('what was set by hand makes the next one fail, and --force-conflicts takes it back', async () => {
  const [apply = ''] = blockOf('Upgrading the operator').split('\n');
  await type(`kubectl ${NAMESPACE.join(' ')} set env deployment/etcd-operator TEMPORAL_ADDRESS=by-hand:7233`);
  await expect(type(apply)).rejects.toThrow(/conflict with "kubectl-set".*TEMPORAL_ADDRESS/s);
  expect(await environment('TEMPORAL_ADDRESS')).toBe('by-hand:7233');
  await type(`${apply} --force-conflicts`);
  expect(await environment('TEMPORAL_ADDRESS')).toBe(ADDRESS);
});
