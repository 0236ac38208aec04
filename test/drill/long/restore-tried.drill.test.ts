/** A quota that refuses the pods of a restore costs no member, and a backup of an empty etcd is restored once there is room. */
import { expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';

const at = { namespace: 'restore-tried', name: 'single' };
const BUMP = 1_000_000_000;
const MEMBER = { requests: { cpu: '50m', memory: '64Mi' } };

let world: World;
useNamespace(at.namespace, opened => void (world = opened));

const quota = (memory: string) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { namespace: at.namespace, name: 'memory' },
  spec: { hard: { 'requests.memory': memory } },
});

async function setQuota(memory: string): Promise<void> {
  const kubectl = world.stack.kubectl;
  const patch = JSON.stringify({ spec: quota(memory).spec });
  const line = ['-n', at.namespace];
  const isThere = await kubectl(...line, 'get', 'resourcequota', '-o', 'name');
  if (isThere.trim() === '') {
    await kubectl(...line, 'create', 'quota', 'memory', `--hard=requests.memory=${memory}`);
  } else {
    await kubectl(...line, 'patch', 'resourcequota/memory', '--type=merge', '-p', patch);
  }
  await poll(
    async () =>
      (
        await kubectl(...line, 'get', 'resourcequota/memory', '-o', 'jsonpath={.status.hard}{.status.used}')
      ).includes(`${memory}"}{`),
    { timeoutMs: 30_000 },
  );
}

test('a restore for whose pods there is no room stops no member, and is made when there is', async () => {
  const restores = new Restores(world, at.namespace);
  const spec = { size: 1, version: '3.6.16', pod: { resources: MEMBER } };
  const pausedIs = (paused: boolean) =>
    world.kube.apply(manifest(at.namespace, at.name, { ...spec, paused }));
  await world.kube.apply(manifest(at.namespace, at.name, spec));
  await restores.createClaim();
  const { status: before } = await awaitRunning(world, at, 120_000);
  const empty = await restores.backUp('empty', at.name);
  expect(empty).toMatchObject({ revision: 1, keys: 0 });
  await restores.etcdctl(at.name, 'put', 'a', '1');
  const [member] = await podsOf(world, at.namespace, at.name);

  // The backup is read by a pod beside the member; from then on there is room for the member alone.
  await pausedIs(true);
  const by = (
    await world.stack.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')
  ).trim();
  await restores.begin('back', {
    etcdCluster: { name: at.name },
    backupRef: { name: 'empty', location: empty.location },
    ...(empty.sha256 !== undefined && { sha256: empty.sha256 }),
    confirmClusterID: before?.clusterID ?? '',
    by,
  });
  await restores.until('back', ({ source }) => source !== undefined);
  await setQuota('64Mi');
  await pausedIs(false);
  const { status: refused } = await restores.until('back', ({ step = '' }) =>
    step.includes('exceeded quota'),
  );
  expect(refused?.phase).toBe('Fencing');
  expect(refused?.step).toContain('nothing was changed');
  expect((await podsOf(world, at.namespace, at.name)).map(({ metadata }) => metadata.uid)).toEqual([
    member?.metadata.uid,
  ]);
  expect(await restores.etcdctl(at.name, 'get', 'a', '--print-value-only')).toBe('1');
  expect(await readyEndpoints(world, at.namespace, at.name)).toHaveLength(1);
  const { status: reported } = (await readCluster(world, at.namespace, at.name)) ?? {};
  const progressing = reported?.conditions?.find(({ type }) => type === 'Progressing');
  expect(progressing?.message).toContain('exceeded quota');

  // Not enough for both pods that bring the backup from one claim to another.
  await setQuota('96Mi');
  await restores.until('back', ({ step = '' }) => step.includes('limited: requests.memory=96Mi'), 180_000);
  expect(await restores.etcdctl(at.name, 'get', 'a', '--print-value-only')).toBe('1');
  // It is enough once the member has gone, though not beside it.
  await setQuota('192Mi');
  const { status } = await restores.ended('back', 300_000);
  expect(status).toMatchObject({ phase: 'Succeeded', source: { location: empty.location, revision: 1 } });
  expect(status?.revision).toBeGreaterThanOrEqual(BUMP);
  await awaitRunning(world, at, 120_000);
  expect(await restores.etcdctl(at.name, 'get', 'a', '--print-value-only')).toBe('');
  const { status: after } = (await readCluster(world, at.namespace, at.name)) ?? {};
  expect(after?.history?.find(({ type }) => type === 'restoreCluster')).toMatchObject({ requestedBy: by });
  expect(
    await world.kube.get({ apiVersion: API_VERSION, kind: 'EtcdRestore', ...at, name: 'back' }),
  ).toBeDefined();
}, 600_000);
