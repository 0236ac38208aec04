/** What a cluster's status says of its backups. */
import { describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdBackup, EtcdBackupSpec, EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import {
  backedUp,
  type BackupOfCluster,
  backupOfCluster,
  lastBackup,
} from '../../../src/planner/model/backups-of-cluster.ts';

const CLUSTER = { name: 'example', clusterId: 'c0ffee' };
const NOW = Date.parse('2026-11-21T10:00:00Z');

function of(
  status: EtcdBackupStatus,
  spec: Partial<EtcdBackupSpec> = {},
  {
    name = 'nightly',
    restoredFrom,
    deletionTimestamp,
  }: { name?: string; restoredFrom?: string; deletionTimestamp?: string } = {},
): BackupOfCluster | undefined {
  const backup: EtcdBackup = {
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: {
      name,
      namespace: 'shop',
      uid: 'u-1',
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: {
      storageType: 'S3',
      s3: { path: 'b/k' },
      ...('etcdEndpoints' in spec ? {} : { clusterRef: { name: 'example' } }),
      ...spec,
    },
    status,
  };
  return backupOfCluster(backup, { ...CLUSTER, restoredFrom });
}

it('a backup that is being deleted is known as that', () => {
  const deletionTimestamp = '2026-11-21T09:00:00Z';
  expect(of({}, {}, { deletionTimestamp })).toMatchObject({ name: 'nightly', deleting: true });
  expect(of({})).not.toHaveProperty('deleting');
});

const ENTRY = {
  time: '2026-11-21T02:30:00Z',
  location: 's3://b/k_v7',
  revision: 7,
  verified: 'Checksum',
  clusterID: 'c0ffee',
};

function said(...backups: readonly (BackupOfCluster | undefined)[]): string | undefined {
  return backedUp(
    backups.filter(each => each !== undefined),
    NOW,
  )[0]?.reason;
}

function worded(...backups: readonly (BackupOfCluster | undefined)[]): string | undefined {
  return backedUp(
    backups.filter(each => each !== undefined),
    NOW,
  )[0]?.message;
}

describe('an EtcdBackup is about a cluster', () => {
  it('by reference or by its client Service, in its namespace', () => {
    expect(of({}, { clusterRef: { name: 'other' } })).toBeUndefined();
    expect(of({}, { etcdEndpoints: ['https://example-client:2379'] })).toBeDefined();
    expect(of({}, { etcdEndpoints: ['example-client.shop.svc:2379'] })).toBeDefined();
    expect(of({}, { etcdEndpoints: ['https://example-client.other.svc:2379'] })).toBeUndefined();
  });
});

describe('the newest backup', () => {
  it('is the one that holds most, also when the clock was ahead for a while', () => {
    const ahead = { ...ENTRY, time: '2027-11-21T02:30:00Z', revision: 5, location: 's3://b/k_v5' };
    const backup = of({ history: [ahead, ENTRY] });
    expect(backup?.newest).toEqual(ENTRY);
    const other = of({ history: [ahead] });
    expect(lastBackup([other, backup].filter(each => each !== undefined))?.lastBackup?.revision).toBe(7);
  });
});

describe('the condition BackedUp', () => {
  it('is not there when no one asked for backups', () => expect(said()).toBeUndefined());
  it('is False before the first', () => expect(said(of({}))).toBe('NoBackup'));
  it('is True with a verified one', () => expect(said(of({ history: [ENTRY] }))).toBe('VerifiedBackup'));
  it('counts none of an earlier incarnation, and none that is not verified', () => {
    expect(said(of({ history: [{ ...ENTRY, clusterID: 'beef' }] }))).toBe('NoBackup');
    expect(said(of({ history: [{ ...ENTRY, verified: '' }] }))).toBe('NoBackup');
    expect(worded(of({ history: [{ ...ENTRY, clusterID: 'beef' }] }))).toContain(
      'is of the cluster with the id beef',
    );
  });
  const FAILED = { lastRun: { outcome: 'Failed', message: 'the store is full' } } as const;
  it('is False when the last run of the only one failed, and names the newest backup', () => {
    expect(said(of(FAILED))).toBe('BackupFailed');
    expect(said(of({ ...FAILED, history: [ENTRY] }))).toBe('BackupFailed');
    expect(worded(of({ ...FAILED, history: [ENTRY] }))).toBe(
      `EtcdBackup nightly: the store is full; the newest verified backup is ${ENTRY.location} from ${ENTRY.time}`,
    );
  });
  it('is False when the backup of the last run was found bad after the run had ended, and names the one before it', () => {
    const bad = { ...ENTRY, time: '2026-11-21T03:30:00Z', location: 's3://b/k_v9', verified: '' };
    const lastRun = { startedAt: bad.time, outcome: 'Succeeded' as const };
    const message = 'its SHA-256 is another one';
    const asked = { request: 'r', level: 'Structure' as const, startedAt: '2026-11-21T04:00:00Z' };
    const verification = { ...asked, location: bad.location, message };
    const backup = of({ history: [bad, ENTRY], lastRun, verification });
    expect(said(backup)).toBe('BackupFailed');
    expect(worded(backup)).toContain('its SHA-256 is another one; the newest verified backup is s3://b/k_v7');
    expect(said(of({ history: [bad, ENTRY], lastRun }))).toBe('VerifiedBackup');
  });

  it('is that of the EtcdBackup with the newest verified backup, and names another that fails beside', () => {
    const failing = of(FAILED, {}, { name: 'weekly' });
    const good = of({ history: [ENTRY] });
    expect(said(failing, good)).toBe('VerifiedBackup');
    expect(worded(failing, good)).toBe(
      `${ENTRY.location} from ${ENTRY.time}; EtcdBackup weekly: the store is full`,
    );
    const older = { ...ENTRY, time: '2026-11-20T02:30:00Z', revision: 5, location: 's3://b/older' };
    expect(said(of({ ...FAILED, history: [ENTRY] }), of({ history: [older] }, {}, { name: 'weekly' }))).toBe(
      'BackupFailed',
    );
  });
  it('is True after a restore in place, with the backup that the cluster was restored from', () => {
    const before = { ...ENTRY, clusterID: 'beef' };
    const later = { ...before, time: '2026-11-21T03:30:00Z', revision: 9, location: 's3://b/k_v9' };
    const restored = { restoredFrom: ENTRY.location };
    const nightly = of({ history: [later, before] }, {}, restored);
    expect(said(nightly)).toBe('VerifiedBackup');
    expect(worded(nightly)).toBe(
      `${ENTRY.location} from ${ENTRY.time}, from which the cluster was restored; none was made since`,
    );
    const own = { ...ENTRY, time: '2026-11-21T01:00:00Z', location: 's3://b/own' };
    expect(worded(nightly, of({ history: [own] }, {}, { ...restored, name: 'weekly' }))).toContain(
      own.location,
    );
    expect(said(of({ history: [{ ...before, verified: '' }] }, {}, restored))).toBe('NoBackup');
  });
  it('is False when a backup is overdue by more than it may take', () => {
    const policy = { backupPolicy: { timeoutInSecond: 600, backupIntervalInSecond: 3600 } };
    expect(said(of({ history: [ENTRY], nextRun: '2026-11-21T09:51:00Z' }, policy))).toBe('VerifiedBackup');
    expect(said(of({ history: [ENTRY], nextRun: '2026-11-21T09:49:00Z' }, policy))).toBe('BackupTooOld');
  });
});

it('the newest of all is the last backup', () => {
  const older = of({ history: [{ ...ENTRY, time: '2026-11-20T02:30:00Z', location: 's3://b/older' }] });
  const backups = [older, of({ history: [ENTRY] })].filter(each => each !== undefined);
  expect(lastBackup(backups)).toEqual({
    lastBackup: { time: ENTRY.time, location: ENTRY.location, revision: 7 },
  });
  expect(lastBackup([])).toBeUndefined();
});
