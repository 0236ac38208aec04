/**
 * The second store: what is missing there is copied, read back and recorded, and what the retention does not keep is deleted there. Can be killed at
 * any point and done again: what an earlier attempt has copied is looked for first, and read again before anything is said of it. Nothing that
 * the second store does is a failure of a backup: it is recorded in the status, which says when it is tried again.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { keysOf } from '../../api/derived/backup-names.ts';
import { inSecondStore } from '../../api/derived/store-of-specification.ts';
import type { FailureType } from '../../api/failures.ts';
import type { BackupEntry, EtcdBackup } from '../../api/schemas/types.ts';
import { canonical } from '../../api/values/canonical.ts';
import { messageOf } from '../../api/values/message-of.ts';
import {
  afterAttempt,
  type CopyFault,
  copyOf,
  mayCopy,
  missingCopies,
} from '../../planner/backup/second-store.ts';
import type { CallOptions } from '../../store/port.ts';
import { backupFacts, type BackupRef, readBackup, readPresent } from '../resource/etcd-backup.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import { folderOf, listOurs } from './catalogue.ts';
import { atFirst, atSecond, CopyError } from './copy-failure.ts';
import { copyOne } from './copy-object.ts';
import { type Copying, recordStatus } from './copying.ts';
import { lookAtFirst, lookAtSecond } from './looks-at-stores.ts';
import { pruneFolder, record } from './prune.ts';
import { ABANDONED_MS } from './take-snapshot.ts';
import { endLeftPod } from './serving-pod.ts';
import { storeOf } from './turn.ts';
import { secondsToWait } from './turns.ts';

/** How often is looked whether there is still a reason to copy. */
const WATCH_MS = 5_000;

/** Brings the second store up to date, as far as it lets that be done. */
export async function copyBackups(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref }: { readonly ref: BackupRef },
): Promise<void> {
  const backup = await readPresent(deps.kube, ref);
  const second = inSecondStore(backup);
  // An attempt that was killed may have left the pods that lend it volumes.
  if (second === undefined)
    for (const role of ['first', 'second'] as const)
      await endLeftPod(deps.kube, { kind: 'EtcdBackup', ...ref, role });
  if (second === undefined || !mayCopy(backupFacts(backup)))
    throw preconditionChanged(`EtcdBackup ${ref.namespace}/${ref.name} copies nothing now`);
  const place = storeOf(second);
  const release = deps.turns === undefined ? () => {} : deps.turns.copies.tryTake(place);
  if (release === undefined) throw waitsForTurn(place);
  const over = new AbortController();
  const signal = AbortSignal.any([Context.current().cancellationSignal, over.signal]);
  const state: { current: BackupEntry | undefined } = { current: undefined };
  const watch = setInterval(() => {
    void isStillWanted(deps, { ref, backup, current: state.current }).then(
      wanted => wanted || over.abort(),
      () => {},
    );
  }, WATCH_MS);
  try {
    const fault = await attempt({ deps, ref, backup, heartbeatDetails, options: { signal } }, second, state);
    await recordStatus(deps, ref, (status, { now, generation }) =>
      status.secondStore === undefined
        ? status
        : {
            ...status,
            secondStore: afterAttempt(status.secondStore, fault, { now, generation }),
          },
    );
  } catch (error) {
    // What it was for is gone: the next pass plans what there is to do now.
    if (!over.signal.aborted) throw error;
  } finally {
    clearInterval(watch);
    release();
  }
}

/** Everything that there is to do; why it was not done, where that is to be tried again. */
async function attempt(
  of: Omit<Copying, 'to' | 'current'>,
  second: EtcdBackup,
  state: { current: BackupEntry | undefined },
): Promise<CopyFault | undefined> {
  try {
    const store = await atSecond(() => of.deps.openStore({ ...second, kind: 'EtcdBackup', role: 'second' }));
    try {
      const copying: Copying = Object.assign(state, { ...of, to: folderOf(store, second, false) });
      return await bringUpToDate(copying);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof CopyError)) throw error;
    return { reason: error.reason, message: error.message };
  }
}

