/** When a backup of a schedule is late, and what is said of it. */
import { describe, expect, it } from 'vitest';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import { dueOf, lateness, lookInTime } from '../../../src/planner/backup/lateness.ts';
import type { BackupObservation } from '../../../src/planner/backup/observation.ts';
import { placeOf } from '../../../src/planner/backup/jitter.ts';

const at = (text: string) => Date.parse(`2026-11-${text}Z`);
const UID = '0b5e8f1c-5d1c-4f20-8000-000000000001';
const NIGHTLY = { schedule: '0 2 * * *', timeoutInSecond: 3600 };
const FOLLOWED = { rule: 'cron 0 2 * * * in UTC', since: '2026-11-01T00:00:00Z' };
/** The backup of the twentieth is made, and the one of the twenty-first is awaited. */
const AWAITED: EtcdBackupStatus = { schedule: { ...FOLLOWED, lastTime: '2026-11-20T02:00:00Z' } };
const running = (progress: EtcdBackupStatus['progress']): EtcdBackupStatus => ({
  schedule: { ...FOLLOWED, lastTime: '2026-11-21T02:00:00Z' },
  progress: { startedAt: '2026-11-21T02:00:05Z', scheduledFor: '2026-11-21T02:00:00Z', ...progress },
});

const MADE: EtcdBackupStatus = { schedule: { ...FOLLOWED, lastTime: '2026-11-21T02:00:00Z' } };

function seen(now: string, status: EtcdBackupStatus, policy: object = NIGHTLY): BackupObservation {
  const spec = { clusterRef: { name: 'e' }, storageType: 'S3', backupPolicy: policy } as EtcdBackup['spec'];
  return {
    now: at(now),
    backup: {
      namespace: 'shop',
      name: 'nightly',
      uid: UID,
      generation: 1,
      deleting: false,
      hasFinalizer: false,
      createdAt: at('01T00:00:00'),
      object: { metadata: { namespace: 'shop', name: 'nightly', uid: UID }, spec } as EtcdBackup,
      config: backupWithDefaults(spec),
      status,
    },
  };
}

describe('a scheduled backup', () => {
  it.each([
    ['that is awaited', '21T01:00:00', AWAITED, 'OnTime'],
    ['that is due', '21T02:14:00', AWAITED, 'OnTime'],
    ['that did not begin within fifteen minutes', '21T02:16:00', AWAITED, 'BackupNotBegun'],
    ['that waits for its store', '21T02:16:00', running({ waiting: true }), 'BackupNotBegun'],
    ['that goes on', '21T02:16:00', running({}), 'OnTime'],
    ['that goes on after its time', '21T03:01:00', running({}), 'BackupNotFinished'],
    ['that nobody began for hours', '21T09:00:00', AWAITED, 'BackupNotFinished'],
    ['that is made', '21T02:30:00', MADE, 'OnTime'],
  ] as const)('%s', (_, now, status, reason) => {
    expect(lateness(seen(now, status))?.reason).toBe(reason);
  });

  it('that fails again and again is late when it should have been finished, and says why', () => {
    const failing: EtcdBackupStatus = {
      schedule: {
        ...FOLLOWED,
        lastTime: '2026-11-21T02:00:00Z',
        failures: 3,
        retryAt: '2026-11-21T03:05:00Z',
      },
      lastRun: { startedAt: '2026-11-21T02:50:00Z', outcome: 'Failed', message: 'the bucket is gone' },
    };
    expect(lateness(seen('21T02:50:00', failing))?.reason).toBe('OnTime');
    expect(lateness(seen('21T03:01:00', failing))).toMatchObject({
      status: 'False',
      reason: 'BackupNotFinished',
      message:
        'the backup that was due at 2026-11-21T02:00:00Z should have been finished by 2026-11-21T03:00:00Z: the bucket is gone',
    });
  });

  it('counts from its own time, not from that of the schedule', () => {
    const policy = { ...NIGHTLY, jitterInSecond: 7200 };
    const delay = Math.floor(placeOf(UID) * 7200) * 1_000;
    expect(delay).toBeGreaterThan(0);
    const due = at('21T02:00:00') + delay;
    const expected = { at: due, beginsBy: due + 900_000, endsBy: due + 3_600_000 };
    expect(dueOf(seen('21T01:00:00', AWAITED, policy))).toEqual(expected);
    expect(dueOf(seen('21T06:00:00', AWAITED, policy))).toEqual(expected);
    expect(dueOf(seen('21T04:00:00', running({}), policy))).toEqual(expected);
  });

  it('of an interval counts from when the interval ended, however long ago', () => {
    const hourly = { backupIntervalInSecond: 3600, timeoutInSecond: 600 };
    const status: EtcdBackupStatus = {
      schedule: { rule: 'interval', since: '2026-11-01T00:00:00Z', lastTime: '2026-11-21T01:00:00Z' },
    };
    expect(lateness(seen('21T02:05:00', status, hourly))?.reason).toBe('OnTime');
    expect(lateness(seen('21T09:00:00', status, hourly))?.message).toContain('due at 2026-11-21T02:00:00Z');
  });

  it('is not requested without a schedule, or while it is suspended', () => {
    expect(lateness(seen('21T09:00:00', AWAITED, { ...NIGHTLY, suspend: true }))).toBeUndefined();
    expect(lateness(seen('21T09:00:00', AWAITED, {}))).toBeUndefined();
  });

  it('is looked at when it would be late, whatever keeps it', () => {
    const paused = { kind: 'blocked', reason: 'Paused', message: 'paused', nextPassSeconds: 3600 } as const;
    const look = (now: string) => lookInTime(paused, seen(now, AWAITED));
    expect(look('21T02:10:00')).toMatchObject({ nextPassSeconds: 301 });
    expect(look('21T02:20:00')).toMatchObject({ nextPassSeconds: 2401 });
    expect(look('21T04:00:00')).toEqual(paused);
  });
});
