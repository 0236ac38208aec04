/** What a restore saves before it begins (spec.saveFirst). */
import { describe, expect, it } from 'vitest';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import { candidates } from '../../../src/planner/checks/restore-acceptance.ts';
import type { BackupOfCluster } from '../../../src/planner/model/backups-of-cluster.ts';
import { restoreOfCluster } from '../../../src/planner/model/restore-of-cluster.ts';
import { planRestoreResource } from '../../../src/planner/restore/plan.ts';
import { restoreStatus } from '../../../src/planner/restore/report.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { aCluster, aRunningCluster, aRunningStatus, NOW } from '../../worlds/builders.ts';

const now = Date.parse(NOW);
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString().replace('.000', '');
const cluster = aCluster({ status: aRunningStatus() });

const RESTORE: EtcdRestore = {
  apiVersion: 'etcd.database.coreos.com/v1beta2',
  kind: 'EtcdRestore',
  metadata: { name: 'back', namespace: 'shop', uid: 'u-1', generation: 1, creationTimestamp: minutesAgo(30) },
  spec: {
    etcdCluster: { name: 'example' },
    backupStorageType: 'S3',
    s3: { path: 'b/k' },
    confirmClusterID: cluster.status.clusterID ?? '',
    saveFirst: true,
  },
  status: {
    generation: 1,
    source: {
      location: 's3://b/k',
      size: 100,
      sha256: 'a'.repeat(64),
      snapshotSize: 100,
      compression: 'none',
    },
  },
};

const NIGHTLY: BackupOfCluster = {
  name: 'nightly',
  uid: 'u-2',
  newest: undefined,
  lastRun: undefined,
  nextRun: undefined,
  timeoutSeconds: 600,
};
const BEFORE = { location: 's3://b/before', revision: 7, verified: 'Checksum' };

function planned(backups: readonly BackupOfCluster[], restore = RESTORE) {
  const restores = [restoreOfCluster(restore, 'example')].filter(found => found !== undefined);
  const target = situationOf(aRunningCluster({ cluster, backups, restores }));
  const observation = { now, restore, target, backup: undefined };
  const decision = planRestoreResource(observation);
  const status = restoreStatus(observation, { decision, workflowState: {}, workflowId: 'w' });
  return { decision, saved: status.saved, isNext: candidates(target).length === 1 };
}

describe('a restore that saves first', () => {
  it('says what to do when no EtcdBackup refers to the cluster', () => {
    expect(planned([])).toMatchObject({
      decision: {
        kind: 'blocked',
        reason: 'NotSaved',
        message: expect.stringContaining('create one with spec.clusterRef, or set spec.saveFirst to false'),
      },
      isNext: false,
    });
  });

  it('asks an EtcdBackup, and waits for its answer', () => {
    expect(planned([NIGHTLY]).decision).toMatchObject({
      step: { kind: 'requestSaving', backup: 'nightly', uid: 'u-2', asked: minutesAgo(0) },
    });
    expect(planned([{ ...NIGHTLY, asked: minutesAgo(1) }])).toMatchObject({
      decision: { step: { kind: 'awaitSaving', asked: minutesAgo(1) } },
      isNext: false,
    });
  });

  it('says why nothing was saved', () => {
    const lastRun = {
      startedAt: minutesAgo(1),
      completedAt: minutesAgo(1),
      outcome: 'Failed',
      message: 'AccessDenied',
    } as const;
    const { decision, isNext } = planned([{ ...NIGHTLY, asked: minutesAgo(2), lastRun }]);
    expect(decision).toMatchObject({
      reason: 'NotSaved',
      message: expect.stringContaining('before the restore back: Failed: AccessDenied'),
    });
    expect(isNext).toBe(false);
  });

  it('begins when a backup was made since it was asked for, and names it', () => {
    const newest = { ...BEFORE, time: minutesAgo(5), sha256: 'b'.repeat(64) };
    const { decision, saved, isNext } = planned([{ ...NIGHTLY, newest }]);
    expect(decision).toEqual({ kind: 'waiting' });
    expect(saved).toEqual({
      backup: 'nightly',
      location: BEFORE.location,
      time: minutesAgo(5),
      revision: 7,
      sha256: 'b'.repeat(64),
    });
    // The workflow of the cluster begins when the status says so.
    expect(isNext).toBe(false);
    const status = { ...RESTORE.status, ...(saved && { saved }) };
    expect(planned([], { ...RESTORE, status }).isNext).toBe(true);
  });

  it('takes no backup that is older than its EtcdRestore, nor the one that the cluster was restored from', () => {
    const old = { ...NIGHTLY, newest: { ...BEFORE, time: minutesAgo(31) } };
    const origin = { ...NIGHTLY, newest: { ...BEFORE, time: minutesAgo(5) }, isOrigin: true };
    for (const backup of [old, origin])
      expect(planned([backup]).decision).toMatchObject({ step: { kind: 'requestSaving' } });
  });

  it('asks again where the EtcdBackup was asked for another restore, whatever became of that', () => {
    const lastRun = {
      startedAt: minutesAgo(39),
      completedAt: minutesAgo(38),
      outcome: 'Succeeded',
    } as const;
    for (const asked of [{ asked: minutesAgo(40), lastRun }, { asked: minutesAgo(31) }])
      expect(planned([{ ...NIGHTLY, ...asked }]).decision).toMatchObject({
        step: { kind: 'requestSaving', asked: minutesAgo(0) },
      });
  });

  it('saves nothing of a cluster that has never held anything', () => {
    const { clusterID: _, ...status } = aRunningStatus();
    const target = situationOf(aRunningCluster({ cluster: aCluster({ status }) }));
    const restores = [restoreOfCluster(RESTORE, 'example')].filter(found => found !== undefined);
    expect(candidates({ ...target, restores })).toHaveLength(1);
  });
});