async function bringUpToDate(copying: Copying): Promise<CopyFault | undefined> {
  const { backup, deps, options } = copying;
  await lookAtSecond(copying);
  const faults: CopyError[] = [];
  const from = await atFirst(() => deps.openStore({ ...backup, kind: 'EtcdBackup', role: 'first' }));
  try {
    await lookAtFirst(copying, from);
    const { object, status } = backupFacts(await readPresent(deps.kube, copying.ref));
    for (const entry of missingCopies({ object, status })) {
      copying.current = entry;
      await copyOne(copying, from, entry).catch(async (error: unknown) => {
        if (!(error instanceof CopyError) || !error.isOfOne) throw error;
        // The retention of the first store may have deleted it meanwhile.
        if (await isKept(copying, entry)) faults.push(error);
      });
    }
  } finally {
    await from.close();
    copying.current = undefined;
  }
  await prune(copying);
  await cleanUp(copying, options);
  const [first] = faults;
  if (first === undefined) return undefined;
  const others = faults.length === 1 ? '' : ` (and ${faults.length - 1} more)`;
  return { reason: first.reason, message: `${first.message}${others}` };
}

async function isKept({ deps, ref }: Copying, { location }: BackupEntry): Promise<boolean> {
  const { history = [] } = (await readPresent(deps.kube, ref)).status ?? {};
  return history.some(entry => entry.location === location);
}

/** The retention, asked of what the second store has: nothing goes there because of what became of the first one. */
async function prune(copying: Copying): Promise<void> {
  const { deps, ref, to, options, backup } = copying;
  const { entries, orphans } = await atSecond(() => listOurs(to, options));
  const { history = [] } = (await readPresent(deps.kube, ref)).status ?? {};
  // A restore may have begun with the one or with the other.
  const listed = entries.map(entry => {
    const known = history.find(each => copyOf(backup, each)?.location === entry.location);
    if (known === undefined) return entry;
    // Its verification may have found it bad since.
    const { verified } = known;
    const original = { location: known.location, verifiedAt: '' };
    return { ...entry, ...(verified !== undefined && { verified }), secondStore: original };
  });
  const { gone, locked } = await atSecond(() =>
    pruneFolder({ deps, ref, folder: to, options }, { entries: listed, orphans }),
  );
  if (gone.size === 0 && locked.length === 0) return;
  await recordStatus(deps, ref, (status, { backup: now }) => ({
    ...status,
    history: (status.history ?? []).flatMap(entry => {
      const copy = copyOf(now, entry);
      if (copy === undefined) return [entry];
      if (locked.includes(copy.location))
        return [{ ...entry, secondStore: { ...copy, locked: true as const } }];
      if (!gone.has(copy.location)) return [entry];
      const { secondStore: _, heldIn, ...kept } = entry;
      return heldIn === 'Second' ? [] : [kept];
    }),
  }));
  if (gone.size > 0) record(deps, ref, { reason: 'CopiesDeleted', locations: [...gone] });
  if (locked.length > 0) record(deps, ref, { reason: 'CopiesLocked', locations: locked });
}

/** What writers that were killed have left; nothing depends on it. */
async function cleanUp({ deps, to: { store, place } }: Copying, options: CallOptions): Promise<void> {
  const matching = keysOf(place.key);
  await store
    .removeUnfinished(place.key, { ...options, olderThanMs: ABANDONED_MS, matching })
    .catch((error: unknown) =>
      deps.logger.info('unfinished uploads are not removed', { error: messageOf(error) }),
    );
}

/** Whether what was begun is still what the resource asks for. */
async function isStillWanted(
  deps: Dependencies,
  {
    ref,
    backup,
    current,
  }: { readonly ref: BackupRef; readonly backup: EtcdBackup; readonly current: BackupEntry | undefined },
): Promise<boolean> {
  const now = await readBackup(deps.kube, ref);
  if (now === undefined || now.metadata.deletionTimestamp !== undefined) return false;
  const { status = {} } = now;
  if (status.userRequests?.pause !== undefined || status.signals?.pause !== undefined) return false;
  if (!mayCopy(backupFacts(now)) || !isSameStores(now, backup)) return false;
  // The retention may have taken it meanwhile.
  return (
    current === undefined || (status.history ?? []).some(({ location }) => location === current.location)
  );
}

function isSameStores(one: EtcdBackup, other: EtcdBackup): boolean {
  const storesOf = ({ spec }: EtcdBackup) => {
    const { storageType, s3, abs, gcs, oss, file, secondStore } = spec;
    return canonical({ storageType, s3, abs, gcs, oss, file, secondStore });
  };
  return storesOf(one) === storesOf(other);
}

/** What it fails with while others use the second store, or half of all slots: it comes again. */
function waitsForTurn(place: string): Error {
  const message = `waits for its turn to copy to ${place}`;
  const nextRetryDelay = 1_000 * secondsToWait(120, Math.random());
  return ApplicationFailure.create({ message, type: 'WaitsForTurn' satisfies FailureType, nextRetryDelay });
}
