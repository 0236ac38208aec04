/** The copies in the second store: what is missing there, what is too much, and what the condition Copied says. Pure. */
import { isElsewhere, keyOfCopy, locationOf, placeOf, serverOf } from '../../api/derived/backup-names.ts';
import { inSecondStore } from '../../api/derived/store-of-specification.ts';
import { type ConditionFinding, finding, type ReasonOf } from '../../api/conditions/catalogue.ts';
import { conditionEvent } from '../../api/condition-event.ts';
import type { ResourceEvent } from '../../api/events.ts';
import { stamped, withCondition } from '../../api/conditions/stamped.ts';
import type { BackupEntry, EtcdBackup, EtcdBackupStatus } from '../../api/schemas/types.ts';
import { secondStoreFaults } from '../../api/validation/store-faults.ts';
import { validateBackup } from '../../api/validation/validate.ts';
import { type Backoff, backoffMs } from '../../api/values/backoff.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { isVerified } from '../model/newest-entry.ts';
import { recordedOf } from '../model/steps/row.ts';
import { DAY, MINUTE } from './calendar.ts';
import type { BackupDecision, BackupFacts, BackupObservation, BackupWorkflowState } from './observation.ts';
import { asKept } from './plan.ts';
import { type KeptBackup, toDelete } from './retention.ts';
import { BACKUP_STEPS } from './steps.ts';

/** A store that is away comes back by itself; one that refuses is corrected by a person, who need not wait for long. */
const RETRY: Backoff = { firstMs: MINUTE, maxMs: 30 * MINUTE };
/** What others do to the second store is noticed within this time. */
const LOOK_AGAIN_MS = DAY;

type SecondStore = NonNullable<EtcdBackupStatus['secondStore']>;

/** Where the copy of a backup belongs; undefined: there is no second store, or the backup is of another path than the present one. */
export function placeOfCopy(
  backup: Pick<EtcdBackup, 'spec'>,
  entry: BackupEntry,
): { readonly key: string; readonly copyKey: string; readonly location: string } | undefined {
  const second = inSecondStore(backup);
  const place = placeOf(backup.spec);
  const other = second && placeOf(second.spec);
  if (second === undefined || place === undefined || other === undefined) return undefined;
  const prefix = locationOf(backup.spec, { ...place, key: '' });
  if (!entry.location.startsWith(prefix) || isElsewhere(entry, serverOf(backup.spec))) return undefined;
  const key = entry.location.slice(prefix.length);
  const copyKey = keyOfCopy(key, place.key, other.key);
  return copyKey === undefined
    ? undefined
    : { key, copyKey, location: locationOf(second.spec, { ...other, key: copyKey }) };
}

/** The copy of a backup, where it is in the second store that is named now. */
export function copyOf(
  backup: Pick<EtcdBackup, 'spec'>,
  entry: BackupEntry,
): NonNullable<BackupEntry['secondStore']> | undefined {
  const { secondStore: copy } = entry;
  const second = backup.spec.secondStore;
  const place = second && placeOf(second);
  if (copy === undefined || second === undefined || place === undefined) return undefined;
  if (isElsewhere(copy, serverOf(second))) return undefined;
  return copy.location.startsWith(locationOf(second, place)) ? copy : undefined;
}

/** The backups that are to be copied, the newest first: that is the one that would be missed the most. */
export function missingCopies({
  object,
  status,
}: Pick<BackupFacts, 'object' | 'status'>): readonly BackupEntry[] {
  const { history = [], progress } = status;
  return history.filter(
    entry =>
      isVerified(entry) &&
      // What a run has written belongs to it until it is over.
      entry.time !== progress?.startedAt &&
      entry.heldIn !== 'Second' &&
      copyOf(object, entry) === undefined &&
      placeOfCopy(object, entry) !== undefined,
  );
}

/** The copies that the retention does not keep: it is asked of the second store alone, so what the first one has lost stays here. */
export function surplusCopies({ backup, now, needed }: BackupObservation): readonly KeptBackup[] {
  const { config, status, object } = backup;
  const copies = (status.history ?? []).filter(entry => copyOf(object, entry) !== undefined);
  const locked = copies.filter(({ secondStore }) => secondStore?.locked === true);
  const at = { timeZone: config.timeZone, now, needed };
  const isLocked = ({ location }: KeptBackup) => locked.some(entry => entry.location === location);
  return toDelete(copies.map(asKept), config.retention, at).filter(each => !isLocked(each));
}

