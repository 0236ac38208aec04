/** Whole lives of EtcdBackups in memory: one-shot, periodic, pruned, edited, deleted, failed, and killed at every call. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { StoreError } from '../../../src/store/port.ts';
import { abort, requestBackup } from '../../../src/workflows/backup/state.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { secret } from '../../fakes/certificates.ts';
import type { FakeCluster } from '../../fakes/etcd/etcd.ts';
import { snapshotBytes, snapshotStream } from '../../fakes/etcd/snapshot.ts';

const DATABASE = Buffer.alloc(128 * 512, 'etcd');
const KEY = 'etcd/example';
const HOUR = 3_600_000;

function aWorld(spec: Partial<EtcdBackupSpec> = {}): BackupWorld {
  const world = new BackupWorld({ ...SPEC, ...spec });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  return world;
}

const hourly = { backupPolicy: { backupIntervalInSecond: 3600 } };

describe('a single backup', () => {
  it('is the database and its checksum, with a manifest beside it, and then nothing more is done', async () => {
    const world = aWorld();
    const { decision } = await world.run();
    expect(decision.kind).toBe('idle');
    expect(world.objects).toEqual([KEY]);
    expect(world.store.objects.get(KEY)?.bytes).toEqual(snapshotBytes(DATABASE));
    const { status } = world;
    expect(status).toMatchObject({
      phase: 'Succeeded',
      succeeded: true,
      etcdVersion: '3.6.16',
      history: [{ location: 's3://backups/etcd/example', verified: 'Checksum', size: DATABASE.length + 32 }],
    });
    expect(status).not.toHaveProperty('progress');
    expect(status).not.toHaveProperty('Reason');
    expect(world.manifest(KEY)).toMatchObject({
      backup: { uid: world.ref.uid },
      entry: status.history?.[0],
      compression: 'none',
      snapshot: { size: DATABASE.length + 32, storageVersion: '3.6.0' },
    });
    expect(world.backup.metadata.finalizers ?? []).toEqual([]);
    expect(world.events.map(({ reason }) => reason)).toEqual(['BackupStarted', 'BackupSucceeded']);
    await world.run();
    expect(world.objects).toEqual([KEY]);
  });

  it('is taken from a follower', async () => {
    const world = aWorld();
    await world.run();
    const leader = world.etcd.process('10.0.0.1').cluster.leaderId;
    const member = world.status.history?.[0]?.member ?? '';
    const host = `10.0.0.${Number(member.slice(-1)) + 1}`;
    expect(world.etcd.process(host).id).not.toBe(leader);
  });

  it.each([
    ['gzip', gunzipSync],
    ['zstd', zstdDecompressSync],
  ] as const)('can be compressed with %s', async (compression, decompress) => {
    const world = aWorld({ compression });
    await world.run();
    expect(decompress(world.store.objects.get(KEY)?.bytes ?? '')).toEqual(snapshotBytes(DATABASE));
    expect(world.manifest(KEY)).toMatchObject({ compression, snapshot: { size: DATABASE.length + 32 } });
  });

  it('never takes the place of another object, and says so', async () => {
    const world = aWorld();
    world.store.objects.set(KEY, { bytes: Buffer.from('precious'), modifiedAt: world.now - HOUR });
    await world.run();
    expect(world.store.objects.get(KEY)?.bytes.toString()).toBe('precious');
    expect(world.status).toMatchObject({ phase: 'Failed', succeeded: false, lastRun: { outcome: 'Failed' } });
    expect(world.status.Reason).toContain('is not overwritten');
    await world.edit({ ...SPEC, s3: { path: 'backups/elsewhere' } });
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Succeeded', succeeded: true });
    expect(world.status).not.toHaveProperty('Reason');
    expect(world.manifest('elsewhere')).toBeDefined();
  });

  it('never takes what another wrote at the same time for its own', async () => {
    const world = aWorld();
    world.store.objects.set(KEY, {
      bytes: snapshotBytes(DATABASE),
      modifiedAt: world.now,
      writer: 'another',
    });
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Failed', succeeded: false });
    expect(world.status.Reason).toContain('is not overwritten');
    expect(world.manifest(KEY)).toBeUndefined();
  });

  it('is not made of a snapshot that lacks its end, or is not what was sent', async () => {
    const world = aWorld();
    let attempts = 0;
    world.etcd.snapshotOf = async function* () {
      attempts += 1;
      const sent = [];
      for await (const chunk of snapshotStream(DATABASE, 3_000)) sent.push(chunk);
      if (attempts === 1) yield* sent.slice(0, -1);
      if (attempts === 2)
        yield* sent.with(3, { ...(sent[3] as (typeof sent)[0]), blob: Buffer.alloc(3_000) });
      if (attempts === 3) yield* sent.slice(0, 9);
      if (attempts > 3) yield* sent;
    };
    await world.run();
    expect(attempts).toBe(4);
    expect(world.store.objects.get(KEY)?.bytes).toEqual(snapshotBytes(DATABASE));
  });

  it('removes what writers that were killed have left, when it is old', async () => {
    const world = aWorld();
    world.store.unfinished.set('etcd/example_v1_2026-11-01-00:00:00', world.now - 72 * HOUR);
    world.store.unfinished.set('etcd/example_v2_2026-11-21-09:00:00', world.now - HOUR);
    const others = ['etcd/example-of-mine', 'etcd/example/dump', 'etcd/example_v1_2026-11-01-00:00:00.tar'];
    for (const key of others) world.store.unfinished.set(key, world.now - 72 * HOUR);
    await world.run();
    expect([...world.store.unfinished.keys()]).toEqual(['etcd/example_v2_2026-11-21-09:00:00', ...others]);
  });

  it('can be asked for again: what is asked for gets a name of its own', async () => {
    const world = aWorld();
    await world.run();
    world.say(state => requestBackup(state, { by: 'ana' }));
    await world.run();
    expect(world.objects).toEqual([KEY, expect.stringMatching(/^etcd\/example_v\d+_2026-11-21-10/)]);
    expect(world.status).toMatchObject({ phase: 'Succeeded', succeeded: true });
    await world.edit({ ...SPEC, compression: 'gzip' });
    await world.run();
    expect(world.objects).toHaveLength(2);
  });

  it('that is asked for again after it failed is made once', async () => {
    const world = aWorld();
    world.store.beforeCall = () => {
      throw new StoreError('denied', 'the key is not accepted');
    };
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Failed' });
    world.store.beforeCall = () => {};
    world.say(state => requestBackup(state, { by: 'ana' }));
    await world.run();
    expect(world.objects).toEqual([KEY]);
    expect(world.status).toMatchObject({
      phase: 'Succeeded',
      succeeded: true,
      lastRun: { requestedBy: 'ana' },
      history: [{ location: `s3://backups/${KEY}` }],
    });
  });

  it('of the CoreOS operator, whose object is there, is left alone, and another has a name of its own', async () => {
    const world = aWorld();
    world.store.objects.set(KEY, { bytes: Buffer.from('precious'), modifiedAt: world.now - HOUR });
    const { namespace, name } = world.ref;
    const at = { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace, name };
    await world.kube.patch(at, { status: { succeeded: true } }, { type: 'merge', subresource: 'status' });
    await world.run();
    // It was never looked at here.
    expect(world.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Succeeded', status: 'True', reason: 'RecordedBefore' }),
    );
    world.say(state => requestBackup(state, { by: 'ana' }));
    await world.run();
    expect(world.store.objects.get(KEY)?.bytes.toString()).toBe('precious');
    expect(world.objects).toEqual([KEY, expect.stringMatching(/^etcd\/example_v/)]);
    expect(world.status).toMatchObject({ succeeded: true });
  });

  it.each([{ clusterRef: { name: 'example' } }, { etcdEndpoints: ['http://example-client:2379'] }])(
    'of a cluster with users is taken by the one of authSecret: %j',
    async source => {
      const { clusterRef: _, ...spec } = SPEC;
      const world = new BackupWorld({ ...spec, ...source, authSecret: 'root' });
      world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
      const asked = vi.spyOn(world.etcd, 'member');
      await world.run();
      expect(world.status.Reason).toBe('Secret shop/root does not exist');
      world.kube.seed(secret('shop', 'root', { username: 'root', password: 'of-root' }));
      await world.edit({ ...world.backup.spec, compression: 'gzip' });
      await world.run();
      expect(world.status).toMatchObject({ succeeded: true });
      const used = asked.mock.calls.map(([{ credentials }]) => credentials);
      expect(used).not.toEqual([]);
      for (const credentials of used) expect(credentials).toEqual({ username: 'root', password: 'of-root' });
    },
  );

  it.each([
    [
      'nobody',
      undefined,
      'set spec.authSecret to a Secret with username and password of a user with the role root',
    ],
    ['a user that is none', 'root', 'correct username and password in Secret shop/root'],
  ])(
    'of a cluster with users, asked for by %s, ends with what is missing',
    async (_who, authSecret, cure) => {
      const world = aWorld({ ...(authSecret !== undefined && { authSecret }) });
      world.kube.seed(secret('shop', 'root', { username: 'root', password: 'mistyped' }));
      for (const cluster of world.etcd.clusters) cluster.asksForUsers = true;
      await world.run();
      expect(world.status).toMatchObject({ phase: 'Failed', lastRun: { outcome: 'Failed' } });
      expect(world.status.Reason).toMatch(/user name is empty.*authentication is enabled in etcd/);
      expect(world.status.Reason).toContain(cure);
    },
  );

  it.each(['\n', '\r\n'])(
    'takes no line break at the end of a name or password for a part of it: %j',
    async end => {
      const world = aWorld({ authSecret: 'root' });
      world.kube.seed(secret('shop', 'root', { username: `root${end}`, password: ` of-root${end}` }));
      const asked = vi.spyOn(world.etcd, 'member');
      await world.run();
      const used = asked.mock.calls.map(([{ credentials }]) => credentials);
      expect(used).toContainEqual({ username: 'root', password: ' of-root' });
    },
  );

  it('waits for a cluster that is not there yet', async () => {
    const world = aWorld({ clusterRef: { name: 'other' } });
    await world.run();
    expect(world.status.Reason).toContain('EtcdCluster shop/other does not exist');
  });
});

describe('the number of keys', () => {
  const KEYS = 17;

  /** The numbers that a finished backup has, in its manifest and in the status. */
  async function reported(prepare: (world: BackupWorld, cluster: FakeCluster) => void): Promise<unknown[]> {
    const world = aWorld();
    const { cluster } = world.etcd.process('10.0.0.1');
    cluster.keys = KEYS;
    prepare(world, cluster);
    await world.run();
    expect(world.status).toMatchObject({ succeeded: true });
    const entries = [world.manifest(KEY)?.entry, world.status.history?.[0]];
    expect(entries).toEqual([expect.objectContaining({ revision: 1 }), entries[0]]);
    return entries.map(entry => entry?.keys);
  }

  /** Something happens when so many pieces of the snapshot have come. */
  const midway = (world: BackupWorld, happens: (host: string) => void) => {
    world.etcd.snapshotOf = async function* (host) {
      let pieces = 0;
      for await (const chunk of snapshotStream(DATABASE, 3_000)) {
        yield chunk;
        pieces += 1;
        if (pieces === 3) happens(host);
      }
    };
  };

  it('is noted of a cluster that no one writes to', async () => {
    expect(await reported(() => {})).toEqual([KEYS, KEYS]);
  });

  it('is not noted when a key is written while the snapshot is taken, or one is deleted and another made', async () => {
    const written = (made: number) => (world: BackupWorld, cluster: FakeCluster) =>
      midway(world, () => Object.assign(cluster, { keys: KEYS + made, revision: cluster.revision + 2 }));
    for (const made of [1, 0]) expect(await reported(written(made))).toEqual([undefined, undefined]);
  });

  it.each(['timeout', 'denied'] as const)('is not noted when counting fails: %s', async code => {
    expect(await reported((_, cluster) => void (cluster.countFails = code))).toEqual([undefined, undefined]);
  });

  it('is not noted when no one can say any more whether something was written', async () => {
    const cutOff = (world: BackupWorld) => midway(world, host => world.etcd.set(host, 'isolated'));
    expect(await reported(cutOff)).toEqual([undefined, undefined]);
  });
});

