/**
 * Which of the two stores of an EtcdBackup a restore reads. The first one, unless that says that it does not have the backup, has other bytes, or
 * refuses; or does not answer for as often as is tried here. The second one is read only for a backup whose SHA-256 is recorded: the copy must have
 * it, so whichever store is read, the bytes are those of the backup that was chosen.
 */
import { Context } from '@temporalio/activity';
import type { EtcdRestore } from '../../api/schemas/types.ts';
import { EtcdError } from '../../etcd/port.ts';
import type { RestoreSource } from '../../planner/model/restore-of-cluster.ts';
import {
  copyOfObject,
  objectOf,
  type RestoreCopy,
  type RestoreObject,
} from '../../planner/restore/backup-object.ts';
import { StoreError } from '../../store/port.ts';
import { examine, FoundBad, openAt, type OpenedObject, openObject } from '../backup/examined-object.ts';
import { BackupFailure } from '../backup/failure.ts';
import { readBackupOf } from '../resource/etcd-restore.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';

/** A store that does not answer may answer the next time: so many attempts at the step, of which each asks it five times. */
const ATTEMPTS_AT_FIRST = 2;

/** Reads the backup from end to end, in whichever store has it. Throws `EtcdError` `corrupt` when it is no good in any. */
export async function examineEither(deps: Dependencies, restore: EtcdRestore): Promise<RestoreSource> {
  const backup = await readBackupOf(deps.kube, restore);
  const first = objectOf(restore, backup);
  const copy = copyOfObject(restore, backup);
  if ('reason' in first) {
    if (copy === undefined) throw preconditionChanged(first.message);
    return examineCopy(deps, restore, { copy, because: first.message });
  }
  try {
    return await examineAt(deps, restore, first);
  } catch (error) {
    const because = whyNotFirst(error, Context.current().info.attempt);
    if (because === undefined || copy === undefined) throw error;
    return await examineCopy(deps, restore, { copy, because });
  }
}

/** Why the second store is to be read; undefined: nothing says so, or not yet. */
export function whyNotFirst(error: unknown, attempt: number): string | undefined {
  if (error instanceof EtcdError)
    return error.code === 'corrupt' && !(error instanceof FoundBad) ? error.message : undefined;
  if (!(error instanceof StoreError) && !(error instanceof BackupFailure)) return undefined;
  if (error instanceof StoreError && error.code === 'aborted') return undefined;
  const isAnswer =
    error instanceof StoreError && ['not-found', 'no-bucket', 'denied', 'invalid'].includes(error.code);
  if (isAnswer) return error.message;
  return attempt < ATTEMPTS_AT_FIRST ? undefined : `after ${attempt} attempts, ${error.message}`;
}

async function examineCopy(
  deps: Dependencies,
  restore: EtcdRestore,
  { copy, because }: { readonly copy: RestoreCopy; readonly because: string },
): Promise<RestoreSource> {
  if (copy.sha256 === undefined) {
    const message = `${because}. Its copy ${copy.location} is not restored: the EtcdBackup has recorded no SHA-256 of the backup, so nothing shows that the copy is the same. To restore it, name it with backupStorageType instead of backupRef`;
    throw new BackupFailure('never', message);
  }
  try {
    return { ...(await examineAt(deps, restore, copy)), because: because.slice(0, 4096) };
  } catch (error) {
    throw withBoth(error, because);
  }
}

/** The second store does not have it either: users need to know of both. */
function withBoth(error: unknown, because: string): unknown {
  const message = `${(error as Error).message}; and ${because}`;
  if (error instanceof StoreError) return new StoreError(error.code, message);
  if (error instanceof BackupFailure) return new BackupFailure(error.retry, message);
  return error instanceof EtcdError ? new EtcdError(error.code, message) : error;
}

async function examineAt(
  deps: Dependencies,
  restore: EtcdRestore,
  object: RestoreObject,
): Promise<RestoreSource> {
  const opened = await openAt(deps, restore, object);
  const { spec, status = {} } = restore;
  const asked = spec.sha256 ?? (spec.backupRef === undefined ? undefined : status.chosen?.sha256);
  try {
    // What was recorded comes first: another object than that is no copy, whatever was confirmed.
    const { sha256 = asked } = object as Partial<RestoreCopy>;
    if (asked !== undefined && sha256 !== asked)
      throw new EtcdError(
        'corrupt',
        `the EtcdBackup has recorded the SHA-256 ${sha256}, and ${asked} is requested`,
      );
    const source = await examine(opened, { signal: Context.current().cancellationSignal, sha256 });
    return object.store === undefined ? source : { ...source, store: object.store };
  } catch (error) {
    if (!(error instanceof EtcdError) || error.code !== 'corrupt') throw error;
    const message = `${object.location} is refused: ${error.message}`;
    throw error instanceof FoundBad ? new FoundBad('corrupt', message) : new EtcdError('corrupt', message);
  } finally {
    await opened.store.close();
  }
}

/**
 * Uses what was examined, wherever it can be read now: a store may have been lost since. What is read must have the SHA-256 that was examined, so
 * it is the same whichever store it comes from.
 * @returns why it was not read where it was examined; undefined: it was
 */
export async function useEither(
  deps: Dependencies,
  { restore, source }: { readonly restore: EtcdRestore; readonly source: RestoreSource },
  use: (opened: OpenedObject) => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await usedAndClosed(await openObject(deps, restore, source.location), use);
    return undefined;
  } catch (error) {
    const because = whyNotFirst(error, Context.current().info.attempt);
    const other = because === undefined ? undefined : await otherObject(deps, restore, source);
    if (because === undefined || other === undefined) throw error;
    try {
      await usedAndClosed(await openAt(deps, restore, other), use);
    } catch (second) {
      throw withBoth(second, because);
    }
    return `${other.location} was read instead of ${source.location}: ${because}`;
  }
}

async function usedAndClosed(opened: OpenedObject, use: (of: OpenedObject) => Promise<unknown>) {
  try {
    await use(opened);
  } finally {
    await opened.store.close();
  }
}

async function otherObject(
  deps: Dependencies,
  restore: EtcdRestore,
  { store, sha256 }: RestoreSource,
): Promise<RestoreObject | undefined> {
  const backup = await readBackupOf(deps.kube, restore);
  if (store !== 'Second') {
    const copy = copyOfObject(restore, backup);
    return copy?.sha256 === sha256 ? copy : undefined;
  }
  const first = objectOf(restore, backup);
  return 'reason' in first ? undefined : first;
}
