/** What an EtcdRestore waits for, and which clusters it is about. */
import { describe, expect, it } from 'vitest';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import { restoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import { planRestoreResource } from '../../../src/planner/restore/plan.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { aCluster, aRunningCluster, aRunningStatus, NOW } from '../../worlds/builders.ts';

const RESTORE: EtcdRestore = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdRestore',
  metadata: { name: 'back', namespace: 'shop', uid: 'u-1', generation: 1 },
  spec: { etcdCluster: { name: 'example' }, backupStorageType: 'S3', s3: { path: 'b/k' } },
};

describe('a restore', () => {
  it('waits until a cluster of its name that is being deleted is gone', () => {
    const cluster = { ...aCluster({ status: aRunningStatus() }), deleting: true };
    const target = situationOf(aRunningCluster({ cluster }));
    expect(
      planRestoreResource({ now: Date.parse(NOW), restore: RESTORE, target, backup: undefined }),
    ).toMatchObject({ kind: 'blocked', reason: 'ClusterDeleting' });
  });

  it('is of the cluster that it names, until it is deleted', () => {
    expect(restoreOfCluster(RESTORE, 'example')).toMatchObject({ name: 'back' });
    expect(restoreOfCluster(RESTORE, 'other')).toBeUndefined();
    const metadata = { ...RESTORE.metadata, deletionTimestamp: '2026-11-21T09:00:00Z' };
    expect(restoreOfCluster({ ...RESTORE, metadata }, 'example')).toBeUndefined();
  });
});