/** What is to be done at the second store now, beside the operation of the EtcdBackup; undefined: nothing. */
export function planCopies(
  observation: BackupObservation,
  { paused }: BackupWorkflowState,
): Extract<BackupDecision, { kind: 'operate' }> | undefined {
  const { backup, now } = observation;
  if (backup.deleting || paused !== undefined || !mayCopy(backup)) return undefined;
  if (now < (nextPassAt(observation) ?? 0)) return undefined;
  const step = { kind: 'copyBackups' } as const;
  return { kind: 'operate', operation: 'copyBackups', step, ...recordedOf(BACKUP_STEPS, step) };
}

/** Whether the specification allows it, and nothing of the first store is in the way of a backup. */
export function mayCopy({ object, status }: Pick<BackupFacts, 'object' | 'status'>): boolean {
  const { spec } = object;
  if (spec.secondStore === undefined || secondStoreFaults(spec).length > 0) return false;
  if (validateBackup(object).blocking.length > 0) return false;
  // A volume may be lent to one node at a time: a copy must not keep a backup from it.
  return spec.storageType !== 'File' || status.progress === undefined;
}

/** When the second store is to be looked at next, in milliseconds since the epoch; undefined: at once. */
function nextPassAt(observation: BackupObservation): number | undefined {
  const { backup } = observation;
  const known = knownOf(backup);
  if (known.generation === backup.generation && known.retryAt !== undefined)
    return parseTimestamp(known.retryAt);
  if (known.lookedAt === undefined || missingCopies(backup).length > 0) return undefined;
  if (surplusCopies(observation).length > 0) return undefined;
  return (parseTimestamp(known.lookedAt) ?? 0) + LOOK_AGAIN_MS;
}

/** What status says of the second store that is named now. */
function knownOf({ object, status }: Pick<BackupFacts, 'object' | 'status'>): Partial<SecondStore> {
  const { secondStore: known } = status;
  return known?.location === locationOfStore(object) ? (known ?? {}) : {};
}

function locationOfStore({ spec }: EtcdBackup): string | undefined {
  const { secondStore: second } = spec;
  const place = second && placeOf(second);
  if (second === undefined || place === undefined) return undefined;
  const { endpoint } = serverOf(second);
  const location = locationOf(second, place);
  return endpoint === undefined ? location : `${location} at ${endpoint}`;
}

/** The decision, with a pass when the second store is to be looked at. */
export function lookAtCopiesInTime(decision: BackupDecision, observation: BackupObservation): BackupDecision {
  if (!('nextPassSeconds' in decision) || !mayCopy(observation.backup)) return decision;
  const { now } = observation;
  // What is begun at once may end without anybody who hears of it.
  const at = nextPassAt(observation) ?? now + MINUTE;
  const seconds = Math.max(1, Math.ceil((at - now) / 1_000));
  return { ...decision, nextPassSeconds: Math.min(decision.nextPassSeconds, seconds) };
}

export type CopyReason = Exclude<
  ReasonOf<'Copied'>,
  'AllCopied' | 'Copying' | 'SecondStoreInvalid' | 'NotLookedAt'
>;

/** Why something is not copied. */
export interface CopyFault {
  readonly reason: CopyReason;
  readonly message: string;
}

/** The state of the second store after an attempt has ended. @param fault undefined: everything that there was to do is done */
export function afterAttempt(
  known: SecondStore,
  fault: CopyFault | undefined,
  { now, generation }: { readonly now: number; readonly generation: number },
): SecondStore {
  const { reason: _, message: __, failures = 0, retryAt: ___, ...kept } = known;
  if (fault === undefined) return { ...kept, generation, lookedAt: timestamp(now) };
  return {
    ...kept,
    generation,
    reason: fault.reason,
    message: fault.message.slice(0, 4096),
    failures: failures + 1,
    retryAt: timestamp(now + backoffMs(RETRY, failures + 1)),
  };
}

