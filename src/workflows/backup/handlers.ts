/** Registers the handlers of an EtcdBackup's messages, and answers its queries. */
import { log, setDefaultSignalHandler, setHandler, uuid4 } from '@temporalio/workflow';
import type { EntityDriver } from '../temporal/entity-driver.ts';
import { handleCommonMessages } from '../temporal/handlers.ts';
import type { View } from '../engine/entity.ts';
import {
  type BackupAnswer,
  type BackupPlanAnswer,
  backupSignal,
  backupUpdate,
  endedSignal,
  verifyUpdate,
} from '../messages/backup.ts';
import { isBackupEnding } from '../messages/shapes.ts';
import { refusal } from '../messages/refusal.ts';
import { requestFrom } from '../messages/text.ts';
import type { BackupKind } from './rules.ts';
import { wantedFrom } from './verifications.ts';

/** How long a verification that is no EtcdRequest may wait for its turn. */
const HOUR_MS = 3_600_000;

export function handleBackupMessages(driver: EntityDriver<BackupKind>): void {
  handleCommonMessages(driver, {
    describe: {
      resync: 'look again now, also into the store',
      pause: 'start no backups: {"by": "…", "reason": "…"}',
      abort: 'end the running backup: {"by": "…", "reason": "…"}',
    },
    paused: 'paused: no backup is started',
    confirm: answer => answer,
    abort: () => {
      const { running } = driver.entity;
      return running === undefined ? NOTHING_TO_ABORT : `${running.operation} is aborted`;
    },
    status: () => statusAnswer(driver.entity),
    plan: () => planAnswer(driver.entity),
  });
  const backup = (sent: unknown) =>
    driver.dispatch({
      kind: 'message',
      message: { kind: 'backup', request: requestFrom(sent) },
    });
  setHandler(backupSignal, backup, { description: 'create a backup now: {"by": "…", "reason": "…"}' });
  setHandler(backupUpdate, sent => {
    backup(sent);
    const isTaken = driver.entity.running?.operation === 'takeBackup';
    return isTaken ? 'a backup will follow the running one' : 'a backup is starting';
  });
  setHandler(
    verifyUpdate,
    sent => {
      const of = wantedFrom(sent);
      if (typeof of === 'string') throw refusal(of);
      const wanted = { uid: uuid4(), expiresAt: Date.now() + HOUR_MS, ...requestFrom(sent), ...of };
      driver.dispatch({ kind: 'message', message: { kind: 'verify', wanted } });
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
  setHandler(endedSignal, ending => {
    if (isBackupEnding(ending)) driver.dispatch({ kind: 'reported', ending });
    else log.warn('a signal was rejected: only runs of a backup may send it', { signal: 'ended' });
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
}

const NOTHING_TO_ABORT = 'nothing to abort: no backup is running';

function statusAnswer({ people: { paused }, running, assessment }: View<BackupKind>): BackupAnswer {
  return {
    ...(paused && { paused }),
    ...(running && { operation: running.operation }),
    ...(assessment?.summary && { backup: assessment.summary }),
  };
}

function planAnswer({ assessment }: View<BackupKind>): BackupPlanAnswer {
  const decision = assessment?.decision;
  const nextRun = assessment?.summary?.nextRun;
  const next = nextRun === undefined ? {} : { nextRun };
  if (decision?.kind === 'operate')
    return { operation: decision.operation, steps: [decision.summary], ...next };
  if (decision?.kind !== 'blocked') return { steps: [], ...next };
  return { steps: [], ...next, blocked: { reason: decision.reason, message: decision.message } };
}
