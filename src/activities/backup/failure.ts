/** Failures of backups, with their retry intent. Translated here once, at the boundary to Temporal. */
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import type { FailureType } from '../../api/failures.ts';
import { EtcdError } from '../../etcd/port.ts';
import { StoreError } from '../../store/port.ts';
import { stepFailure } from '../runtime/failures.ts';

/** A backup that cannot be made now (`later`), or not before somebody changes something (`never`). */
export class BackupFailure extends Error {
  override readonly name = 'BackupFailure' satisfies FailureType;
  readonly retry: 'later' | 'never';
  constructor(retry: BackupFailure['retry'], message: string) {
    super(message);
    this.retry = retry;
  }
}

/**
 * What an error of a step of a backup means to Temporal. What helps by itself is tried again within the time that a backup may
 * take; what somebody must change ends the run at once, with the reason.
 */
export function backupFailure(error: unknown): unknown {
  if (error instanceof CancelledFailure || error instanceof ApplicationFailure) return error;
  if (error instanceof StoreError) {
    return ApplicationFailure.create({
      message: error.message,
      type: `Store:${error.code}`,
      nonRetryable: !error.retry && error.code !== 'other' && error.code !== 'aborted',
    });
  }
  if (error instanceof EtcdError) {
    const nonRetryable = error.code === 'denied';
    return ApplicationFailure.create({ message: error.message, type: `Etcd:${error.code}`, nonRetryable });
  }
  if (error instanceof BackupFailure) {
    const { message, retry } = error;
    return ApplicationFailure.create({ message, type: error.name, nonRetryable: retry === 'never' });
  }
  return stepFailure(error);
}
