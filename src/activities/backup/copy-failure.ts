/** Failures of copies: at which of the two stores, and whether others may be copied all the same. They are conditions, and never failures of a backup. */
import type { CopyReason } from '../../planner/backup/second-store.ts';
import { StoreError } from '../../store/port.ts';
import { BackupFailure } from './failure.ts';

/** Why something could not be done at one of the two stores. */
export class CopyError extends Error {
  override readonly name = 'CopyError';
  readonly reason: CopyReason;
  /** It is about this backup, and others may be copied all the same. */
  readonly isOfOne: boolean;
  constructor(reason: CopyReason, message: string, isOfOne = false) {
    super(message);
    this.reason = reason;
    this.isOfOne = isOfOne;
  }
}

/** Does something at the second store, whose failures are not those of the first. */
export async function atSecond<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw asSecond(error);
  }
}

function asSecond(error: unknown): unknown {
  const { message } = error as Error;
  if (error instanceof BackupFailure) return withCause(new CopyError('SecondStoreRefuses', message), error);
  if (!(error instanceof StoreError) || error.code === 'aborted') return error;
  const of = (reason: CopyReason) => withCause(new CopyError(reason, message), error);
  switch (error.code) {
    case 'unavailable':
    case 'timeout':
    case 'other':
      return of('SecondStoreUnavailable');
    case 'full':
      return of('SecondStoreFull');
    case 'exists':
    case 'not-found':
      return withCause(new CopyError('ObjectDiffers', message, true), error);
    default:
      return of('SecondStoreRefuses');
  }
}

export async function atFirst<Result>(act: () => Promise<Result>, isOfOne = false): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw asFirst(error, isOfOne);
  }
}

export function asFirst(error: unknown, isOfOne: boolean): unknown {
  const isStore = error instanceof StoreError && error.code !== 'aborted';
  if (!isStore && !(error instanceof BackupFailure)) return error;
  const isOfObject = isOfOne && error instanceof StoreError && error.code === 'not-found';
  return withCause(new CopyError('FirstStoreUnreadable', error.message, isOfObject), error);
}

function withCause(error: CopyError, cause: Error): CopyError {
  return Object.assign(error, { cause });
}
