/**
 * A snapshot takes its turn at the store, then at the node of the member that it is read from, or says in the resource's status what it waits
 * for, and comes again.
 */
import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { placeOf, serverOf } from '../../api/derived/backup-names.ts';
import type { FailureType } from '../../api/failures.ts';
import { STORES } from '../../api/stores.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { messageOf } from '../../api/values/message-of.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { type BackupRef, observed, recordRun } from '../resource/etcd-backup.ts';
import { lateness, withLateness } from '../../planner/backup/lateness.ts';
import { backupFailure } from './failure.ts';
import { secondsToWait } from './turns.ts';

interface Of {
  readonly deps: Dependencies;
  readonly ref: BackupRef;
  /** `waits`: it was planned with the time to wait. */
  readonly step: { readonly startedAt: string; readonly waits?: boolean };
  /** As it was just read. */
  readonly backup: EtcdBackup;
}

/**
 * Does the last part of the work, for which a member on this node is read, when the turn at the node comes. No node: nothing is read from one
 * that is known, and there is nothing to wait for.
 */
export type AtNode = <Result>(node: string | undefined, work: () => Promise<Result>) => Promise<Result>;

/** Does the work when its turn comes. Fails while others have theirs: such a failure is tried again after the time that it names. */
export async function inTurn(of: Of, work: (atNode: AtNode) => Promise<void>): Promise<void> {
  const { deps, backup } = of;
  const { turns } = deps;
  if (turns === undefined) return work((_, act) => act());
  const { turnAt, nodeTurnAt, waiting = false } = backup.status?.progress ?? {};
  const store = storeOf(backup);
  // One that failed before it came to the node may have to wait there, and then has no turn at the store either.
  const hasTurn = turnAt !== undefined && !waiting;
  const releaseStore = hasTurn ? turns.stores.join(store) : turns.stores.tryTake(store);
  if (releaseStore === undefined) throw await waits(of, store, turns.stores.taken(store));
  let hasBegun = hasTurn;
  let hasNodeTurn = hasTurn && nodeTurnAt !== undefined;
  let waited: Error | undefined;
  const begin = async (...begun: readonly Turn[]): Promise<void> => {
    if (!hasBegun && waiting) await recordTurns(of, begun);
    hasBegun = true;
  };
  const atNode: AtNode = async (node, act) => {
    const atNode = node === undefined ? undefined : turns.at(node);
    const releaseNode = hasNodeTurn ? atNode?.join(store) : atNode?.tryTake(store);
    if (atNode !== undefined && releaseNode === undefined) {
      waited = await waits(of, `node ${node}`, atNode.taken());
      throw waited;
    }
    try {
      if (hasTurn && releaseNode !== undefined && !hasNodeTurn) await recordTurns(of, ['nodeTurnAt']);
      await begin('turnAt', 'nodeTurnAt');
      hasNodeTurn = true;
      return await act();
    } finally {
      releaseNode?.();
    }
  };
  try {
    if (!waiting) return await work(atNode);
    // What is planned from now on has the time of a run that continues: so a failure is planned again instead of being tried again.
    await work(atNode).catch(async error => {
      if (error === waited) throw error;
      const failure = backupFailure(error);
      if (failure instanceof CancelledFailure) throw failure;
      await begin('turnAt');
      const isFinal = failure instanceof ApplicationFailure && failure.nonRetryable === true;
      throw isFinal ? failure : preconditionChanged(messageOf(failure));
    });
  } finally {
    releaseStore();
  }
}

/** Does the work of a run that has had its turn: it counts, and does not wait. */
export async function besideTurns(
  { deps, backup }: Pick<Of, 'deps' | 'backup'>,
  work: (atNode: AtNode) => Promise<void>,
): Promise<void> {
  const store = storeOf(backup);
  const releaseStore = deps.turns?.stores.join(store);
  try {
    await work(async (node, act) => {
      const releaseNode = node === undefined ? undefined : deps.turns?.at(node).join(store);
      try {
        return await act();
      } finally {
        releaseNode?.();
      }
    });
  } finally {
    releaseStore?.();
  }
}

/** What it fails with: one that was not planned with the time to wait is planned again. */
async function waits(of: Of, place: string, inUse: number): Promise<Error> {
  const { deps, backup } = of;
  const { waiting = false, message: before } = backup.status?.progress ?? {};
  const message = `waits for its turn at ${place}: ${inUse} other backups use it`;
  const isLate = lateness(observed(deps, backup))?.status === 'False';
  const isReported = (backup.status?.conditions ?? []).some(
    ({ type, status }) => type === 'OnSchedule' && status === 'False',
  );
  if (!waiting || message !== before || isLate !== isReported)
    await recordRun(deps, { ref: of.ref, startedAt: of.step.startedAt }, (status, read) =>
      withLateness(observed(deps, read), {
        ...status,
        progress: { ...status.progress, waiting: true, message },
      }),
    );
  if (of.step.waits !== true) return preconditionChanged(message);
  const waitedSeconds = (deps.now() - (parseTimestamp(of.step.startedAt) ?? deps.now())) / 1_000;
  const nextRetryDelay = 1_000 * secondsToWait(waitedSeconds, Math.random());
  return ApplicationFailure.create({ message, type: 'WaitsForTurn' satisfies FailureType, nextRetryDelay });
}

type Turn = 'turnAt' | 'nodeTurnAt';

/** Records that these turns have come: from now on the run does not wait for them. */
async function recordTurns({ deps, ref, step: { startedAt } }: Of, turns: readonly Turn[]): Promise<void> {
  await recordRun(deps, { ref, startedAt }, ({ progress = {}, ...status }) => {
    const { waiting: _, message: __, ...kept } = progress;
    const now = timestamp(deps.now());
    return { ...status, progress: { ...kept, ...Object.fromEntries(turns.map(turn => [turn, now])) } };
  });
}

/** The server and the bucket, the container, or the claim of a namespace. */
export function storeOf({ spec, metadata }: EtcdBackup): string {
  const { scheme, container } = STORES[spec.storageType];
  const { endpoint = '' } = serverOf(spec);
  const name = placeOf(spec)?.container ?? '';
  if (container === 'claim') return `${scheme}://${metadata.namespace}/${name}`;
  return endpoint === '' ? `${scheme}://${name}` : `${scheme}://${name} at ${endpoint}`;
}
