/** Clusters that are deleted while somebody wants to keep their data, and applied again. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { ANNOTATION_BEGIN_ANEW, ANNOTATION_LEFT_BY, ANNOTATION_TAKE_UP } from '../../src/api/names.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { awaitRunning, discard, manifest, podsOf, readCluster, type World } from '../stack/e2e.ts';
import { runPlugin } from '../plugin/process.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const execute = promisify(execFile);
const NAMESPACE = 'deletion';
const SIZE = 3;
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));
const folder = mkdtempSync(join(tmpdir(), 'deletion-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kubectl = (...args: string[]) => world.stack.kubectl('-n', NAMESPACE, ...args);
const apply = (name: string, spec: EtcdClusterSpec) => world.kube.apply(manifest(NAMESPACE, name, spec));
const etcdctl = (pod: string, ...args: string[]) => kubectl('exec', pod, '--', 'etcdctl', ...args);

async function claimsOf(name: string): Promise<readonly KubeObject[]> {
  const kind = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const { items } = await world.kube.list(kind, {
    namespace: NAMESPACE,
    labelSelector: `etcd_cluster=${name}`,
  });
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

const uids = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.uid).sort();

async function gone(name: string): Promise<void> {
  await poll(async () => (await readCluster(world, NAMESPACE, name)) === undefined, { timeoutMs: 60_000 });
}

/** Applied again, and what exists is reported. */
async function asked(name: string, spec: EtcdClusterSpec): Promise<string> {
  await apply(name, spec);
  return poll(
    async () => {
      const available = (await readCluster(world, NAMESPACE, name))?.status?.conditions?.find(
        ({ type }) => type === 'Available',
      );
      return available?.reason === 'FormerCluster' ? available.message : undefined;
    },
    {
      timeoutMs: 60_000,
      otherwise: async () => JSON.stringify((await readCluster(world, NAMESPACE, name))?.status, null, 1),
    },
  );
}

/** What the message says to run, with this annotation. */
async function obey(message: string, annotation: string): Promise<void> {
  const command = new RegExp(`kubectl (-n \\S+ annotate [^;.]* ${annotation}=[a-z0-9-]+)`).exec(message)?.[1];
  if (command === undefined) throw new Error(`no command in: ${message}`);
  await world.stack.kubectl(...command.split(' '));
}

/** What `kubectl etcd leftovers` shows of the cluster. */
async function leftovers(name: string): Promise<string> {
  const { out, err } = await runPlugin(`leftovers ${name} -n ${NAMESPACE}`, world.stack.kubeconfig);
  return out + err;
}

/** The command that it shows with these words. */
function commandOf(shown: string, words: string): string {
  const line = shown.split('\n').find(each => each.includes(words));
  if (line === undefined) throw new Error(`no command with ${words} in: ${shown}`);
  return line;
}

/** Typed into a shell, in the folder of the manifests. */
async function typed(command: string): Promise<void> {
  const PATH = [dirname(world.stack.toolchain.path('kubectl')), process.env['PATH']].join(delimiter);
  await execute('bash', ['-c', command], { cwd: folder, env: { ...process.env, PATH } });
}

const idsOf = ({ status }: EtcdCluster) => ({
  clusterID: status?.clusterID,
  members: Object.fromEntries((status?.members?.details ?? []).map(({ name, id }) => [name, id])),
});

/** Waits for an event with this text: events are written after the status that they are about. */
async function eventSays(text: string): Promise<void> {
  await poll(async () => (await kubectl('get', 'events')).includes(text), { timeoutMs: 30_000 });
}

test('an orphan deletion leaves pods and claims, and the cluster is taken up without a restart', async () => {
  const name = 'orphan';
  const spec = { size: SIZE, version: '3.6.16' };
  await apply(name, spec);
  const before = idsOf(await awaitRunning(world, { namespace: NAMESPACE, name }));
  await etcdctl(`${name}-0`, 'put', 'kept', 'yes');
  const pods = uids(await podsOf(world, NAMESPACE, name));
  const claims = uids(await claimsOf(name));
  expect(claims).toHaveLength(SIZE);
  await kubectl('delete', 'etcd', name, '--cascade=orphan');
  await gone(name);
  expect(uids(await claimsOf(name))).toEqual(claims);
  for (const { metadata } of await claimsOf(name))
    expect(metadata.annotations?.[ANNOTATION_LEFT_BY]).toContain('take-up');
  await eventSays('ObjectsLeft');
  const message = await asked(name, spec);
  await eventSays(`${ANNOTATION_TAKE_UP}=`);
  expect(uids(await podsOf(world, NAMESPACE, name))).toEqual(pods);
  await obey(message, ANNOTATION_TAKE_UP);
  const after = await awaitRunning(world, { namespace: NAMESPACE, name });
  expect(idsOf(after)).toEqual(before);
  expect(uids(await podsOf(world, NAMESPACE, name))).toEqual(pods);
  expect(uids(await claimsOf(name))).toEqual(claims);
  expect(await etcdctl(`${name}-1`, 'get', 'kept')).toContain('yes');
  await discard(world, NAMESPACE, name);
}, 300_000);

test('a cluster whose claims were kept is taken up with its data, or begins again when that is asked for', async () => {
  const name = 'kept';
  const spec: EtcdClusterSpec = { size: 1, version: '3.6.16', storage: { retain: 'Retain' } };
  await apply(name, spec);
  const before = idsOf(await awaitRunning(world, { namespace: NAMESPACE, name }));
  await etcdctl(`${name}-0`, 'put', 'kept', 'yes');
  await kubectl('delete', 'etcd', name);
  await gone(name);
  expect(await podsOf(world, NAMESPACE, name)).toEqual([]);
  const left = await leftovers(name);
  expect(left).toMatch(
    new RegExp(`${name}-0 .* ${before.members[`${name}-0`]} .*the deletion of EtcdCluster ${name}$`, 'm'),
  );
  writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(manifest(NAMESPACE, name, spec)));
  await typed(commandOf(left, `take-up=`));
  expect(idsOf(await awaitRunning(world, { namespace: NAMESPACE, name }))).toEqual(before);
  expect(await leftovers(name)).toContain(`No claim is left of ${name}`);
  expect(await etcdctl(`${name}-0`, 'get', 'kept')).toContain('yes');
  await kubectl('delete', 'etcd', name);
  await gone(name);
  await obey(await asked(name, spec), ANNOTATION_BEGIN_ANEW);
  const anew = idsOf(await awaitRunning(world, { namespace: NAMESPACE, name }));
  expect(Object.keys(anew.members)).toEqual([`${name}-1`]);
  expect(await etcdctl(`${name}-1`, 'get', 'kept')).not.toContain('yes');
  expect((await claimsOf(name)).map(({ metadata }) => metadata.name)).toEqual([`${name}-0`, `${name}-1`]);
  const beside = await leftovers(name);
  expect(beside).toContain(`EtcdCluster ${name} exists with other members`);
  await typed(commandOf(beside, 'delete pvc'));
  expect((await claimsOf(name)).map(({ metadata }) => metadata.name)).toEqual([`${name}-1`]);
  await discard(world, NAMESPACE, name);
}, 300_000);