/** A status with where each backup is, how far the copies are behind, and what the condition says of it. */
export function withCopies(
  { backup, now }: Pick<BackupObservation, 'backup' | 'now'>,
  status: EtcdBackupStatus,
): EtcdBackupStatus {
  const { secondStore: _, history, conditions, ...others } = status;
  const { object } = backup;
  const placed = history?.map(entry => withPlace(object, entry));
  const known = { ...others, ...(placed && { history: placed }) };
  const unrelated = conditions?.filter(({ type }) => type !== 'Copied');
  const location = locationOfStore(object);
  if (location === undefined) return { ...known, ...(unrelated && { conditions: unrelated }) };
  const secondStore = secondStoreOf({ object, status: { ...status, ...known } }, { location, now });
  const after = { ...known, secondStore };
  const stamp = { now: timestamp(now), generation: backup.generation };
  const condition = stamped(copied(object, after), conditions, stamp);
  return { ...after, conditions: withCondition(unrelated, condition) };
}

/** What a store that is named no more had is left out, unless that is all there is. */
function withPlace(object: EtcdBackup, entry: BackupEntry): BackupEntry {
  const { heldIn, secondStore: _, ...kept } = entry;
  if (heldIn === 'Second') return entry;
  const copy = copyOf(object, entry);
  if (object.spec.secondStore === undefined) return kept;
  if (copy === undefined) return { ...kept, heldIn: 'First' };
  // Another first store may have been named since.
  const isOfFirst = placeOfCopy(object, entry) !== undefined;
  return { ...kept, heldIn: isOfFirst ? 'Both' : 'Second', secondStore: copy };
}

function secondStoreOf(
  of: Pick<BackupFacts, 'object' | 'status'>,
  { location, now }: { readonly location: string; readonly now: number },
): SecondStore {
  const { behind: _, behindSince: __, ...known } = knownOf(of);
  const missing = missingCopies(of);
  const since = known.since ?? timestamp(now);
  const oldest = missing.map(({ time }) => time).toSorted()[0];
  const from =
    oldest === undefined ? undefined : Math.max(parseTimestamp(oldest) ?? 0, parseTimestamp(since) ?? 0);
  return {
    ...known,
    location,
    since,
    behind: missing.length,
    ...(from !== undefined && { behindSince: timestamp(from) }),
  };
}

function copied(object: EtcdBackup, { history = [], secondStore }: EtcdBackupStatus): ConditionFinding {
  const faults = secondStoreFaults(object.spec);
  if (faults.length > 0) return finding('Copied', 'SecondStoreInvalid', faults.join('; '));
  const { location = '', behind = 0, behindSince, lookedAt, reason, message, retryAt } = secondStore ?? {};
  const what =
    behind === 0
      ? ''
      : `${behind} of ${history.length} backups ${behind === 1 ? 'is' : 'are'} not in ${location}, since ${behindSince}`;
  if (reason !== undefined) {
    const again = retryAt === undefined ? '' : `; the operator tries again at ${retryAt}`;
    const why = `${message ?? 'no reason was given'}${again}`;
    return finding('Copied', reason as CopyReason, what === '' ? why : `${what}: ${why}`);
  }
  if (behind > 0) return finding('Copied', 'Copying', what);
  if (lookedAt === undefined) return finding('Copied', 'NotLookedAt');
  const alone = history.filter(({ heldIn }) => heldIn === 'Second').length;
  const only = alone === 0 ? '' : `, ${alone} of them only there: the first store does not have them`;
  const copies = history.filter(entry => copyOf(object, entry) !== undefined).length;
  return finding('Copied', 'AllCopied', `${location} has ${copies} backups${only}`);
}

/** Reasons that come and go with every backup. */
const USUAL: readonly string[] = ['Copying', 'AllCopied', 'NotLookedAt'] satisfies ReasonOf<'Copied'>[];

/** What users should hear of: that copies cannot be made, why, and that they are made again. */
export function copyEvents(before: EtcdBackupStatus, after: EtcdBackupStatus): readonly ResourceEvent[] {
  const of = ({ conditions }: EtcdBackupStatus) => conditions?.find(({ type }) => type === 'Copied');
  const [was, is] = [of(before), of(after)];
  if (is === undefined || is.reason === was?.reason) return [];
  const isOver = is.reason === 'AllCopied' && was !== undefined && !USUAL.includes(was.reason);
  return isOver || !USUAL.includes(is.reason) ? [conditionEvent(is)] : [];
}
