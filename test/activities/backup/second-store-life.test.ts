/** Lives of EtcdBackups with a second store, in memory: copies that are made, fail, are caught up, pruned, and killed at every call. */
import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { BackupFailure } from '../../../src/activities/backup/failure.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { type StoreErrorCode, StoreError } from '../../../src/store/port.ts';
import { pause, resume } from '../../../src/workflows/backup/state.ts';
import { BackupWorld, SECOND_STORE, SPEC } from '../../worlds/backup-world.ts';
import { snapshotBytes, snapshotStream } from '../../fakes/etcd/snapshot.ts';

const DATABASE = Buffer.alloc(128 * 512, 'etcd');
const KEY = 'etcd/example';
const HOUR = 3_600_000;
const MINUTE = 60_000;

function aWorld(spec: Partial<EtcdBackupSpec> = {}): BackupWorld {
  const world = new BackupWorld({ ...SPEC, secondStore: SECOND_STORE, ...spec });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  return world;
}

const hourly = { backupPolicy: { backupIntervalInSecond: 3600 } };
const copied = (world: BackupWorld) => world.status.conditions?.find(({ type }) => type === 'Copied');

/** What the status says of the second store is so. */
function expectTruth(world: BackupWorld): void {
  for (const { secondStore, sha256 } of world.status.history ?? []) {
    if (secondStore === undefined) continue;
    const key = secondStore.location.replace('s3://copies/', '');
    const bytes = world.second.objects.get(key)?.bytes ?? Buffer.from('');
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
  }
}

const away = (code: StoreErrorCode) => () => {
  throw new StoreError(code, `the store is ${code}`);
};

