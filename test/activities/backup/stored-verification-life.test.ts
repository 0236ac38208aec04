/** Stored backups that are verified because an EtcdRequest asks for it, in memory: every verdict, killed at every call. */
import { describe, expect, it } from 'vitest';
import { abort } from '../../../src/workflows/backup/state.ts';
import { nextManifestKey } from '../../../src/api/derived/backup-names.ts';
import { StoreError } from '../../../src/store/port.ts';
import type { BackupWorld } from '../../worlds/backup-world.ts';
import { askToVerify, backedUp, DATABASE, LOCATION, UID } from '../../worlds/stored-backup.ts';
import { snapshotBytes } from '../../fakes/etcd/snapshot.ts';

const KEY = 'etcd/example';

/** Nothing is left of a verification but its verdict. */
function expectTidy(world: BackupWorld): void {
  expect(world.verifier.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
  expect(world.backup.metadata.finalizers ?? []).toEqual([]);
  expect([...world.store.objects.keys()].toSorted()).toEqual(
    world.objects.flatMap(key => [key, `${key}.json`]),
  );
}

describe('a stored backup that a person has verified', () => {
  it('of which only the checksum was known is read by etcdutl', async () => {
    const world = await backedUp();
    expect(world.status.history).toMatchObject([{ verified: 'Checksum' }]);
    askToVerify(world);
    await world.run();
    expect(world.verifier.asked).toMatchObject([{ level: 'Structure', snapshot: snapshotBytes(DATABASE) }]);
    expect(world.status).toMatchObject({
      history: [{ location: LOCATION, verified: 'Structure' }],
      verification: {
        request: UID,
        location: LOCATION,
        level: 'Structure',
        requestedBy: 'ana (an audit)',
        outcome: 'Verified',
        completedAt: expect.any(String) as string,
      },
    });
    expect(world.manifest(KEY)).toMatchObject({ entry: world.status.history?.[0], structure: { hash: 7 } });
    expect(world.became(UID)).toMatchObject({ state: 'done', verdict: 'Verified' });
    expect(world.events.map(({ reason }) => reason)).toEqual(['StoredBackupVerified']);
    expect(world.objects).toEqual([KEY]);
    expectTidy(world);
  });

  it('in a store that lets nobody delete anything yet has its verdict beside its manifest', async () => {
    const world = await backedUp();
    world.store.beforeCall = call => {
      if (call === 'delete') throw new StoreError('locked', 'canary');
    };
    for (const [level, request] of [
      ['Structure', UID],
      ['Restore', 'another'],
    ] as const) {
      askToVerify(world, { level }, request);
      await world.run();
      expect(world.became(request)).toMatchObject({ state: 'done', verdict: 'Verified' });
    }
    expect(world.manifest(KEY)).toMatchObject({ entry: { verified: 'Checksum' } });
    expect([...world.store.objects.keys()].toSorted()).toEqual(
      [KEY, `${KEY}.json`, nextManifestKey(KEY)].toSorted(),
    );
    // The list of what there is says so, too.
    await world.edit({ ...world.backup.spec, backupPolicy: { maxBackups: 1 } });
    await world.run();
    expect(world.status.history).toMatchObject([{ location: LOCATION, verified: 'Structure' }]);
  });

  it('by a restore is compared with what the cluster was, and stays so called when less is asked for later', async () => {
    const world = await backedUp({ verify: 'Structure' });
    askToVerify(world, { level: 'Restore', location: LOCATION, cluster: 'example' });
    await world.run();
    expect(world.status).toMatchObject({
      history: [{ verified: 'Restore' }],
      lastVerifiedRestore: expect.any(String) as string,
    });
    askToVerify(world, { level: 'Structure' }, 'another');
    await world.run();
    expect(world.became('another')).toMatchObject({ state: 'done', verdict: 'Verified' });
    expect(world.status).toMatchObject({ history: [{ verified: 'Restore' }] });
    expect(world.manifest(KEY)?.entry.verified).toBe('Restore');
  });

  it('and of which less can be shown than was asked says so', async () => {
    const world = await backedUp();
    world.verifier.report = ({ level }) => ({
      kind: 'read',
      structure: { hash: 7, revision: 100, keys: 3 },
      ...(level === 'Restore' && { restored: { revision: '100', hash: 'other', compactRevision: '77' } }),
    });
    askToVerify(world, { level: 'Restore' });
    await world.run();
    expect(world.became(UID)).toMatchObject({
      state: 'done',
      verdict: 'PartlyVerified',
      message: expect.stringContaining('Structure verified only') as string,
    });
    expect(world.events).toMatchObject([{ type: 'Warning', reason: 'StoredBackupPartlyVerified' }]);
  });

  it('is verified once for one request, however often it is given', async () => {
    const world = await backedUp();
    askToVerify(world);
    await world.run();
    askToVerify(world);
    await world.run();
    expect(world.verifier.asked).toHaveLength(1);
  });

  it('of two requests is verified twice, one after the other', async () => {
    const world = await backedUp();
    askToVerify(world);
    askToVerify(world, { level: 'Restore' }, 'another');
    await world.run();
    expect(world.verifier.asked.map(({ level }) => level)).toEqual(['Structure', 'Restore']);
    expect([world.became(UID)?.state, world.became('another')?.state]).toEqual(['done', 'done']);
  });
});

describe('a stored backup that is bad', () => {
  function expectBad(world: BackupWorld, why: string): void {
    expect(world.became(UID)).toMatchObject({
      state: 'failed',
      verdict: 'NotVerified',
      message: expect.stringContaining(why) as string,
    });
    expect(world.status).toMatchObject({
      history: [{ location: LOCATION, verified: '' }],
      verification: { outcome: 'NotVerified' },
    });
    expect(world.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Succeeded', status: 'False', reason: 'BackupNotVerified' }),
    );
    expect(world.events).toMatchObject([{ type: 'Warning', reason: 'StoredBackupNotVerified' }]);
  }

  it('because a bit has changed in the store', async () => {
    const world = await backedUp({ verify: 'Restore' });
    const object = world.store.objects.get(KEY);
    if (object === undefined) throw new Error('nothing is stored');
    const bytes = Buffer.from(object.bytes);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    world.store.objects.set(KEY, { ...object, bytes });
    askToVerify(world);
    await world.run();
    expectBad(world, 'SHA-256');
    expect(world.manifest(KEY)?.entry.verified).toBe('');
    expectTidy(world);
  });

  it('because another object was put in its place, with a manifest that fits that', async () => {
    const world = await backedUp();
    const manifest = world.store.objects.get(`${KEY}.json`);
    const sha256 = world.status.history?.[0]?.sha256 ?? '';
    if (manifest === undefined) throw new Error('nothing is stored');
    const bytes = Buffer.from(manifest.bytes.toString('utf8').replaceAll(sha256, 'f'.repeat(64)));
    world.store.objects.set(`${KEY}.json`, { ...manifest, bytes });
    askToVerify(world);
    await world.run();
    expectBad(world, `records the SHA-256 ${'f'.repeat(64)}`);
  });

  it('because etcdutl refuses it', async () => {
    const world = await backedUp();
    world.verifier.report = () => ({ kind: 'fault', message: 'snapshot file integrity check failed' });
    askToVerify(world);
    await world.run();
    expectBad(world, 'integrity check failed');
    expect(world.manifest(KEY)?.entry.verified).toBe('');
  });

  it('because it is gone', async () => {
    const world = await backedUp();
    world.store.objects.delete(KEY);
    askToVerify(world);
    await world.run();
    expectBad(world, 'does not exist in the store');
    expect(world.verifier.asked).toEqual([]);
  });
});

describe('a verification without a verdict', () => {
  it('fails with the reason, and leaves the backup as it was', async () => {
    const world = await backedUp();
    world.verifier.report = () => 'out of memory';
    askToVerify(world);
    await world.run();
    expect(world.became(UID)).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('out of memory') as string,
    });
    expect(world.became(UID)).not.toHaveProperty('verdict');
    expect(world.status).toMatchObject({
      history: [{ verified: 'Checksum' }],
      verification: { message: expect.stringContaining('out of memory') as string },
    });
    expect(world.status.verification).not.toHaveProperty('completedAt');
    expectTidy(world);
  });

  it('because its manifest is missing is not tried again', async () => {
    const world = await backedUp();
    world.store.objects.delete(`${KEY}.json`);
    askToVerify(world);
    await world.run();
    expect(world.became(UID)).toMatchObject({
      state: 'failed',
      message: expect.stringContaining('nothing to compare the backup with') as string,
    });
    expect(world.status.history).toMatchObject([{ verified: 'Checksum' }]);
  });

  it('that a user aborts says who did it', async () => {
    const world = await backedUp();
    world.verifier.report = () => {
      world.kill(world.calls + 1, false);
      world.say(state => abort(state, { by: 'bob', reason: 'too slow' }));
      return 'never heard';
    };
    askToVerify(world);
    await world.run();
    expect(world.became(UID)).toMatchObject({ state: 'aborted', message: 'aborted by bob (too slow)' });
    expect(world.status.history).toMatchObject([{ verified: 'Checksum' }]);
    expectTidy(world);
  });
});

describe('killed at any call', () => {
  it('there is one verdict, in the status and in the manifest, and nothing is left', async () => {
    const whole = await backedUp();
    const from = whole.calls + 1;
    askToVerify(whole, { level: 'Restore' });
    await whole.run();
    expect(whole.calls - from).toBeGreaterThan(10);
    for (let call = from; call <= whole.calls; call += 1) {
      for (const arrives of [true, false]) {
        const world = await backedUp();
        askToVerify(world, { level: 'Restore' });
        world.kill(call, arrives);
        await world.run();
        const note = `killed at call ${call}, which ${arrives ? 'arrives' : 'is lost'}`;
        expect({
          note,
          became: world.became(UID)?.state,
          verdict: world.status.verification?.outcome,
          history: world.status.history?.map(({ verified }) => verified),
          manifest: world.manifest(KEY)?.entry,
          events: world.events.filter(({ reason }) => reason.startsWith('Stored')).length <= 1,
        }).toEqual({
          note,
          became: 'done',
          verdict: 'Verified',
          history: ['Restore'],
          manifest: world.status.history?.[0],
          events: true,
        });
        expectTidy(world);
      }
    }
  });
});
