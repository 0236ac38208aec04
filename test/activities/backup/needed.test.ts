import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestoreStatus } from '../../../src/api/schemas/types.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const HOUR = 3_600_000;

it('periodic backups stay for as long as a restore that has not ended needs one of them', async () => {
  const world = new BackupWorld({
    ...SPEC,
    backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 },
  });
  world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
  await world.run();
  const [needed = ''] = world.objects;
  const restore = {
    apiVersion: API_VERSION,
    kind: 'EtcdRestore',
    metadata: { name: 'clone', namespace: world.ref.namespace },
    status: { phase: 'Seeding', source: { location: `s3://backups/${needed}` } },
  };
  world.kube.seed(restore);
  world.now += HOUR;
  await world.run();
  expect(world.objects).toHaveLength(2);
  expect(world.objects).toContain(needed);
  const { namespace, name } = restore.metadata;
  world.kube.mutate({ apiVersion: API_VERSION, kind: 'EtcdRestore', namespace, name }, object => {
    object['status'] = { ...restore.status, phase: 'Succeeded' };
  });
  world.now += HOUR;
  await world.run();
  expect(world.objects).toHaveLength(1);
  expect(world.objects).not.toContain(needed);
});

describe('of a restore in another namespace, the backup', () => {
  /** A world with one hourly backup of which one is kept, and an EtcdRestore elsewhere that says this of it. */
  async function withRestore(source: (sha256: string, location: string) => EtcdRestoreStatus['source']) {
    const world = new BackupWorld({
      ...SPEC,
      backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 },
    });
    world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
    await world.run();
    const [needed = ''] = world.objects;
    const found = source(world.manifest(needed)?.entry.sha256 ?? '', `s3://backups/${needed}`);
    world.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { name: 'clone', namespace: 'elsewhere' },
      status: { phase: 'Seeding', source: found },
    });
    return { world, needed };
  }
  const proved = (sha256: string, location: string) => ({ location, sha256 }) as EtcdRestoreStatus['source'];

  it('stays when it was read there, by its checksum', async () => {
    const { world, needed } = await withRestore(proved);
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(2);
    expect(world.objects).toContain(needed);
  });

  it('goes when somebody only names its place, as in a store of their own', async () => {
    const { world, needed } = await withRestore((_, location) => proved('0'.repeat(64), location));
    world.now += HOUR;
    await world.run();
    expect(world.objects).not.toContain(needed);
  });

  it('stays when the restore begins while others are being deleted', async () => {
    const { world, needed } = await withRestore(() => undefined);
    await world.edit({ ...SPEC, backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 0 } });
    for (let hour = 0; hour < 2; hour += 1) {
      world.now += HOUR;
      await world.run();
    }
    const [oldest, next = ''] = world.objects;
    expect(oldest).toBe(needed);
    world.store.beforeCall = (call, key) => {
      if (call !== 'delete' || key !== needed) return;
      const sha256 = world.manifest(next)?.entry.sha256 ?? '';
      const restore = { apiVersion: API_VERSION, kind: 'EtcdRestore', namespace: 'elsewhere', name: 'clone' };
      world.kube.mutate(restore, object => {
        object['status'] = { phase: 'Validating', source: proved(sha256, `s3://backups/${next}`) };
      });
    };
    await world.edit({ ...SPEC, backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 } });
    await world.run();
    expect(world.objects).not.toContain(needed);
    expect(world.objects).toContain(next);
  });

  it('is not asked for by an operator that looks after one namespace, which may not look there', async () => {
    const { world, needed } = await withRestore(proved);
    Object.assign(world.deps, { watchNamespaces: [world.ref.namespace] });
    world.kube.intercept(({ verb, namespace }) => {
      if (verb === 'list' && namespace === undefined) throw new Error('forbidden');
    });
    world.now += HOUR;
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
    expect(world.objects).not.toContain(needed);
  });

  it.each([
    ['stays when the operator looks after that namespace, too', [], true],
    ['stays while another namespace may not be looked into', ['closed'], true],
    [
      'goes when that namespace may not be looked into: the operator carries out no restore there',
      ['elsewhere'],
      false,
    ],
  ])('%s', async (_, closed, stays) => {
    const { world, needed } = await withRestore(proved);
    Object.assign(world.deps, { watchNamespaces: ['closed', 'elsewhere', world.ref.namespace] });
    world.kube.intercept(({ verb, kind, namespace }) => {
      if (
        verb === 'list' &&
        kind === 'EtcdRestore' &&
        (namespace === undefined || closed.includes(namespace))
      )
        throw new KubeError({ code: 403, reason: 'Forbidden', message: 'no role there', retry: 'never' });
    });
    world.now += HOUR;
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
    expect(world.objects.includes(needed)).toBe(stays);
  });

  it('stays, as all others, when its own namespace may not be looked into', async () => {
    const { world, needed } = await withRestore(proved);
    Object.assign(world.deps, { watchNamespaces: ['elsewhere', world.ref.namespace] });
    const asked: (string | undefined)[] = [];
    world.kube.intercept(({ verb, kind, namespace }) => {
      if (verb !== 'list' || kind !== 'EtcdRestore') return;
      asked.push(namespace);
      throw new KubeError({ code: 403, reason: 'Forbidden', message: 'no role there', retry: 'never' });
    });
    world.now += HOUR;
    await expect(world.run()).rejects.toThrow();
    expect([...new Set(asked)]).toEqual([world.ref.namespace]);
    expect(world.objects).toContain(needed);
  });

  it('is asked for only when something is to be deleted', async () => {
    const world = new BackupWorld({
      ...SPEC,
      backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 },
    });
    world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
    await world.run();
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(2);
    const asked = () =>
      world.kube.calls.filter(({ verb, kind }) => verb === 'list' && kind === 'EtcdRestore');
    expect(asked()).toEqual([]);
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(2);
    expect(asked().length).toBeGreaterThan(0);
  });
});
