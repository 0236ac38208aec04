/** A single backup that was made, and whose EtcdBackup is then pointed at another server. */
import { expect, it } from 'vitest';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const KEY = 'etcd/example';
const at = (server: { readonly endpoint?: string; readonly region?: string }) => ({
  ...SPEC,
  s3: { path: 'backups/etcd/example', ...server },
});

/** A single backup that is there. */
async function made(server: Parameters<typeof at>[0]): Promise<BackupWorld> {
  const world = new BackupWorld(at(server));
  world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
  await world.run();
  expect(world.objects).toEqual([KEY]);
  return world;
}

it.each([
  ['another endpoint', { endpoint: 'https://one.example.org' }, { endpoint: 'https://two.example.org' }],
  ['an endpoint instead of the cloud', {}, { endpoint: 'https://two.example.org' }],
  ['another region', { region: 'eu-central-1' }, { region: 'us-east-1' }],
])('with %s it is taken there, too', async (_, one, other) => {
  const world = await made(one);
  const { time } = world.status.history?.[0] ?? {};
  world.store.objects.clear();
  await world.edit(at(other));
  await world.run();
  expect(world.objects).toEqual([KEY]);
  expect(world.status).toMatchObject({ phase: 'Succeeded', history: [other] });
  expect(world.status.history?.[0]?.time).not.toBe(time);
});

it.each([
  ['as it was', { endpoint: 'https://one.example.org' }, { endpoint: 'https://One.example.org:443/' }],
  ['with a region that the Secret named before', {}, { region: 'us-east-1' }],
])('with the same server, written %s, nothing is taken', async (_, one, other) => {
  const world = await made(one);
  const { lastRun } = world.status;
  await world.edit(at(other));
  await world.run();
  expect(world.status).toMatchObject({ phase: 'Succeeded', lastRun });
});

it('with another name of the same server it is found there, and nothing has failed', async () => {
  const world = await made({ endpoint: 'http://minio.shop.svc:9000' });
  const { time } = world.status.history?.[0] ?? {};
  const { modifiedAt } = world.store.objects.get(KEY) ?? {};
  await world.edit(at({ endpoint: 'https://minio.example.org' }));
  await world.run();
  expect(world.store.objects.get(KEY)?.modifiedAt).toBe(modifiedAt);
  expect(world.status).toMatchObject({
    phase: 'Succeeded',
    history: [{ time, endpoint: 'https://minio.example.org' }],
  });
});

it('one that a former release has made, which noted no server, is made', async () => {
  const world = await made({ endpoint: 'https://one.example.org' });
  const { endpoint: _, ...entry } = world.status.history?.[0] ?? { time: '', location: '' };
  const { namespace, name } = world.ref;
  const { apiVersion, kind } = world.backup;
  world.kube.mutate({ apiVersion, kind, namespace, name }, object => {
    object['status'] = { ...world.status, history: [entry] };
  });
  const { lastRun } = world.status;
  await world.edit(at({ endpoint: 'https://two.example.org' }));
  await world.run();
  expect(world.status).toMatchObject({ phase: 'Succeeded', lastRun });
});
