/** The operations of an EtcdBackup, each in the one slot of its resource; one interpreter for all (engine/operation-reducer.ts). */
import type { ResourceId } from '../../api/names.ts';
import { getExternalWorkflowHandle, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { BackupDecision } from '../../activities/index.ts';
import { assess, perform } from '../temporal/activities.ts';
import { OperationDriver } from '../temporal/operation-driver.ts';
import { type BackupEnding, endedSignal, stopSignal } from '../messages/backup.ts';
import { isBackupAssessment } from '../messages/shapes.ts';
import { decisionDetails } from '../messages/markdown.ts';
import { requestFrom } from '../messages/text.ts';
import { type BackupRun, backupRunRules, endingOf } from './rules.ts';

type Operate = Extract<BackupDecision, { kind: 'operate' }>;

export interface BackupRunInput {
  readonly ref: ResourceId;
  /** The workflow id of the entity that asked. */
  readonly entity: string;
  readonly decision: Operate;
}

/** Performs an operation; index.ts names the workflow types. */
export async function performBackupOperation({
  ref,
  entity,
  decision,
}: BackupRunInput): Promise<BackupEnding> {
  const driver = new OperationDriver<BackupRun>(
    backupRunRules,
    { decision, control: {} },
    {
      look: actor => assess('assessBackup', { ref, entity, actor }, isBackupAssessment),
      perform: now => {
        setCurrentDetails(decisionDetails(now, [now.summary]));
        return perform(ref, now, now.summary);
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
  // Sent by hand it can contain anything; whatever it contains, the run ends.
  setHandler(stopSignal, by => driver.setControl({ abort: requestFrom(by) }));
  const run = await driver.run();
  return endingOf(run.decision, run.outcome);
}
