/** Registers the handlers of an EtcdBackup's messages, and answers its queries. */
import { setHandler, uuid4 } from '@temporalio/workflow';
import {
  abort,
  type BackupState,
  pause,
  requestBackup,
  requestVerification,
  resume,
  resync,
} from '../backup/state.ts';
import { wantedFrom } from '../backup/verifications.ts';
import {
  type BackupAnswer,
  type BackupPlanAnswer,
  backupSignal,
  backupUpdate,
  verifyUpdate,
} from '../messages/backup.ts';
import { refusal } from '../messages/refusal.ts';
import { isBackupEnding } from '../messages/shapes.ts';
import { requestOf } from '../messages/text.ts';
import { handleCommonMessages, ignoreUnknownSignals, received } from './handlers.ts';

/** How long a verification may wait for its turn. */
const HOUR_MS = 3_600_000;

export function handleBackupMessages(backup: BackupState): void {
  handleCommonMessages({
    describe: {
      resync: 'reconcile now, also with the store',
      pause: 'start no backups: {"by": "…", "reason": "…"}',
      abort: 'end the running backup: {"by": "…", "reason": "…"}',
    },
    changed: () => void (backup.changed = true),
    pause: request => pause(backup, request),
    resume: () => resume(backup),
    resync: () => resync(backup),
    abort: request => abort(backup, request),
    paused: 'paused: no backup is started',
    aborted: () =>
      backup.running === undefined
        ? 'nothing to abort: no backup is running'
        : `${backup.running} is aborted`,
    received: async () => {},
    ended(sent) {
      if (!isBackupEnding(sent)) return 'rejected';
      backup.reported = sent;
      return 'taken';
    },
    status: () => statusAnswer(backup),
    plan: () => planAnswer(backup),
  });
  const take = (sent: unknown) => requestBackup(backup, received(sent));
  setHandler(backupSignal, take, { description: 'create a backup now: {"by": "…", "reason": "…"}' });
  setHandler(backupUpdate, sent => {
    take(sent);
    return backup.running === 'takeBackup' ? 'a backup will follow the running one' : 'a backup is starting';
  });
  setHandler(
    verifyUpdate,
    sent => {
      const wanted = wantedFrom(sent);
      if (typeof wanted === 'string') throw refusal(wanted);
      const expiresAt = Date.now() + HOUR_MS;
      requestVerification(backup, { uid: uuid4(), request: received(sent), wanted, expiresAt });
      return 'the verification is recorded: its verdict will be status.verification of the EtcdBackup';
    },
    {
      description: 'verify a stored backup: {"location": "…", "level": "Restore", "by": "…", "reason": "…"}',
      validator: sent => {
        const wanted = wantedFrom(sent);
        if (typeof wanted === 'string') throw refusal(wanted);
      },
    },
  );
  ignoreUnknownSignals();
}

function statusAnswer({ paused, running, assessment }: BackupState): BackupAnswer {
  return {
    ...(paused && { paused: requestOf(paused) }),
    ...(running && { operation: running }),
    ...(assessment?.summary && { backup: assessment.summary }),
  };
}

function planAnswer({ assessment }: BackupState): BackupPlanAnswer {
  const decision = assessment?.decision;
  const nextRun = assessment?.summary?.nextRun;
  const next = nextRun === undefined ? {} : { nextRun };
  if (decision?.kind === 'operate')
    return { operation: decision.operation, steps: [decision.summary], ...next };
  if (decision?.kind !== 'blocked') return { steps: [], ...next };
  return { steps: [], ...next, blocked: { reason: decision.reason, message: decision.message } };
}
