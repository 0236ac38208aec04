/** What users asked the workflow of an EtcdBackup for by messages, for a run of it that begins anew. */
import { describe, expect, it } from 'vitest';
import type { EtcdBackupStatus } from '../../../src/api/schemas/types.ts';
import type { BackupObservation } from '../../../src/planner/backup/observation.ts';
import { mirroredBackupSignals, takenOverByBackup } from '../../../src/planner/requests/backup-signals.ts';

const ASKED = '2026-11-21T10:00:00Z';
const BEFORE = '2026-11-21T09:59:59Z';
const uid = '0b7e6e34';

/** Whether the backup that was asked for at ASKED is still to be taken, by what the status says of runs. */
function isOpen(runs: Pick<EtcdBackupStatus, 'progress' | 'lastRun'>): boolean {
  const signals = { uid, backup: { by: 'ana', at: ASKED } };
  const backup = { uid, status: { ...runs, signals } } as unknown as BackupObservation['backup'];
  const { requested } = takenOverByBackup({ now: 0, backup }, { takesOver: { pause: true } });
  const mirrored = mirroredBackupSignals({ requested: { by: 'ana', at: Date.parse(ASKED) } }, backup);
  expect(mirrored?.backup !== undefined).toBe(requested !== undefined);
  return requested !== undefined;
}

const run = (startedAt: string, requestedBy?: string) => ({
  lastRun: { startedAt, outcome: 'Succeeded' as const, ...(requestedBy !== undefined && { requestedBy }) },
});

describe('a backup that was asked for', () => {
  it('is open while no run has begun since', () => {
    expect(isOpen({})).toBe(true);
    expect(isOpen(run(BEFORE, 'ana'))).toBe(true);
  });

  it('is not the run of the schedule that began in the same second', () => {
    expect(isOpen(run(ASKED))).toBe(true);
    expect(isOpen({ progress: { startedAt: ASKED } })).toBe(true);
  });

  it('is the requested run that has begun since', () => {
    expect(isOpen(run(ASKED, 'ana'))).toBe(false);
    expect(isOpen({ ...run(BEFORE), progress: { startedAt: ASKED, requestedBy: 'ana' } })).toBe(false);
  });
});
