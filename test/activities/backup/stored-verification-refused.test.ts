/** Verifications of stored backups that make no sense, or come too late: refused with the reason, and nothing is done. */
import { describe, expect, it } from 'vitest';
import { pause } from '../../../src/workflows/backup/state.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import type { WantedVerification } from '../../../src/api/values/requests.ts';
import { BackupWorld, SPEC } from '../../worlds/backup-world.ts';
import { askToVerify, backedUp, LOCATION, UID } from '../../worlds/stored-backup.ts';

const CLUSTER = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace: 'shop', name: 'example' };

describe('a request is refused', () => {
  async function refusal(world: BackupWorld, wanted: WantedVerification = {}): Promise<string> {
    askToVerify(world, wanted);
    await world.run();
    expect(world.became(UID)).toMatchObject({ state: 'refused' });
    expect(world.verifier.asked).toEqual([]);
    expect(world.status).not.toHaveProperty('verification');
    return world.became(UID)?.message ?? '';
  }

  it('that names a backup that there is not', async () => {
    const location = 's3://backups/other';
    expect(await refusal(await backedUp(), { location })).toContain(`${location} is not in status.history`);
  });

  it('when there is none yet', async () => {
    const world = new BackupWorld({ ...SPEC, backupPolicy: { suspend: true } });
    expect(await refusal(world)).toContain('has no backup yet');
  });

  it('that names another cluster', async () => {
    expect(await refusal(await backedUp(), { cluster: 'other' })).toBe(
      'EtcdBackup shop/nightly is of EtcdCluster example, not of EtcdCluster other',
    );
  });

  it('when the cluster is gone, or is being deleted', async () => {
    const world = await backedUp();
    world.kube.mutate(CLUSTER, object => (object.metadata.finalizers = ['somebody/else']));
    await world.kube.delete(CLUSTER);
    expect(await refusal(world)).toContain('EtcdCluster shop/example is being deleted');
    world.kube.finishDeletion(CLUSTER);
    askToVerify(world, {}, 'another');
    await world.run();
    expect(world.became('another')?.message).toContain('EtcdCluster shop/example does not exist');
  });

  it('when the backup is in another store than the EtcdBackup names now', async () => {
    const world = await backedUp();
    await world.edit({ ...SPEC, s3: { path: 'elsewhere/etcd' }, backupPolicy: { suspend: true } });
    expect(await refusal(world, { location: LOCATION })).toContain('is not in the store that');
  });
});

it('a request that has waited too long for a paused EtcdBackup expires', async () => {
  const world = await backedUp();
  world.say(state => pause(state, { by: 'bob' }));
  askToVerify(world);
  await world.run();
  expect(world.became(UID)).toMatchObject({ state: 'waiting' });
  world.now += 3_700_000;
  await world.run();
  expect(world.became(UID)).toMatchObject({ state: 'expired' });
  expect(world.verifier.asked).toEqual([]);
});
