/** The messages that only backups understand. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BackupAssessment, BackupOperation } from '../../activities/index.ts';
import type { Request } from '../../api/values/requests.ts';

/** A backup now, whatever the schedule says. */
export const backupSignal = defineSignal<[Request?]>('backup');
export const backupUpdate = defineUpdate<string, [Request?]>('backup');

/** The verification of a backup that is in the store. */
export const verifyUpdate = defineUpdate<string, [unknown]>('verify');

/** What is: as the last pass saw it. */
export interface BackupAnswer {
  readonly paused?: Request;
  readonly operation?: BackupOperation;
  readonly backup?: BackupAssessment['summary'];
}

/** What comes next. */
export interface BackupPlanAnswer {
  readonly operation?: BackupOperation;
  readonly steps: readonly string[];
  readonly nextRun?: string;
  readonly blocked?: { readonly reason: string; readonly message: string };
}
