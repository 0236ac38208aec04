/** The messages between an EtcdBackup's entity and its run, and the ones that only backups understand. */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BackupAssessment, BackupOperation } from '../../activities/index.ts';
import type { Request } from './resource.ts';

/** A backup now, whatever the schedule says. */
export const backupSignal = defineSignal<[Request?]>('backup');
export const backupUpdate = defineUpdate<string, [Request?]>('backup');

export const backupStatusQuery = defineQuery<BackupAnswer>('status');
export const backupPlanQuery = defineQuery<BackupPlanAnswer>('plan');

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

/** Entity → run: end, also in the middle of a step. */
export const stopSignal = defineSignal<[Request]>('stop');

/** How a run, or another operation of a backup, ended. */
export interface BackupEnding {
  readonly operation: BackupOperation;
  readonly outcome: 'ended' | 'aborted' | 'failed';
  /** The run that it was about. */
  readonly startedAt?: string;
  /** Why it failed. */
  readonly message?: string;
  /** Who aborted it. */
  readonly by?: Request;
}

/** Run → entity: it ends. */
export const endedSignal = defineSignal<[BackupEnding]>('ended');
