/** All Secrets of a cluster with TLS.auto deleted while it grows: the status says what to do, and that brings it back with its data. */
import { expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { runApplication } from '../../stack/application.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'lost-authorities';
const NAME = 'forgotten';
const AT = { namespace: NAMESPACE, name: NAME };
const KEYS = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' };
const KEPT = 'written before';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const status = async () => (await readCluster(world, NAMESPACE, NAME))?.status ?? {};
const edit = (spec: EtcdClusterSpec) =>
  world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', NAME, '--type=merge', '-p', JSON.stringify({ spec }));
const application = (...command: string[]) =>
  runApplication(world, AT, { secretName: `${NAME}-client-tls`, keys: KEYS }, ...command);
const uidsOf = (objects: readonly { metadata: { uid?: string } }[]) =>
  objects.map(({ metadata }) => metadata.uid ?? '').sort();

function until(is: () => Promise<boolean>, timeoutMs = 120_000): Promise<boolean> {
  return poll(async () => (await is()) || undefined, {
    timeoutMs,
    intervalMs: 100,
    otherwise: async () => JSON.stringify(await status(), null, 1),
  });
}

test('a cluster whose Secrets are all deleted in the middle of 3 → 5 says what to do, and wakes with new authorities and its data', async () => {
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 3, version: '3.6.16', TLS: { auto: {} } }));
  await awaitRunning(world, AT);
  expect(await application('put', 'kept', KEPT)).toBe('Succeeded: OK');
  const { clusterID } = await status();
  const claims = uidsOf(await claimsOf(world, NAMESPACE, NAME));

  await edit({ size: 5 });
  await until(async () => (await podsOf(world, NAMESPACE, NAME)).length > 3);
  await world.stack.kubectl('-n', NAMESPACE, 'delete', 'secret', '-l', `etcd_cluster=${NAME}`);
  const said = async () => (await status()).conditions?.find(({ type }) => type === 'TLSReady');
  await until(async () => (await said())?.reason === 'AuthorityLost');
  const { message = '' } = (await said()) ?? {};
  expect(message).toContain(`Secrets ${NAME}-peer-ca and ${NAME}-client-ca`);
  expect(message).not.toContain('create it');
  expect(message).toContain('set spec.hibernated to true');
  const at = Date.now();
  console.log(message);

  // What the message says.
  await edit({ hibernated: true });
  await until(async () => (await podsOf(world, NAMESPACE, NAME)).length === 0, 180_000);
  console.log(`asleep after ${(Date.now() - at) / 1_000} s`);
  // In the very moment: nobody waits for anything that the message does not name.
  await edit({ hibernated: false });
  await awaitRunning(world, AT, 240_000);
  console.log(`awake after ${(Date.now() - at) / 1_000} s`);
  await until(async () => (await status()).ready === '5/5', 240_000);
  console.log(`of its size after ${(Date.now() - at) / 1_000} s`);
  expect((await said())?.reason).toBe('Ready');
  expect((await status()).clusterID).toBe(clusterID);
  expect(uidsOf(await claimsOf(world, NAMESPACE, NAME))).toEqual(expect.arrayContaining(claims));
  expect(await application('get', 'kept', '--print-value-only')).toBe(`Succeeded: ${KEPT}`);
}, 600_000);