describe('killed at any call', () => {
  it.each([{}, { compression: 'zstd' as const }, hourly])('%j: one whole object, once', async spec => {
    const whole = aWorld(spec);
    await whole.run();
    for (let call = 1; call <= whole.calls; call += 1) {
      for (const arrives of [true, false]) {
        const world = aWorld(spec);
        world.kill(call, arrives);
        await world.run();
        const note = `killed at call ${call}, which ${arrives ? 'arrives' : 'is lost'}`;
        const [key = '', ...others] = world.objects;
        expect({
          note,
          others,
          manifest: world.manifest(key)?.entry,
          reason: world.status.Reason,
          succeeded: world.status.succeeded,
          progress: world.status.progress,
          finalizers: world.backup.metadata.finalizers ?? [],
        }).toEqual({
          note,
          others: [],
          manifest: world.status.history?.[0],
          reason: undefined,
          succeeded: true,
          progress: undefined,
          finalizers: [],
        });
      }
    }
  });
});

describe('killed at any call while old backups are deleted', () => {
  const policy = { backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 } };
  /** One is there, the next is due, and the first is then one too many. */
  async function withOne(): Promise<BackupWorld> {
    const world = aWorld(policy);
    await world.run();
    world.now += HOUR;
    return world;
  }

  it('one whole object is left, and what is deleted leaves nothing', async () => {
    const whole = await withOne();
    const before = whole.calls;
    await whole.run();
    for (let call = before + 1; call <= whole.calls; call += 1) {
      for (const arrives of [true, false]) {
        const world = await withOne();
        world.kill(call, arrives);
        await world.run();
        const note = `killed at call ${call}, which ${arrives ? 'arrives' : 'is lost'}`;
        const [newest] = world.status.history ?? [];
        expect({
          note,
          keys: [...world.store.objects.keys()].toSorted(),
          history: world.status.history,
        }).toEqual({
          note,
          keys: [world.objects[0], `${world.objects[0]}.json`],
          history: [world.manifest(world.objects[0] ?? '')?.entry],
        });
        expect(Date.parse(newest?.time ?? '')).toBeGreaterThan(Date.parse('2026-11-21T10:30:00Z'));
      }
    }
  });
});

