/** What is said and done of a run that has failed or ended unseen, and of a pause. */
import { describe, expect, it } from 'vitest';
import { backupWithDefaults } from '../../../src/api/defaults/etcd-backup.ts';
import type { EtcdBackup, EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import type { BackupObservation, BackupWorkflowState } from '../../../src/planner/backup/observation.ts';
import { planBackup } from '../../../src/planner/backup/plan.ts';
import { backupStatus } from '../../../src/planner/backup/report.ts';
import { retryOf } from '../../../src/planner/backup/retry.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const RUN = '2026-11-21T09:59:00Z';

function seen(status: EtcdBackupStatus): BackupObservation {
  const spec: EtcdBackup['spec'] = {
    clusterRef: { name: 'example' },
    storageType: 'S3',
    s3: { path: 'backups/etcd' },
  };
  const metadata = { namespace: 'shop', name: 'nightly', uid: '0b7e6e34' };
  const object = { metadata, spec, status } as EtcdBackup;
  const facts = { ...metadata, generation: 1, deleting: false, hasFinalizer: false, createdAt: 0, object };
  return { now: NOW, backup: { ...facts, config: backupWithDefaults(spec), status } };
}

function reported(
  status: EtcdBackupStatus,
  workflowState: BackupWorkflowState = {},
  pause: NonNullable<EtcdBackupStatus['userRequests']>['pause'] = undefined,
): EtcdBackupStatus {
  return backupStatus(seen(status), workflowState, { workflowId: 'a workflow', pause });
}

describe('a run that failed before it was recorded', () => {
  const failed = { operation: 'takeBackup', startedAt: RUN, message: 'no', retryAt: NOW + 20_000 } as const;

  it('is begun again when its back-off is over, and not before', () => {
    expect(planBackup(seen({}), { failed })).toEqual({
      kind: 'blocked',
      reason: 'StepFailed',
      message: 'no; the operator tries again',
      nextPassSeconds: 20,
    });
    expect(planBackup(seen({}), { failed: { ...failed, retryAt: NOW } })).toMatchObject({
      kind: 'operate',
      step: { kind: 'beginBackup' },
    });
  });
});

describe('a run that ended without a backup', () => {
  it('has failed, and says why and for whom it was', () => {
    const long = { startedAt: '2026-11-20T10:00:00Z', requestedBy: 'ana' };
    expect(reported({ progress: long }).lastRun).toMatchObject({
      outcome: 'Failed',
      requestedBy: 'ana',
      message: expect.stringMatching(/^it did not complete within \d+ s$/),
    });
  });
});

describe('a pause', () => {
  it('by a request stays in the status', () => {
    const pause = { request: 'Pause', by: 'ana', at: RUN };
    expect(reported({}, {}, pause).userRequests).toEqual({ pause });
    expect(reported({ userRequests: { pause } }).userRequests).toBeUndefined();
  });
});

describe('the next try', () => {
  it('is for the time of the schedule that failed, or for itself', () => {
    const at = Date.parse(RUN);
    expect(retryOf({ schedule: { retryAt: RUN, lastTime: '2026-11-21T02:30:00Z' } }, 1)).toEqual({
      at,
      scheduledFor: '2026-11-21T02:30:00Z',
    });
    expect(retryOf({ schedule: { retryAt: RUN } }, 1)).toEqual({ at, scheduledFor: RUN });
    expect(retryOf({}, 1)).toBeUndefined();
  });
});
