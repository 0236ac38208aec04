/** The backup before an upgrade, on a world in memory: asked for, waited for, told; and the EtcdBackup that is asked. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { ANNOTATION_BACKUP_ASKED, API_VERSION } from '../../src/api/names.ts';
import { timestamp } from '../../src/api/values/time.ts';
import type { ObjectRef, WritableObject } from '../../src/kube/port.ts';
import { BackupWorld, SPEC } from '../worlds/backup-world.ts';
import { snapshotStream } from '../fakes/etcd/snapshot.ts';
import { condition } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 120_000 };
const BACKUP: ObjectRef = { apiVersion: API_VERSION, kind: 'EtcdBackup', namespace: 'shop', name: 'nightly' };

/** A cluster of 3.6.15 that is asked to be one of 3.6.16. */
async function asked(
  upgrade: NonNullable<EtcdClusterSpec['upgrade']>,
  { backups = true }: { readonly backups?: boolean } = {},
): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.15', upgrade } });
  await world.run();
  await world.run();
  world.now += 60_000;
  if (backups) {
    const { apiVersion, kind, ...metadata } = BACKUP;
    world.kube.seed({ apiVersion, kind, metadata, spec: SPEC } as WritableObject);
  }
  await world.kube.as('kubectl').patch(world.resource, { spec: { version: '3.6.16' } }, { type: 'merge' });
  return world;
}

function question(world: OperatorWorld): string | undefined {
  return world.kube.peek(BACKUP)?.metadata.annotations?.[ANNOTATION_BACKUP_ASKED];
}

/** The workflow of the EtcdBackup does what it is asked for; how many members were upgraded by then. */
function answer(world: OperatorWorld, outcome: 'Succeeded' | 'Failed'): { upgraded: number } {
  const seen = { upgraded: 0 };
  const stop = world.kube.intercept(({ verb, kind }) => {
    if (verb !== 'get' || kind !== 'EtcdBackup' || question(world) === undefined) return;
    stop();
    seen.upgraded = versions(world).filter(version => version === '3.6.16').length;
    made(world, outcome);
  });
  return seen;
}

function made(world: OperatorWorld, outcome: 'Succeeded' | 'Failed'): void {
  const startedAt = timestamp(world.now);
  const entry = {
    time: startedAt,
    location: 's3://backups/etcd/example',
    verified: 'Checksum',
    clusterID: world.cluster.status.clusterID,
  };
  world.kube.mutate(BACKUP, object => {
    object['status'] = {
      lastRun: { startedAt, outcome, message: 'AccessDenied' },
      ...(outcome === 'Succeeded' && { history: [entry] }),
    };
  });
}

const versions = (world: OperatorWorld): string[] =>
  [...(world.etcd.clusters[0]?.processes ?? [])].map(({ version }) => version);
describe('an upgrade', LONG, () => {
  it('asks an EtcdBackup for a backup, and touches no member before it is made', async () => {
    const world = await asked({});
    const seen = answer(world, 'Succeeded');
    await world.run();
    await world.run();
    expect(seen.upgraded).toBe(0);
    expect(question(world)).toBeDefined();
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(world.events.map(({ reason }) => reason)).toContain('BackupRequested');
  });

  it('stops before it begins when the backup fails, says why, and continues when there is one', async () => {
    const world = await asked({});
    answer(world, 'Failed');
    expect((await world.run()).decision).toMatchObject({ kind: 'blocked', reason: 'BackupFailed' });
    expect(condition(world, 'UpgradeBlocked')).toMatchObject({ status: 'True', reason: 'BackupFailed' });
    expect(condition(world, 'UpgradeBlocked')?.message).toContain('AccessDenied');
    expect(versions(world)).toEqual(['3.6.15', '3.6.15', '3.6.15']);
    made(world, 'Succeeded');
    await world.run();
    await world.run();
    expect(versions(world)).toEqual(['3.6.16', '3.6.16', '3.6.16']);
    expect(condition(world, 'UpgradeBlocked')).toBeUndefined();
  });

  it('is not satisfied with a backup of a time to come, from when the clock was ahead', async () => {
    const world = await asked({});
    world.now += 3 * 24 * 3_600_000;
    made(world, 'Succeeded');
    world.now -= 3 * 24 * 3_600_000;
    const seen = answer(world, 'Succeeded');
    await world.run();
    await world.run();
    expect(question(world)).toBeDefined();
    expect(seen.upgraded).toBe(0);
    expect(new Set(versions(world))).toEqual(new Set(['3.6.16']));
  });

  it('says so when no one makes the backup in time, and asks again after an hour', async () => {
    const world = await asked({});
    const { step } = (await world.look()).decision as { step: Parameters<typeof world.perform>[0] };
    expect(step.kind).toBe('requestBackup');
    await world.perform(step);
    const first = question(world);
    await world.perform(step);
    expect(question(world)).toBe(first);
    world.now += 3_000_000;
    expect((await world.look()).decision).toMatchObject({ kind: 'operate', step: { kind: 'awaitBackup' } });
    world.now += 3_000_000;
    expect((await world.look()).decision).toMatchObject({ kind: 'blocked', reason: 'BackupFailed' });
    world.now += 3_000_000;
    expect((await world.look()).decision).toMatchObject({ kind: 'operate', step: { kind: 'requestBackup' } });
  });

  it.each([
    ['Required', { kind: 'blocked', reason: 'BackupMissing' }],
    ['IfPossible', { kind: 'operate', step: { kind: 'replaceImage' } }],
  ] as const)('without an EtcdBackup: %s', async (snapshotBefore, decision) => {
    const world = await asked({ snapshotBefore }, { backups: false });
    expect((await world.lookCompared()).decision).toMatchObject(decision);
  });

  it('asks for none when there is a young one, or when none is wanted', async () => {
    const world = await asked({ snapshotBefore: 'Never' });
    expect((await world.lookCompared()).decision).toMatchObject({ step: { kind: 'replaceImage' } });
    const other = await asked({ snapshotBefore: 'Required' });
    made(other, 'Succeeded');
    expect((await other.lookCompared()).decision).toMatchObject({ step: { kind: 'replaceImage' } });
    expect(condition(other, 'Upgrading')?.message).toContain('s3://backups/etcd/example');
  });
});

describe('an EtcdBackup', () => {
  it('makes one backup for one question, whatever its schedule is, and none for an old one', async () => {
    const world = new BackupWorld({ ...SPEC, backupPolicy: { suspend: true, backupIntervalInSecond: 3600 } });
    world.etcd.snapshotOf = () => snapshotStream(Buffer.alloc(512), 512);
    const ask = (at: number) =>
      world.kube.mutate({ ...BACKUP, name: world.ref.name }, ({ metadata }) => {
        metadata.annotations = { [ANNOTATION_BACKUP_ASKED]: timestamp(at) };
      });
    ask(world.now - 4_000_000);
    await world.run();
    expect(world.status.lastRun).toBeUndefined();
    ask(world.now);
    await world.run();
    expect(world.status.lastRun).toMatchObject({
      outcome: 'Succeeded',
      requestedBy: 'an upgrade or a restore of the cluster',
    });
    const { startedAt } = world.status.lastRun ?? {};
    await world.run();
    expect(world.status.lastRun?.startedAt).toBe(startedAt);
  });
});
