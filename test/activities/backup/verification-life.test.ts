/** Backups that are verified beyond their checksum, in memory: by etcd's tools in a pod, and killed at every call. */
import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackupSpec } from '../../../src/api/schemas/types.ts';
import { abort, requestBackup } from '../../../src/workflows/backup/state.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { snapshotBytes, snapshotStream } from '../../fakes/etcd/snapshot.ts';

const DATABASE = Buffer.alloc(16 * 512, 'etcd');
const KEY = 'etcd/example';

function aWorld(spec: Partial<EtcdBackupSpec> = {}): BackupWorld {
  const world = new BackupWorld({ ...SPEC, verify: 'Restore', ...spec });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  return world;
}

/** Pods of verifications that nobody has asked to go. */
function staying(world: BackupWorld): readonly string[] {
  const pods = world.verifier.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return pods.map(({ metadata }) => metadata.name);
}

describe('a backup that is verified', () => {
  it.each(['Structure', 'Restore'] as const)('by %s is read back out of the store', async verify => {
    const world = aWorld({ verify, compression: 'gzip' });
    await world.run();
    const [asked, ...others] = world.verifier.asked;
    expect(others).toEqual([]);
    expect(asked).toMatchObject({ level: verify, image: expect.stringMatching(/:v3\.6\.16$/) as string });
    expect(asked?.snapshot).toEqual(snapshotBytes(DATABASE));
    const { status } = world;
    expect(status).toMatchObject({ phase: 'Succeeded', succeeded: true, history: [{ verified: verify }] });
    expect(status.lastVerifiedRestore !== undefined).toBe(verify === 'Restore');
    expect(world.manifest(KEY)).toMatchObject({
      entry: status.history?.[0],
      structure: { hash: 7, keys: 3 },
      live: { revision: asked?.revision },
    });
    expect(staying(world)).toEqual([]);
    expect(world.events.map(({ reason }) => reason)).toEqual(['BackupStarted', 'BackupSucceeded']);
    expect(world.etcd.open).toBe(0);
  });

  it('may have its pod on a node of a member, also where members must not share nodes', async () => {
    const world = aWorld();
    const cluster = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'shop', name: 'example' };
    const tolerations = [{ key: 'etcd', operator: 'Exists' }];
    world.kube.mutate(cluster, object => {
      object['spec'] = { size: 3, pod: { antiAffinity: true, tolerations, nodeSelector: { disk: 'fast' } } };
    });
    let pod: object | undefined;
    const { report } = world.verifier;
    world.verifier.report = asked => {
      [pod] = world.verifier.pods;
      return report(asked);
    };
    await world.run();
    expect(pod).toMatchObject({
      spec: { tolerations: expect.arrayContaining(tolerations), nodeSelector: { disk: 'fast' } },
    });
    expect(JSON.stringify(pod)).not.toContain('requiredDuringScheduling');
    expect(world.status.succeeded).toBe(true);
  });

  it('needs no pod for a checksum', async () => {
    const world = aWorld({ verify: 'Checksum' });
    await world.run();
    expect(world.verifier.asked).toEqual([]);
    expect(world.manifest(KEY)).not.toHaveProperty('live');
  });
});

describe('a backup that is not what the cluster was', () => {
  function expectDistrusted(world: BackupWorld, why: string): void {
    const { status } = world;
    expect(status).toMatchObject({
      phase: 'Failed',
      succeeded: false,
      lastRun: { outcome: 'Failed' },
      history: [{ location: `s3://backups/${KEY}`, verified: '' }],
    });
    expect(status.Reason).toContain(why);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Succeeded', status: 'False', reason: 'BackupNotVerified' }),
    );
    expect(status).not.toHaveProperty('progress');
    expect(status).not.toHaveProperty('lastVerifiedRestore');
    expect(world.objects).toEqual([KEY]);
    expect(world.manifest(KEY)?.entry.verified).toBe('');
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'BackupNotVerified' });
    expect(staying(world)).toEqual([]);
  }

  it('because etcdutl refuses it', async () => {
    const world = aWorld({ verify: 'Structure' });
    world.verifier.report = () => ({ kind: 'fault', message: 'snapshot file integrity check failed' });
    await world.run();
    expectDistrusted(world, 'integrity check failed');
    // It stays so, and is not made again.
    await world.run();
    expectDistrusted(world, 'integrity check failed');
  });

  it('because its hash is another', async () => {
    const world = aWorld();
    world.verifier.report = ({ revision }) => ({
      kind: 'read',
      structure: { hash: 1, revision: Number(revision), keys: 2 },
      restored: { revision, hash: 'other', compactRevision: '-1' },
    });
    await world.run();
    expectDistrusted(world, 'has the hash other');
  });

  it('because a bit has changed in the store', async () => {
    const world = aWorld();
    world.store.beforeCall = (call, key) => {
      const object = world.store.objects.get(KEY);
      if (call !== 'get' || key !== KEY || object === undefined) return;
      const bytes = Buffer.from(object.bytes);
      bytes[100] = (bytes[100] ?? 0) ^ 1;
      world.store.objects.set(KEY, { ...object, bytes });
    };
    await world.run();
    expectDistrusted(world, 'SHA-256');
    expect(world.verifier.asked).toEqual([]);
  });
});