describe('a second store', () => {
  it('gets every backup with its manifest, and the status says that both have it', async () => {
    const world = aWorld();
    await world.run();
    expect(world.copies).toEqual(['far/example']);
    expect(world.second.objects.get('far/example')?.bytes).toEqual(snapshotBytes(DATABASE));
    expect(world.status).toMatchObject({
      succeeded: true,
      history: [{ heldIn: 'Both', secondStore: { location: 's3://copies/far/example' } }],
      secondStore: { behind: 0, location: 's3://copies/far/example at https://s3.amazonaws.com' },
    });
    expect(copied(world)).toMatchObject({ status: 'True', reason: 'AllCopied' });
    const manifest = JSON.parse(world.second.objects.get('far/example.json')?.bytes.toString() ?? '');
    expect(manifest).toMatchObject({
      ...world.manifest(KEY),
      entry: { location: 's3://copies/far/example', sha256: world.status.history?.[0]?.sha256 },
    });
    expectTruth(world);
  });

  it('gets periodic backups under the names that they have in the first store', async () => {
    const world = aWorld(hourly);
    await world.run();
    world.now += HOUR;
    await world.run();
    expect(world.copies).toEqual(world.objects.map(key => key.replace(KEY, 'far/example')));
    expect(world.copies).toHaveLength(2);
    expectTruth(world);
  });

  it('gets what was backed up before it was named, the newest first', async () => {
    const world = new BackupWorld({ ...SPEC, ...hourly });
    world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
    await world.run();
    world.now += HOUR;
    await world.run();
    expect(world.status.history?.[0]).not.toHaveProperty('heldIn');
    const order: string[] = [];
    world.second.beforeCall = (call, key) =>
      void (call === 'put' && !key.endsWith('.json') && order.push(key));
    await world.edit({ ...SPEC, ...hourly, secondStore: SECOND_STORE });
    await world.run();
    expect(world.copies).toHaveLength(2);
    expect(order).toEqual(world.copies.toReversed());
    expect(world.status.history).toMatchObject([{ heldIn: 'Both' }, { heldIn: 'Both' }]);
    expectTruth(world);
  });

  it.each([
    ['unavailable', 'SecondStoreUnavailable'],
    ['timeout', 'SecondStoreUnavailable'],
    ['denied', 'SecondStoreRefuses'],
    ['no-bucket', 'SecondStoreRefuses'],
    ['full', 'SecondStoreFull'],
  ] as const)(
    'that is %s fails no backup: how far it is behind is said, and it is caught up later',
    async (code, reason) => {
      const world = aWorld(hourly);
      world.second.beforeCall = away(code);
      await world.run();
      world.now += HOUR;
      await world.run();
      expect(world.status).toMatchObject({
        succeeded: true,
        lastRun: { outcome: 'Succeeded' },
        history: [{ heldIn: 'First' }, { heldIn: 'First' }],
        secondStore: { behind: 2, behindSince: world.status.history?.[1]?.time, reason },
      });
      expect(copied(world)).toMatchObject({ status: 'False', reason });
      expect(copied(world)?.message).toContain('2 of 2 backups are not in s3://copies/far/example');
      expect(copied(world)?.message).toContain(`the store is ${code}; the operator tries again at`);
      expect(world.events.filter(event => event.reason === reason)).toHaveLength(1);
      const { failures = 0, retryAt = '' } = world.status.secondStore ?? {};
      expect(failures).toBeGreaterThan(1);
      expect(Date.parse(retryAt) - world.now).toBeLessThanOrEqual(30 * MINUTE);

      world.second.beforeCall = () => {};
      world.now += HOUR - 5 * MINUTE;
      await world.run();
      expect(world.status).toMatchObject({
        history: [{ heldIn: 'Both' }, { heldIn: 'Both' }, { heldIn: 'Both' }].slice(0, world.objects.length),
        secondStore: { behind: 0 },
      });
      expect(world.status.secondStore).not.toHaveProperty('behindSince');
      expect(world.status.secondStore).not.toHaveProperty('retryAt');
      expect(copied(world)).toMatchObject({ status: 'True', reason: 'AllCopied' });
      expect(world.events.filter(event => event.reason === 'AllCopied')).toHaveLength(1);
      expectTruth(world);
    },
  );

  it('whose Secret is missing refuses, and the message names the Secret', async () => {
    const world = aWorld();
    world.failSecond = new BackupFailure(
      'later',
      'Secret shop/far with the credentials of the store does not exist',
    );
    await world.run();
    expect(world.status).toMatchObject({ succeeded: true, history: [{ heldIn: 'First' }] });
    expect(copied(world)).toMatchObject({ reason: 'SecondStoreRefuses' });
    expect(copied(world)?.message).toContain('Secret shop/far');
  });

  it('is tried again at once when the specification has changed', async () => {
    const world = aWorld();
    world.second.beforeCall = away('denied');
    await world.run();
    world.second.beforeCall = () => {};
    await world.edit({ ...SPEC, secondStore: { storageType: 'S3', s3: { path: 'copies/near/example' } } });
    await world.run();
    expect(world.copies).toEqual(['near/example']);
    expect(copied(world)).toMatchObject({ reason: 'AllCopied' });
  });

  it('has no object overwritten that has the name of a backup and other bytes', async () => {
    const world = aWorld();
    world.second.objects.set('far/example', { bytes: Buffer.from('precious'), modifiedAt: 0 });
    await world.run();
    expect(world.second.objects.get('far/example')?.bytes.toString()).toBe('precious');
    expect(world.second.objects.has('far/example.json')).toBe(false);
    expect(world.status).toMatchObject({ succeeded: true, history: [{ heldIn: 'First' }] });
    expect(copied(world)).toMatchObject({ reason: 'ObjectDiffers' });
    expect(copied(world)?.message).toContain('it is not overwritten');
  });

  it('keeps the others current while one name is taken', async () => {
    const world = aWorld(hourly);
    await world.run();
    const [first = ''] = world.copies;
    world.second.objects.clear();
    world.second.objects.set(first, { bytes: Buffer.from('precious'), modifiedAt: 0 });
    world.now += HOUR;
    await world.run();
    expect(world.status.history).toMatchObject([{ heldIn: 'Both' }, { heldIn: 'First' }]);
    expect(copied(world)).toMatchObject({ reason: 'ObjectDiffers' });
    expect(copied(world)?.message).toContain('1 of 2 backups is not in');
    expectTruth(world);
  });

  it('gets nothing of a backup whose bytes are not those that were recorded', async () => {
    const world = aWorld();
    world.second.beforeCall = away('unavailable');
    await world.run();
    const bytes = Buffer.from(world.store.objects.get(KEY)?.bytes ?? '');
    bytes.writeUInt8(0, 4_000);
    world.store.objects.set(KEY, { bytes, modifiedAt: 0 });
    world.second.beforeCall = () => {};
    world.now += HOUR;
    await world.run();
    expect(world.copies).toEqual([]);
    expect(copied(world)).toMatchObject({ reason: 'FirstStoreUnreadable' });
  });

  it('that changes what it stores has no copy', async () => {
    const world = aWorld();
    const { put } = world.second;
    world.second.put = async (key, body, options) => {
      const done = await put.call(world.second, key, body, options);
      const object = world.second.objects.get(key);
      if (object !== undefined && !key.endsWith('.json')) object.bytes.writeUInt8(0, 4_000);
      return done;
    };
    await world.run();
    expect(world.status.history).toMatchObject([{ heldIn: 'First' }]);
    expect(copied(world)).toMatchObject({ reason: 'ObjectDiffers' });
    expect(world.second.objects.has('far/example.json')).toBe(false);
  });

  it('that loses a copy gets it again within a day', async () => {
    const world = aWorld();
    await world.run();
    world.second.objects.clear();
    world.now += 25 * HOUR;
    await world.run();
    expect(world.copies).toEqual(['far/example']);
    expectTruth(world);
  });

  it('keeps what the first store has lost, and the status says that it is only there', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 3 } });
    await world.run();
    world.now += HOUR;
    await world.run();
    world.store.objects.clear();
    world.now += HOUR;
    await world.run();
    expect(world.copies).toHaveLength(3);
    expect(world.status.history).toMatchObject([
      { heldIn: 'Both' },
      { heldIn: 'Second' },
      { heldIn: 'Second' },
    ]);
    expect(copied(world)?.message).toContain('2 of them only there');
    expectTruth(world);
  });

  it('is pruned as the first one is, and nothing of others is touched', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 } });
    world.second.objects.set('far/example_v5_2020-01-01-00:00:00', {
      bytes: Buffer.from('x'),
      modifiedAt: 0,
    });
    for (let hour = 0; hour < 4; hour += 1) {
      await world.run();
      world.now += HOUR;
    }
    expect(world.objects).toHaveLength(2);
    expect(world.copies).toEqual([
      ...world.objects.map(key => key.replace(KEY, 'far/example')),
      'far/example_v5_2020-01-01-00:00:00',
    ]);
    expect(world.status.history).toHaveLength(2);
    expect(world.events.map(({ reason }) => reason)).toContain('CopiesDeleted');
    expectTruth(world);
  });

  it('that lets nobody delete yet keeps its copies, says so, and fails nothing', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 } });
    world.second.beforeCall = (call, key) => {
      if (call === 'delete' && !key.endsWith('.json')) throw new StoreError('locked', 'held');
    };
    await world.run();
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(1);
    expect(world.copies).toHaveLength(2);
    expect(world.status.history).toMatchObject([
      { heldIn: 'Both' },
      { heldIn: 'Second', secondStore: { locked: true } },
    ]);
    expect(copied(world)).toMatchObject({ reason: 'AllCopied' });
    expect(world.events.filter(({ reason }) => reason === 'CopiesLocked')).toHaveLength(1);
  });

  it('that is locked while the first one is not deletes nothing in the first because of that', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 } });
    world.second.beforeCall = away('unavailable');
    for (let hour = 0; hour < 3; hour += 1) {
      await world.run();
      world.now += HOUR;
    }
    expect(world.objects).toHaveLength(2);
    expect(world.copies).toEqual([]);
  });

  it('keeps a copy that a restore reads', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 } });
    await world.run();
    const [needed = ''] = world.copies;
    world.kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { name: 'clone', namespace: world.ref.namespace },
      status: { phase: 'Seeding', source: { location: `s3://copies/${needed}` } },
    } as never);
    world.now += HOUR;
    await world.run();
    expect(world.copies).toHaveLength(2);
    expect(world.copies).toContain(needed);
  });

  it('is left alone when it is named no more, and the status forgets it', async () => {
    const world = aWorld();
    await world.run();
    await world.edit(SPEC);
    await world.run();
    expect(world.copies).toEqual(['far/example']);
    expect(world.status.history?.[0]).not.toHaveProperty('heldIn');
    expect(world.status).not.toHaveProperty('secondStore');
    expect(copied(world)).toBeUndefined();
  });

  it('gets nothing while the EtcdBackup is paused', async () => {
    const world = aWorld();
    world.second.beforeCall = away('unavailable');
    await world.run();
    world.second.beforeCall = () => {};
    world.say(state => pause(state, { by: 'ana', at: world.now }));
    world.now += HOUR;
    await world.run();
    expect(world.copies).toEqual([]);
    world.say(resume);
    await world.run();
    expect(world.copies).toEqual(['far/example']);
  });

  it('is cleaned of what killed writers have left, when that is old', async () => {
    const world = aWorld();
    world.second.unfinished.set('far/example', world.now - 72 * HOUR);
    world.second.unfinished.set('far/example_v2_2026-11-21-09:00:00', world.now - HOUR);
    world.second.unfinished.set('far/example-of-others', world.now - 72 * HOUR);
    await world.run();
    expect([...world.second.unfinished.keys()]).toEqual([
      'far/example_v2_2026-11-21-09:00:00',
      'far/example-of-others',
    ]);
  });

  it('in the same bucket is refused, and backups go on without copies', async () => {
    const world = aWorld({ secondStore: { storageType: 'S3', s3: { path: 'backups/etcd/example/copies' } } });
    await world.run();
    expect(world.status).toMatchObject({ succeeded: true });
    expect(world.objects).toEqual([KEY]);
    expect(copied(world)).toMatchObject({ reason: 'SecondStoreInvalid' });
    expect(copied(world)?.message).toContain('is in the same bucket');
  });
});