describe('periodic backups', () => {
  it('are named after revision and time, and the first is made at once', async () => {
    const world = aWorld(hourly);
    const { decision } = await world.run();
    expect(world.objects).toEqual([expect.stringMatching(/^etcd\/example_v\d+_2026-11-21-10:00:0\d$/)]);
    expect(decision).toMatchObject({ kind: 'idle' });
    expect(world.status).toMatchObject({ phase: 'Scheduled', succeeded: true });
    const next = Date.parse(world.status.nextRun ?? '') - Date.parse(world.status.history?.[0]?.time ?? '');
    expect(next).toBe(HOUR);
  });

  it('are made up for once, are kept by time, and never touch what others wrote', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 3 } });
    const foreign = 'etcd/example_v1_2026-01-01-00:00:00';
    world.store.objects.set(foreign, { bytes: Buffer.from('theirs'), modifiedAt: 0 });
    world.store.objects.set(`${foreign}.json`, { bytes: Buffer.from('{"format":1}'), modifiedAt: 0 });
    for (let run = 0; run < 6; run += 1) {
      await world.run();
      world.now += run === 3 ? 30 * HOUR : HOUR;
    }
    expect(world.objects).toHaveLength(4);
    expect(world.objects).toContain(foreign);
    expect(world.status.history).toHaveLength(3);
    expect(world.events.filter(({ reason }) => reason === 'BackupSucceeded')).toHaveLength(6);
    for (const key of world.objects.filter(each => each !== foreign))
      expect(world.manifest(key)).toBeDefined();
  });

  it('are not mistaken for the copies that a user made of them', async () => {
    const world = aWorld({ backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 1 } });
    await world.run();
    const [original = ''] = world.objects;
    const copy = `${original}-keep`;
    for (const ending of ['', '.json']) {
      const object = world.store.objects.get(`${original}${ending}`);
      if (object !== undefined) world.store.objects.set(`${copy}${ending}`, object);
    }
    await world.run();
    expect(world.objects).toEqual([original, copy]);
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(2);
    expect(world.objects).toContain(copy);
    expect(world.status.history).toHaveLength(1);
  });

  it('follow an edit at once', async () => {
    const world = aWorld(hourly);
    for (let run = 0; run < 4; run += 1) {
      await world.run();
      world.now += HOUR;
    }
    await world.run();
    expect(world.objects).toHaveLength(5);
    await world.edit({ ...SPEC, backupPolicy: { backupIntervalInSecond: 86_400, maxBackups: 2 } });
    await world.run();
    expect(world.objects).toHaveLength(2);
    expect(world.events.at(-1)?.reason).toBe('BackupsDeleted');
  });

  it('that the store lets nobody delete yet are kept, said, and deleted when it does', async () => {
    const world = aWorld(hourly);
    for (let run = 0; run < 4; run += 1) {
      await world.run();
      world.now += HOUR;
    }
    const locked = () => {
      throw new StoreError('locked', 'canary');
    };
    world.store.beforeCall = call => (call === 'delete' ? locked() : undefined);
    await world.edit({ ...SPEC, backupPolicy: { backupIntervalInSecond: 3600, maxBackups: 2 } });
    await world.run();
    expect(world.objects).toHaveLength(5);
    expect(world.status.history?.map(({ locked = false }) => locked)).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(world.events.at(-1)).toMatchObject({
      reason: 'BackupsLocked',
      message: expect.stringMatching(
        /^3 backups, \S+ first, kept beyond the retention: the store lets nobody/,
      ) as string,
    });
    expect(world.status.lastRun?.outcome).toBe('Succeeded');
    world.store.beforeCall = () => {};
    world.now += HOUR;
    await world.run();
    expect(world.objects).toHaveLength(2);
    expect(world.status.history?.filter(({ locked }) => locked)).toEqual([]);
    expect(world.events.at(-1)?.reason).toBe('BackupsDeleted');
  });

  it('are held back by suspend, but not one that a person asks for', async () => {
    const world = aWorld({ backupPolicy: { schedule: '*/10 * * * *', suspend: true } });
    await world.run();
    expect(world.status).toMatchObject({ phase: 'Suspended' });
    expect(world.objects).toEqual([]);
    world.say(state => requestBackup(state, { by: 'ana', reason: 'before the upgrade' }));
    await world.run();
    expect(world.objects).toHaveLength(1);
    expect(world.status.lastRun).toMatchObject({
      requestedBy: 'ana (before the upgrade)',
      outcome: 'Succeeded',
    });
    expect(world.status.phase).toBe('Suspended');
  });

  it('do not make up for what an edited schedule would have asked for before', async () => {
    const world = aWorld({ backupPolicy: { schedule: '30 9 * * *' } });
    await world.run();
    world.now += 30 * 60_000;
    await world.edit({ ...SPEC, backupPolicy: { schedule: '15 10 * * *' } });
    await world.run();
    expect(world.objects).toEqual([]);
    expect(world.status.nextRun).toBe('2026-11-22T10:15:00Z');
  });
});

