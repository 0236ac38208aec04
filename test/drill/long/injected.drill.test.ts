/** A namespace whose webhook puts containers into every pod: the whole life of a cluster there, and nobody else's container is touched. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import {
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import {
  applyText,
  INJECTED_IMAGE,
  type InjectingWebhook,
  startInjectingWebhook,
} from '../../stack/injecting-webhook.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';

const AT = { namespace: 'injected', name: 'mesh' };
let world: World;
let webhook: InjectingWebhook;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, AT.namespace);
  webhook = await startInjectingWebhook(world, AT.namespace);
  await applyText(world, LIMITS);
}, 200_000);
afterAll(async () => {
  await webhook?.stop();
  await leaveNamespace(world, AT.namespace);
});

/** Sets requests and limits where nobody did. */
const LIMITS = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { namespace: AT.namespace, name: 'defaults' },
  spec: {
    limits: [
      { type: 'Container', defaultRequest: { cpu: '10m', memory: '32Mi' }, default: { memory: '512Mi' } },
    ],
  },
};

const status = async (): Promise<EtcdCluster['status']> =>
  (await readCluster(world, AT.namespace, AT.name))?.status;

async function edit(spec: object): Promise<void> {
  const patch = JSON.stringify({ spec });
  await world.stack.kubectl('-n', AT.namespace, 'patch', 'etcd', AT.name, '--type=merge', '-p', patch);
}

const until = (holds: (status: NonNullable<EtcdCluster['status']>) => boolean): Promise<true> =>
  poll(async () => holds((await status()) ?? {}) || undefined, {
    timeoutMs: 240_000,
    intervalMs: 500,
    otherwise: async () => JSON.stringify(await status(), null, 1),
  });

async function containers(): Promise<string[]> {
  const pods = await podsOf(world, AT.namespace, AT.name);
  const members = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const all = members.flatMap(
    pod => (pod['spec'] as { containers: { name: string; image: string }[] }).containers,
  );
  return [...new Set(all.map(({ name, image }) => `${name} ${image}`))].toSorted();
}

const expected = (version: string): string[] =>
  [
    `a-proxy ${INJECTED_IMAGE}`,
    `etcd gcr.io/etcd-development/etcd:v${version}`,
    `zz-agent ${INJECTED_IMAGE}`,
  ].toSorted();

const uids = async (): Promise<(string | undefined)[]> =>
  (await podsOf(world, AT.namespace, AT.name)).map(({ metadata }) => metadata.uid);

test('a cluster is created, grows, is upgraded, rolled out, backed up and restored among injected containers', async () => {
  await world.kube.apply(manifest(AT.namespace, AT.name, { size: 2, version: '3.6.16' }));
  await awaitRunning(world, AT);
  expect(await containers()).toEqual(expected('3.6.16'));
  await edit({ size: 3 });
  await until(({ ready, operation }) => ready === '3/3' && operation === undefined);

  await edit({ version: '3.7.3' });
  await until(
    ({ currentVersion, targetVersion, operation }) =>
      currentVersion === '3.7.3' && !targetVersion && operation === undefined,
  );
  expect(await containers()).toEqual(expected('3.7.3'));

  const before = await uids();
  await edit({ etcd: { snapshotCount: 20_000 } });
  await poll(async () => (await uids()).every(uid => !before.includes(uid)) || undefined, {
    timeoutMs: 240_000,
  });
  await until(({ ready, operation }) => ready === '3/3' && operation === undefined);
  await awaitRunning(world, AT);

  // The pod that lends the claim, the verifier and the one that unpacks the backup have containers beside theirs that never end.
  const restores = new Restores(world, AT.namespace);
  await restores.createClaim();
  await restores.etcdctl(AT.name, 'put', 'kept', 'yes');
  await restores.backUp('once', AT.name);
  await restores.etcdctl(AT.name, 'put', 'kept', 'no');
  await restores.begin('back', {
    etcdCluster: { name: AT.name },
    backupRef: { name: 'once', at: 'Latest' },
    confirmClusterID: (await status())?.clusterID ?? '',
  });
  expect((await restores.ended('back')).status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  await awaitRunning(world, AT);
  expect(await restores.etcdctl(AT.name, 'get', 'kept', '--print-value-only')).toBe('yes');

  // Nothing is rolled for what others added, and no helper is left.
  const settled = await uids();
  expect((await status())?.members?.details?.every(({ health }) => health === 'Healthy')).toBe(true);
  const { items } = await world.kube.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: AT.namespace });
  expect(items.map(({ metadata }) => metadata.uid).toSorted()).toEqual(settled.toSorted());
  expect(webhook.changed()).toBeGreaterThan(8);
}, 900_000);