describe('a copy', () => {
  it('is whole and recorded whenever the operator is killed, at every call', async () => {
    const whole = aWorld();
    await whole.run();
    for (let call = 1; call <= whole.calls; call += 1) {
      for (const arrives of [false, true]) {
        const world = aWorld();
        world.kill(call, arrives);
        await world.run();
        expect(world.copies, `killed at call ${call}`).toEqual(['far/example']);
        expect(world.status, `killed at call ${call}`).toMatchObject({
          history: [{ heldIn: 'Both' }],
          secondStore: { behind: 0 },
        });
        expectTruth(world);
      }
    }
  });

  it('is made once by two that run at the same time', async () => {
    const world = aWorld();
    world.second.beforeCall = away('unavailable');
    await world.run();
    world.second.beforeCall = () => {};
    const copy = () => world.act(({ copyBackups }) => copyBackups(world.ref));
    await Promise.all([copy(), copy()]);
    expect(world.copies).toEqual(['far/example']);
    expect(world.status.history).toMatchObject([{ heldIn: 'Both' }]);
    expectTruth(world);
  });

  it('whose backup the first store prunes meanwhile is no fault', async () => {
    const world = aWorld();
    world.second.beforeCall = away('unavailable');
    await world.run();
    world.second.beforeCall = () => {};
    const { get } = world.store;
    world.store.get = async (key, options) => {
      const content = await get.call(world.store, key, options);
      if (key !== KEY) return content;
      world.kube.mutate({ apiVersion: API_VERSION, kind: 'EtcdBackup', ...world.ref }, object => {
        object['status'] = { ...(object['status'] as object), history: [] };
      });
      throw new StoreError('not-found', `${key} does not exist`);
    };
    await world.act(({ copyBackups }) => copyBackups(world.ref));
    expect(world.status.secondStore).not.toHaveProperty('reason');
    expect(world.copies).toEqual([]);
  });

  it('from a volume leaves no pod when the second store is named no more', async () => {
    const world = aWorld();
    await world.run();
    const { namespace, name, uid } = world.ref;
    const pods = ['first', 'second'].map(role => `${name}-backup-${role}`);
    for (const pod of pods)
      world.kube.seed({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          namespace,
          name: pod,
          ownerReferences: [{ apiVersion: API_VERSION, kind: 'EtcdBackup', name, uid, controller: true }],
        },
      } as never);
    await world.edit(SPEC);
    await expect(world.act(({ copyBackups }) => copyBackups(world.ref))).rejects.toThrow(
      'copies nothing now',
    );
    const left = world.kube.all('Pod').filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    expect(left.filter(({ metadata }) => pods.includes(metadata.name))).toEqual([]);
  });

  it.each([
    ['the EtcdBackup is deleted', (world: BackupWorld) => world.delete()],
    ['the second store is named no more', (world: BackupWorld) => world.edit(SPEC)],
  ])('under way ends when %s, and leaves no object', async (_, change) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const world = aWorld();
      world.second.beforeCall = away('unavailable');
      await world.run();
      let isBegun = false;
      const { get } = world.store;
      world.second.beforeCall = () => {};
      world.store.get = async (key, options) => {
        const content = await get.call(world.store, key, options);
        if (key.endsWith('.json')) return content;
        isBegun = true;
        // It hangs in the middle, as a slow store does.
        return { ...content, body: hanging(content.body) };
      };
      const copy = world.act(({ copyBackups }) => copyBackups(world.ref));
      await vi.waitFor(() => expect(isBegun).toBe(true), { interval: 5 });
      await change(world);
      await vi.advanceTimersByTimeAsync(6_000);
      await copy;
      expect(world.copies).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });
});

async function* hanging(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    yield chunk;
    await new Promise(() => {});
  }
}
