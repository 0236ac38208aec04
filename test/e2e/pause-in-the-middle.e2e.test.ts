/** A pause in the wrong second: a cluster of one, whose only member the operator has just stopped or given another version. */
import { expect, test } from 'vitest';
import {
  ANNOTATION_VERSION,
  CLIENTS_ADMITTED,
  CLIENTS_WITHDRAWN,
  LABEL_CLIENTS,
} from '../../src/api/names.ts';
import { awaitRunning, discard, manifest, podsOf, readCluster, type World } from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'pause-middle';
const NAME = 'one';
const AT = { namespace: NAMESPACE, name: NAME };
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const edit = (spec: object) =>
  world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', NAME, '--type=merge', '-p', JSON.stringify({ spec }));

const pod = async () => (await podsOf(world, NAMESPACE, NAME))[0];

/** The addresses that the client Service leads to. */
const endpoints = async () =>
  (
    await world.stack.kubectl(
      ...['-n', NAMESPACE, 'get', 'endpoints', `${NAME}-client`],
      '-o=jsonpath={.subsets[*].addresses[*].ip}',
    )
  ).trim();

/** Paused, served through the Service, and Available says so. */
async function isServedWhilePaused(): Promise<void> {
  await poll(
    async () => {
      const conditions = (await readCluster(world, NAMESPACE, NAME))?.status?.conditions ?? [];
      const is = (type: string) => conditions.find(each => each.type === type)?.status === 'True';
      return is('Paused') && is('Available') && (await endpoints()) !== '';
    },
    {
      timeoutMs: 120_000,
      otherwise: async () =>
        JSON.stringify([await endpoints(), (await readCluster(world, NAMESPACE, NAME))?.status], null, 1),
    },
  );
}

/** Somebody breaks the selector of the client Service, which nobody puts back during a pause. */
async function reportsAnEditedService(): Promise<void> {
  const selector = { 'example.com/nobody': 'has-this' };
  await world.stack.kubectl(
    ...['-n', NAMESPACE, 'patch', 'service', `${NAME}-client`, '--type=merge'],
    ...['-p', JSON.stringify({ spec: { selector } })],
  );
  const available = await poll(
    async () => {
      const conditions = (await readCluster(world, NAMESPACE, NAME))?.status?.conditions ?? [];
      return conditions.find(({ type, status }) => type === 'Available' && status === 'False');
    },
    {
      timeoutMs: 60_000,
      otherwise: async () => JSON.stringify(await readCluster(world, NAMESPACE, NAME), null, 1),
    },
  );
  expect(available).toMatchObject({
    reason: 'NoEndpoint',
    message: expect.stringContaining(`Service ${NAME}-client does not select them as it stands`),
  });
  expect(await endpoints()).toBe('');
}

test('a member that was stopped for a rollout comes back, and one with a new image gets its clients back', async () => {
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 1, version: '3.6.5' }));
  await awaitRunning(world, AT);
  const before = (await pod())?.metadata.uid;

  await edit({ etcd: { snapshotCount: 7_000 } });
  await poll(
    async () => {
      const now = await pod();
      return now === undefined || now.metadata.uid !== before || now.metadata.deletionTimestamp !== undefined;
    },
    { timeoutMs: 180_000, intervalMs: 50 },
  );
  // A switch of TLS beside the pause would keep it stopped, and is refused with all that was written with it.
  await expect(edit({ paused: true, TLS: { auto: {} } })).rejects.toThrow(
    /TLS of a live cluster cannot be switched/,
  );
  await edit({ paused: true });
  await poll(
    async () =>
      (await pod())?.metadata.deletionTimestamp === undefined && (await pod())?.metadata.uid !== before,
    {
      timeoutMs: 120_000,
    },
  );
  await isServedWhilePaused();
  await reportsAnEditedService();
  await edit({ paused: false });
  await awaitRunning(world, AT);
  expect(await endpoints()).not.toBe('');

  await edit({ version: '3.6.16' });
  await poll(
    async () => {
      const { labels = {}, annotations = {} } = (await pod())?.metadata ?? {};
      return labels[LABEL_CLIENTS] === CLIENTS_WITHDRAWN && annotations[ANNOTATION_VERSION] === '3.6.16';
    },
    { timeoutMs: 180_000, intervalMs: 50 },
  );
  await edit({ paused: true });
  await isServedWhilePaused();
  expect((await pod())?.metadata.labels?.[LABEL_CLIENTS]).toBe(CLIENTS_ADMITTED);
  await discard(world, NAMESPACE, NAME);
}, 600_000);