describe('trouble', () => {
  it('of the store that passes is waited out', async () => {
    const world = aWorld();
    let failures = 3;
    world.store.beforeCall = () => {
      failures -= 1;
      if (failures >= 0) throw new StoreError('unavailable', 'connect ECONNREFUSED');
    };
    await world.run();
    expect(world.status.succeeded).toBe(true);
  });

  it('that a user must fix ends the run with its reason', async () => {
    const world = aWorld(hourly);
    world.store.beforeCall = () => {
      throw new StoreError('denied', 's3://backups refuses the credentials of Secret aws: correct them');
    };
    await world.run();
    expect(world.status).toMatchObject({
      phase: 'Scheduled',
      succeeded: false,
      Reason: 's3://backups refuses the credentials of Secret aws: correct them',
    });
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'BackupFailed' });
    world.store.beforeCall = () => {};
    world.now += HOUR;
    await world.run();
    expect(world.status.succeeded).toBe(true);
    expect(world.status).not.toHaveProperty('Reason');
  });

  it('of a schedule is tried again sooner than its next time, more and more rarely, and the status says when', async () => {
    const world = aWorld({ backupPolicy: { schedule: '0 3 * * *' } });
    world.now = Date.parse('2026-11-22T02:59:00Z');
    await world.run();
    world.now = Date.parse('2026-11-22T03:00:00Z');
    let broken = true;
    world.store.beforeCall = () => {
      if (broken) throw new StoreError('denied', 'the key is not accepted');
    };
    const pauses: number[] = [];
    for (let failures = 1; failures <= 9; failures += 1) {
      await world.run();
      const { lastRun, nextRun = '', schedule, Reason, conditions } = world.status;
      expect({ lastRun, failures: schedule?.failures, Reason }).toMatchObject({
        lastRun: { outcome: 'Failed', scheduledFor: '2026-11-22T03:00:00Z' },
        failures,
        Reason: 'the key is not accepted',
      });
      expect(conditions?.find(({ type }) => type === 'Succeeded')?.message).toBe(
        `the key is not accepted; the operator tries again at ${nextRun}`,
      );
      pauses.push((Date.parse(nextRun) - Date.parse(lastRun?.completedAt ?? '')) / 60_000);
      world.now = Date.parse(nextRun);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    broken = false;
    await world.run();
    expect(world.objects).toHaveLength(1);
    expect(world.status).toMatchObject({ succeeded: true, nextRun: '2026-11-23T03:00:00Z' });
    expect(world.status.schedule).toEqual({
      rule: 'cron 0 3 * * * in UTC',
      since: '2026-11-21T09:59:00Z',
      lastTime: '2026-11-22T03:00:00Z',
      dueBy: '2026-11-23T04:00:00Z',
    });
  });

  it('of a schedule is over when a person has one made, and when the specification is fixed', async () => {
    for (const mend of ['ask', 'edit'] as const) {
      const world = aWorld(hourly);
      world.store.beforeCall = () => {
        throw new StoreError('denied', 'the key is not accepted');
      };
      await world.run();
      expect(world.status.schedule).toMatchObject({ failures: 1 });
      world.store.beforeCall = () => {};
      if (mend === 'ask') world.say(state => requestBackup(state, { by: 'ana' }));
      else await world.edit({ ...SPEC, ...hourly, s3: { path: 'backups/mended' } });
      await world.run();
      await world.run();
      expect(world.objects, `to ${mend}`).toHaveLength(1);
      expect(world.status.schedule, `to ${mend}`).not.toHaveProperty('retryAt');
      expect(world.status.nextRun, `to ${mend}`).toMatch(/^2026-11-21T11:00/);
    }
  });

  it('of a schedule that a person aborts is not tried again before its next time', async () => {
    const world = aWorld(hourly);
    world.store.beforeCall = () => {
      const { startedAt } = world.status.progress ?? {};
      if (startedAt !== undefined) world.say(state => abort(state, { by: 'ana' }));
      throw new StoreError('unavailable', 'connect ECONNREFUSED');
    };
    await world.run();
    expect(world.status).toMatchObject({ lastRun: { outcome: 'Aborted' } });
    expect(world.status.nextRun).toMatch(/^2026-11-21T11:00/);
  });

  it('of an operator that never came back within the time of the run is a failure', async () => {
    const world = aWorld({ backupPolicy: { timeoutInSecond: 60 } });
    world.kill(6, false);
    const gaveUp = world.run();
    await gaveUp;
    expect(world.status.succeeded).toBe(true);
  });
});

describe('deletion', () => {
  it('leaves the objects, and waits for nothing when no run is under way', async () => {
    const world = aWorld(hourly);
    await world.run();
    await world.delete();
    expect(() => world.backup).toThrow('gone');
    expect(world.objects).toHaveLength(1);
  });

  it('of a resource with a run is followed up', async () => {
    const world = aWorld();
    world.kill(8, true);
    const running = world.run();
    await running;
    await world.delete();
    expect(() => world.backup).toThrow('gone');
  });
});
