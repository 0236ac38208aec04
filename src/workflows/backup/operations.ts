/** The operations of an EtcdBackup, each in the one slot of its resource; one interpreter for all (engine/operation-reducer.ts). */
import { getExternalWorkflowHandle, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { BackupDecision, BackupOperation } from '../../activities/index.ts';
import { OperationDriver } from '../temporal/operation-driver.ts';
import { type BackupEnding, endedSignal, stopSignal } from '../messages/backup.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { requestFrom } from '../messages/words.ts';
import { assessBackup, performBackup } from './perform.ts';
import { type BackupRun, backupRunRules, endingOf } from './rules.ts';

type Operate = Extract<BackupDecision, { kind: 'operate' }>;

export interface BackupRunInput {
  readonly ref: ResourceRef;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Operate;
}

async function interpret({ ref, entity, decision }: BackupRunInput): Promise<BackupEnding> {
  const driver = new OperationDriver<BackupRun>(
    backupRunRules,
    { decision, control: {} },
    {
      look: actor => assessBackup(ref, actor, entity),
      perform: now => {
        setCurrentDetails(`**${now.operation}**\n1. ${now.summary}`);
        return performBackup(ref, now);
      },
      // Only its end concerns the entity, which looks for itself.
      report: () => undefined,
      // Waited for: the server drops a signal of a workflow that completes with the same task.
      finish: (run, outcome) =>
        getExternalWorkflowHandle(entity)
          .signal(endedSignal, endingOf(run.decision, outcome))
          .catch(() => undefined),
    },
  );
  // Whoever sends it by hand sends whatever they send; that it was sent must be known, or the loop would never end.
  setHandler(stopSignal, by => driver.hear({ abort: requestFrom(by) }));
  const run = await driver.run();
  return endingOf(run.decision, run.outcome);
}

/** Makes one backup: a snapshot in the store, its manifest, and its verification. */
export async function takeBackup(input: BackupRunInput): Promise<BackupEnding> {
  return interpret(input);
}

/** Deletes the backups that retention does not keep. */
export async function pruneBackups(input: BackupRunInput): Promise<BackupEnding> {
  return interpret(input);
}

/** Lets a deleted EtcdBackup go; its objects stay. */
export async function releaseBackup(input: BackupRunInput): Promise<BackupEnding> {
  return interpret(input);
}

/** The workflow types above, by operation. */
export const BACKUP_WORKFLOWS: Record<BackupOperation, typeof takeBackup> = {
  takeBackup,
  pruneBackups,
  releaseBackup,
};
