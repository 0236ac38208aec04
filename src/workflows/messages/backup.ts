/** The messages between an EtcdBackup's entity and its run, and the ones that only backups understand. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { BackupAssessment, BackupOperation } from '../../activities/index.ts';
import type { Outcome } from '../engine/operation.ts';
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

/** Entity → run: end, also in the middle of a step. */
export const stopSignal = defineSignal<[Request]>('stop');

/** How a run, or another operation of a backup, ended. */
export interface BackupEnding extends Pick<Outcome, 'message' | 'by'> {
  readonly operation: BackupOperation;
  readonly outcome: 'ended' | 'aborted' | 'failed';
  /** The run that it was about. */
  readonly startedAt?: string;
}

/** Run → entity: it ends. */
export const endedSignal = defineSignal<[BackupEnding]>('ended');
