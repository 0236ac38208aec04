import { expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import { BackupWorld, SPEC } from '../../support/backup-world.ts';
import { snapshotStream } from '../../support/fake-snapshot.ts';

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
