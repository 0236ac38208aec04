import { describe, expect, it } from 'vitest';
import { neededAsFarAsKnown } from '../../../src/activities/backup/needed.ts';
import { RefusedNamespaces } from '../../../src/activities/backup/refused-namespaces.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestoreStatus } from '../../../src/api/schemas/types.ts';
import { LIST_TIMEOUT_MS } from '../../../src/kube/client.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import type { KindRef, ListOptions } from '../../../src/kube/port.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotStream } from '../../fakes/etcd/snapshot.ts';

const HOUR = 3_600_000;
const MINUTE = 60_000;

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

it('what was saved before a restore stays for as long as its EtcdRestore exists', async () => {
  const world = new BackupWorld({
    ...SPEC,
    backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 },
  });
  world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(128 * 512, 'etcd'), 3_000);
  await world.run();
  const [saved = ''] = world.objects;
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRestore', namespace: world.ref.namespace, name: 'back' };
  const { apiVersion, kind, ...metadata } = ref;
  const status = { phase: 'Succeeded', saved: { location: `s3://backups/${saved}` } };
  world.kube.seed({ apiVersion, kind, metadata, status });
  world.now += HOUR;
  await world.run();
  expect(world.objects).toContain(saved);
  const { uid = '' } = world.kube.peek(ref)?.metadata ?? {};
  await world.kube.delete(ref, { uid });
  world.now += HOUR;
  await world.run();
  expect(world.objects).toHaveLength(1);
  expect(world.objects).not.toContain(saved);
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

  it('goes when a user only names its place, as in a store of their own', async () => {
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

  /** EtcdRestores of these namespaces may not be listed, nor those of all, until the returned function is called. */
  function close(world: BackupWorld, ...namespaces: string[]): () => void {
    return world.kube.intercept(({ verb, kind, namespace }) => {
      if (verb !== 'list' || kind !== 'EtcdRestore') return;
      if (namespace !== undefined && !namespaces.includes(namespace)) return;
      throw new KubeError({ code: 403, reason: 'Forbidden', message: 'no role there', retry: 'never' });
    });
  }

  /** The operator looks after these namespaces besides that of the EtcdBackup. */
  function watch(world: BackupWorld, ...others: string[]): void {
    const watchNamespaces = [...others, world.ref.namespace];
    Object.assign(world.deps, { watchNamespaces, refusedNamespaces: new RefusedNamespaces(() => world.now) });
  }

  /** Runs what there is to run, and again after each of so many waits. */
  async function runFor(world: BackupWorld, waits: number, waitMs = 5 * MINUTE) {
    let { decision } = await world.run();
    for (let wait = 0; wait < waits; wait += 1) {
      world.now += waitMs;
      ({ decision } = await world.run());
    }
    return decision;
  }

  it.each([
    ['stays when the operator looks after that namespace, too', [], true],
    ['stays while another namespace may not be looked into', ['closed'], true],
    [
      'goes when that namespace may not be looked into for long: the operator carries out no restore there',
      ['elsewhere'],
      false,
    ],
  ])('%s', async (_, closed, stays) => {
    const { world, needed } = await withRestore(proved);
    watch(world, 'closed', 'elsewhere');
    close(world, ...closed);
    world.now += HOUR;
    await runFor(world, 8);
    expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
    expect(world.objects.includes(needed)).toBe(stays);
    world.now += HOUR;
    await world.run();
    // Retention continues, at once by then: only what is needed is there beside the newest.
    expect(world.objects).toHaveLength(stays ? 2 : 1);
  });

  it('stays while the rights in that namespace are away for a moment, and users are notified', async () => {
    const { world, needed } = await withRestore(proved);
    watch(world, 'elsewhere');
    const open = close(world, 'elsewhere');
    world.now += HOUR;
    const message = expect.stringMatching(/may not list EtcdRestores in namespace elsewhere/);
    expect(await runFor(world, 3, 2 * MINUTE)).toMatchObject({ kind: 'blocked', message });
    expect(world.objects).toContain(needed);
    open();
    expect(await runFor(world, 2)).toMatchObject({ kind: 'idle' });
    expect(world.objects).toContain(needed);
    close(world, 'elsewhere');
    world.now += HOUR;
    await runFor(world, 3, 2 * MINUTE);
    // What was refused before it answered does not count.
    expect(world.objects).toContain(needed);
  });

  it('stays when a new process is refused, which knows nothing of the namespace', async () => {
    const { world, needed } = await withRestore(proved);
    watch(world, 'elsewhere');
    close(world, 'elsewhere');
    for (let hour = 0; hour < 3; hour += 1) {
      world.now += HOUR;
      watch(world, 'elsewhere');
      await world.run();
    }
    expect(world.objects).toContain(needed);
    expect(world.objects).toHaveLength(4);
  });

  it('stays while that namespace does not answer, and backups go on', async () => {
    const { world, needed } = await withRestore(proved);
    watch(world, 'slow');
    const mend = world.kube.intercept(({ verb, namespace }) => {
      if (verb !== 'list' || namespace !== 'slow') return;
      throw new KubeError({ code: 0, reason: 'Timeout', message: 'no answer', retry: 'later' });
    });
    for (let hour = 0; hour < 2; hour += 1) {
      world.now += HOUR;
      await world.run();
    }
    expect(world.objects).toHaveLength(3);
    expect(world.objects).toContain(needed);
    mend();
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(1);
  });

  it('is asked for in all namespaces side by side', async () => {
    const { world } = await withRestore(proved);
    watch(world, 'one', 'two');
    const asked = { one: Promise.withResolvers<void>(), two: Promise.withResolvers<void>() };
    world.kube.intercept(async ({ verb, namespace }) => {
      if (verb !== 'list' || (namespace !== 'one' && namespace !== 'two')) return;
      asked[namespace].resolve();
      // Each answers when the other was asked.
      await asked[namespace === 'one' ? 'two' : 'one'].promise;
    });
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(1);
  });

  it('needs no more of the 40 s of a pass than a quarter for namespaces that hang', async () => {
    const { world, needed } = await withRestore(proved);
    const waited: number[] = [];
    const kube = new Proxy(world.kube, {
      get: (of, property) =>
        property !== 'list'
          ? Reflect.get(of, property)
          : (kind: KindRef, options: ListOptions) => {
              if (options.namespace === world.ref.namespace) return of.list(kind, options);
              waited.push(options.timeoutMs ?? LIST_TIMEOUT_MS);
              throw new KubeError({ code: 0, reason: 'Timeout', message: 'no answer', retry: 'later' });
            },
    });
    const deps = { kube, watchNamespaces: [world.ref.namespace, 'one', 'two'] };
    const history = world.status.history ?? [];
    expect(await neededAsFarAsKnown(deps, world.ref, history)).toEqual([`s3://backups/${needed}`]);
    expect(waited).toHaveLength(2);
    expect(Math.max(...waited)).toBeLessThanOrEqual(10_000);
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