describe('a verification that shows less than was asked', () => {
  it('says so, and what was shown counts', async () => {
    const world = aWorld();
    world.verifier.report = ({ revision }) => ({
      kind: 'read',
      structure: { hash: 1, revision: Number(revision), keys: 2 },
      restored: { revision, hash: 'other', compactRevision: '5' },
    });
    await world.run();
    expect(world.status).toMatchObject({
      succeeded: true,
      history: [{ verified: 'Structure' }],
      lastRun: { outcome: 'Succeeded', message: expect.stringContaining('no hash of the cluster') as string },
    });
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'BackupPartlyVerified' });
  });

  it('or nothing, because its pod does not work, fails the run and leaves the backup', async () => {
    const world = aWorld();
    world.verifier.report = () => 'out of memory';
    await world.run();
    expect(world.status).toMatchObject({ succeeded: false, history: [{ verified: 'Checksum' }] });
    expect(world.status.Reason).toContain('out of memory');
    expect(world.manifest(KEY)?.entry.verified).toBe('Checksum');
    expect(staying(world)).toEqual([]);
  });
});

it('a backup that a person asks for before it is there is the single one, also while it is verified', async () => {
  const world = aWorld({ verify: 'Structure' });
  world.say(state => requestBackup(state, { by: 'ana' }));
  await world.run();
  expect(world.objects).toEqual([KEY]);
  expect(world.status).toMatchObject({
    succeeded: true,
    lastRun: { requestedBy: 'ana' },
    history: [{ verified: 'Structure' }],
  });
});

it.each(['fault', 'trouble'] as const)(
  'a scheduled backup that is written is not made again upon %s',
  async kind => {
    const world = aWorld({ verify: 'Structure', backupPolicy: { backupIntervalInSecond: 86_400 } });
    world.verifier.report = () =>
      kind === 'trouble' ? 'out of memory' : { kind, message: 'not a snapshot' };
    await world.run();
    expect(world.status).toMatchObject({
      succeeded: false,
      nextRun: expect.stringMatching(/^2026-11-22T/) as string,
    });
    expect(world.status.schedule).not.toHaveProperty('retryAt');
    expect(world.objects).toHaveLength(1);
  },
);

describe('a run that is stopped', () => {
  it('while its backup is verified leaves the backup, and no pod, also when the operator died', async () => {
    const world = aWorld();
    world.verifier.report = () => {
      world.kill(world.calls + 1, false);
      world.say(state => abort(state, { by: 'ana' }));
      return 'never heard';
    };
    await world.run();
    expect(world.status).toMatchObject({
      lastRun: { outcome: 'Aborted' },
      history: [{ verified: 'Checksum' }],
    });
    expect(world.manifest(KEY)?.entry.verified).toBe('Checksum');
    expect(staying(world)).toEqual([]);
  });
});

describe('killed at any call', () => {
  it('after its object is written: one object, verified, and no pod left', async () => {
    const verify = 'Restore';
    const whole = aWorld({ verify });
    let written = 0;
    whole.store.beforeCall = (call, key) => {
      if (written === 0 && call === 'put' && key === KEY) written = whole.calls;
    };
    await whole.run();
    expect(written).toBeGreaterThan(0);
    for (let call = written; call <= whole.calls; call += 1) {
      for (const arrives of [true, false]) {
        const world = aWorld({ verify });
        world.kill(call, arrives);
        await world.run();
        const note = `killed at call ${call}, which ${arrives ? 'arrives' : 'is lost'}`;
        const [key = '', ...others] = world.objects;
        expect({
          note,
          others,
          manifest: world.manifest(key)?.entry,
          verified: world.status.history?.map(({ verified }) => verified),
          reason: world.status.Reason,
          progress: world.status.progress,
          pods: staying(world),
          finalizers: world.backup.metadata.finalizers ?? [],
        }).toEqual({
          note,
          others: [],
          manifest: world.status.history?.[0],
          verified: [verify],
          reason: undefined,
          progress: undefined,
          pods: [],
          finalizers: [],
        });
      }
    }
  });
});
