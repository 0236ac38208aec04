/** Registers the handlers of an EtcdBackup's messages, and answers its queries. */
import { log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { EntityDriver } from '../temporal/entity-driver.ts';
import type { View } from '../engine/entity.ts';
import {
  type BackupAnswer,
  type BackupPlanAnswer,
  backupPlanQuery,
  backupSignal,
  backupStatusQuery,
  backupUpdate,
  endedSignal,
} from '../messages/backup.ts';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  pauseSignal,
  pauseUpdate,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
} from '../messages/resource.ts';
import { isBackupEnding } from '../messages/shapes.ts';
import { requestFrom } from '../messages/words.ts';
import type { BackupMessage } from './people.ts';
import type { BackupKind } from './rules.ts';

export function handleBackupMessages(driver: EntityDriver<BackupKind>): void {
  const say = (message: BackupMessage) => driver.dispatch({ kind: 'message', message });
  const ask = (kind: 'pause' | 'backup' | 'abort') => (sent: unknown) =>
    say({ kind, request: requestFrom(sent) });
  const [pause, backup, abort] = [ask('pause'), ask('backup'), ask('abort')];
  const resume = () => say({ kind: 'resume' });
  const changed = () => driver.dispatch({ kind: 'changed' });
  setHandler(changedSignal, changed, describe('look again (sent by the watcher)'));
  setHandler(backupSignal, backup, describe('create a backup now: {"by": "…", "reason": "…"}'));
  setHandler(pauseSignal, pause, describe('start no backups: {"by": "…", "reason": "…"}'));
  setHandler(resumeSignal, resume, describe('continue after a pause'));
  setHandler(resyncSignal, () => say({ kind: 'resync' }), describe('look again now, also into the store'));
  setHandler(abortSignal, abort, describe('end the running backup: {"by": "…", "reason": "…"}'));
  setHandler(endedSignal, ending => {
    if (isBackupEnding(ending)) driver.dispatch({ kind: 'reported', ending });
    else log.warn('a signal was rejected: only runs of a backup may send it', { signal: 'ended' });
  });
  setHandler(backupUpdate, request => {
    backup(request);
    const isTaken = driver.entity.running?.operation === 'takeBackup';
    return isTaken ? 'a backup will follow the running one' : 'a backup is starting';
  });
  setHandler(pauseUpdate, request => (pause(request), 'paused: no backup is started'));
  setHandler(resumeUpdate, () => (resume(), 'resumed'));
  setHandler(abortUpdate, request => {
    const { running } = driver.entity;
    if (running === undefined) return 'nothing to abort: no backup is running';
    abort(request);
    return `${running.operation} is aborted`;
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
  setHandler(
    backupStatusQuery,
    () => statusAnswer(driver.entity),
    describe('the state that the last pass observed'),
  );
  setHandler(
    backupPlanQuery,
    () => planAnswer(driver.entity),
    describe('the next step and the reason for it'),
  );
}

function describe(description: string) {
  return { description };
}

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
