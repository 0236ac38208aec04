/** An EtcdRestore that nobody confirmed overwrites nothing, also when no quorum answers for a while. */
import { expect, test } from 'vitest';
import { awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { BACKUP_CLAIM, Restores } from '../../stack/restores.ts';

const at = { namespace: 'restore-refused', name: 'single' };
const RESTORE = 'unconfirmed';

let world: World;
useNamespace(at.namespace, opened => void (world = opened));

test('the only member is restarted for a changed label, and a refused restore leaves what it has', async () => {
  const restores = new Restores(world, at.namespace);
  const pending = async () => {
    const { status } = (await readCluster(world, at.namespace, at.name)) ?? {};
    return status?.conditions?.find(({ type }) => type === 'RestorePending');
  };
  await world.kube.apply(manifest(at.namespace, at.name, { size: 1, version: '3.6.16' }));
  await restores.createClaim();
  const { status: before } = await awaitRunning(world, at, 120_000);
  await restores.etcdctl(at.name, 'put', 'a', '1');
  await restores.backUp('once', at.name);
  await restores.etcdctl(at.name, 'put', 'b', '2');

  await restores.begin(RESTORE, {
    etcdCluster: { name: at.name },
    backupStorageType: 'File',
    file: { claim: BACKUP_CLAIM, path: 'etcd/once' },
  });
  const { status: refused } = await restores.until(RESTORE, ({ phase }) => phase === 'Refused', 30_000);
  expect(refused?.refusal).toMatchObject({ generation: 1, reason: 'NotConfirmed' });
  expect(refused?.reason).toContain(before?.clusterID);
  const said = await poll(pending, { timeoutMs: 30_000 });
  expect(said).toMatchObject({ status: 'False', reason: 'Refused' });
  expect(said.message).toContain(`EtcdRestore ${RESTORE} is refused (NotConfirmed)`);

  const [old] = await podsOf(world, at.namespace, at.name);
  const labelled = { size: 1, version: '3.6.16', pod: { labels: { team: 'blue' } } };
  await world.kube.apply(manifest(at.namespace, at.name, labelled));
  await poll(
    async () => {
      const [pod] = await podsOf(world, at.namespace, at.name);
      return pod?.metadata.uid !== old?.metadata.uid && pod?.metadata.labels?.['team'] === 'blue';
    },
    { timeoutMs: 90_000 },
  );
  // The pod is new, and its conditions may still be those of the old one.
  const read = () => restores.etcdctl(at.name, 'get', 'b', '--print-value-only').catch(() => undefined);
  expect(await poll(read, { timeoutMs: 90_000 })).toBe('2');
  const { status: after } = await awaitRunning(world, at);
  expect(after?.clusterID).toBe(before?.clusterID);
  expect(after?.previousIncarnation).toBeUndefined();
  expect(await pending()).toMatchObject({ reason: 'Refused' });
  const { status } = (await restores.read('EtcdRestore', RESTORE)) ?? {};
  expect(status).toMatchObject({ phase: 'Refused', refusal: { reason: 'NotConfirmed' } });
}, 300_000);
