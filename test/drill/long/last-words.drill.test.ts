/** Why etcd does not run, in words: a memory limit that is too low, and data that the next version refuses. */
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
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'last-words';
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
}, 200_000);
afterAll(() => leaveNamespace(world, NAMESPACE));

async function edit(name: string, spec: object): Promise<void> {
  const patch = JSON.stringify({ spec });
  await world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', name, '--type=merge', '-p', patch);
}

/** The message of the condition once it says what is looked for. */
function reported(name: string, type: string, said: RegExp): Promise<string> {
  const read = async (): Promise<EtcdCluster['status']> =>
    (await readCluster(world, NAMESPACE, name))?.status;
  return poll(
    async () => {
      const found = (await read())?.conditions?.find(condition => condition.type === type)?.message;
      return found !== undefined && said.test(found) ? found : undefined;
    },
    { timeoutMs: 180_000, intervalMs: 200, otherwise: async () => JSON.stringify(await read(), null, 1) },
  );
}

const limited = (memory: string): object => ({ pod: { resources: { limits: { memory } } } });

test('a memory limit that is too low is reported with the limit and the restarts, and is fixed by a higher one', async () => {
  const at = { namespace: NAMESPACE, name: 'small' };
  await world.kube.apply(manifest(NAMESPACE, at.name, { size: 3, version: '3.6.16', ...limited('256Mi') }));
  await awaitRunning(world, at);
  await edit(at.name, limited('8Mi'));
  const killed =
    /^small-\d was started again (?:once|\d+ times), last after \S+: the kernel ended it because it used more memory than its limit of 8Mi \(OOMKilled\); raise spec\.pod\.resources\.limits\.memory; the databases of the members that answer have up to \S+ KiB, which etcd maps into its memory$/;
  await reported(at.name, 'OutOfMemory', killed);
  const { status } = (await readCluster(world, NAMESPACE, at.name)) ?? {};
  const member = status?.members?.details?.find(({ lastExit }) => lastExit !== undefined);
  expect(member).toMatchObject({ restarts: expect.any(Number), lastExit: expect.stringContaining('8Mi') });
  expect(status?.conditions?.find(({ type }) => type === 'Available')).toMatchObject({ status: 'True' });
  await edit(at.name, limited('256Mi'));
  await awaitRunning(world, at, 240_000);
}, 600_000);

test('data of the v2 API, which stops an upgrade, is reported in words and the member goes back', async () => {
  const at = { namespace: NAMESPACE, name: 'old' };
  const etcdEnv = [{ name: 'ETCD_ENABLE_V2', value: 'true' }];
  await world.kube.apply(manifest(NAMESPACE, at.name, { size: 3, version: '3.5.35', pod: { etcdEnv } }));
  await awaitRunning(world, at);
  const before = await podsOf(world, NAMESPACE, at.name);
  const { podIP } = (before[0]?.['status'] ?? {}) as { podIP?: string };
  const put = await fetch(`http://${podIP}:2379/v2/keys/kept`, {
    method: 'PUT',
    body: new URLSearchParams({ value: 'since etcd 2' }),
  });
  expect(put.ok).toBe(true);
  // The upgrade is refused while the variable is there.
  await edit(at.name, { pod: { etcdEnv: [] } });
  const uids = before.map(({ metadata }) => metadata.uid);
  await poll(
    async () => {
      const now = await podsOf(world, NAMESPACE, at.name);
      return (now.length === 3 && now.every(({ metadata }) => !uids.includes(metadata.uid))) || undefined;
    },
    { timeoutMs: 240_000 },
  );
  await awaitRunning(world, at);
  await edit(at.name, { version: '3.6.16' });
  const message = await reported(
    at.name,
    'UpgradeBlocked',
    /keys of the v2 API, with which etcd 3\.6 and later do not start/,
  );
  expect(message).not.toMatch(/\.go:\d+/);
  await awaitRunning(world, at, 240_000);
  const { status } = (await readCluster(world, NAMESPACE, at.name)) ?? {};
  expect(status?.currentVersion).toBe('3.5.35');
}, 600_000);
