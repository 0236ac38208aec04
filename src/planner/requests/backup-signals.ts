/** What users asked the workflow of an EtcdBackup for by messages and is still open, as its status mirrors it (see signals.ts). Pure. */
import type { EtcdBackupStatus } from '../../api/schemas/types.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { BackupObservation, BackupWorkflowState, WaitingVerification } from '../backup/observation.ts';
import { dated, fromStatus } from './signals.ts';

type Signals = NonNullable<EtcdBackupStatus['signals']>;

export type OpenBackupSignals = Pick<
  BackupWorkflowState,
  'paused' | 'requested' | 'starting' | 'verifications'
>;

/** For the status; undefined: nothing is open. */
export function mirroredBackupSignals(
  { paused, requested, starting, verifications = [] }: OpenBackupSignals,
  { uid, status }: BackupObservation['backup'],
): Signals | undefined {
  const backup = [requested, starting].flatMap(asked => (asked ? [dated(asked)] : []));
  const [waiting] = backup.filter(asked => !hasBegunSince(status, asked));
  const signals = {
    ...(paused && { pause: dated(paused) }),
    ...(waiting && { backup: waiting }),
    ...(verifications.length > 0 && { verifications: verifications.map(mirroredVerification) }),
  };
  return Object.keys(signals).length === 0 ? undefined : { uid, ...signals };
}

function mirroredVerification({
  uid: id,
  location,
  level,
  cluster,
  expiresAt,
  ...asked
}: WaitingVerification) {
  return withoutUndefined<NonNullable<Signals['verifications']>[number]>({
    ...dated(asked),
    ...{ id, location, level, cluster },
    expiresAt: timestamp(expiresAt),
  });
}

/** What a run that begins anew takes over: a backup that has not begun since, and verifications that have not ended. */
export function takenOverByBackup(
  { now, backup: { uid, status } }: BackupObservation,
  { takesOver }: BackupWorkflowState,
): OpenBackupSignals {
  const { signals, verification } = status;
  if (takesOver === undefined || signals?.uid !== uid) return {};
  const { pause, backup, verifications = [] } = signals;
  const open = verifications.map(verificationFrom).filter(({ uid: id, expiresAt }) => {
    if (verification?.request === id) return verification.completedAt === undefined;
    return now <= expiresAt;
  });
  return {
    ...(pause && takesOver.pause === true && { paused: fromStatus(pause) }),
    ...(backup && !hasBegunSince(status, backup) && { requested: fromStatus(backup) }),
    ...(open.length > 0 && { verifications: open }),
  };
}

/**
 * Whether a requested run has begun since a backup was requested: it is that backup. Both times are whole seconds, so a run of the schedule may
 * have begun in the same second, before the request.
 */
function hasBegunSince(
  { progress, lastRun }: EtcdBackupStatus,
  { at }: NonNullable<Signals['backup']>,
): boolean {
  const run = progress?.startedAt === undefined ? lastRun : progress;
  if (run?.requestedBy === undefined) return false;
  const requested = parseTimestamp(at);
  const begun = parseTimestamp(run.startedAt);
  return requested !== undefined && begun !== undefined && begun >= requested;
}

function verificationFrom({
  id: uid,
  expiresAt,
  location,
  level,
  cluster,
  ...asked
}: NonNullable<Signals['verifications']>[number]): WaitingVerification {
  return withoutUndefined<WaitingVerification>({
    ...fromStatus(asked),
    ...{ uid, location, level, cluster },
    expiresAt: parseTimestamp(expiresAt) ?? 0,
  });
}
