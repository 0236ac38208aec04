/**
 * The entity of one EtcdBackup: lives as long as the resource. It waits until something changed or a backup is due, has
 * a pass made, and runs what the pass plans as a child in the one slot there is. While a backup runs it goes on looking:
 * an edit is seen at once, and a deletion ends the backup. How it goes from one to the next is the engine's (engine/machine.ts).
 */
import type { ResourceId } from '../../api/names.ts';
import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { EntityDriver, never, type Ports } from '../temporal/entity-driver.ts';
import { type Carried, type Entity, newEntity } from '../engine/entity.ts';
import { assess } from '../temporal/activities.ts';
import { inSlot, startInSlot } from '../temporal/slot.ts';
import { type BackupEnding, stopSignal } from '../messages/backup.ts';
import { publishBackup } from '../messages/search-attributes.ts';
import { isBackupAssessment } from '../messages/shapes.ts';
import { backupDetails } from './details.ts';
import { handleBackupMessages } from './handlers.ts';
import type { performBackupOperation } from './operations.ts';
import { NOTHING_ASKED } from './people.ts';
import { type BackupKind, backupRules, endingOf } from './rules.ts';

export interface BackupInput extends ResourceId {
  /** What survives into the next run, and the search attributes as they were last written; see publishBackup. */
  readonly carried?: Carried<BackupKind> & { readonly published: string };
}

/** Ends when the resource is gone. */
export async function etcdBackup({ namespace, name, uid, carried }: BackupInput): Promise<void> {
  const ref = { namespace, name, uid };
  let { published, ...state } = carried ?? { people: NOTHING_ASKED, published: '' };
  const driver = new EntityDriver(backupRules, newEntity<BackupKind>(state), {
    ...portsOf(ref),
    show: entity => {
      show(entity);
      if (entity.assessment !== undefined) published = publishBackup(entity.assessment, published);
    },
  });
  handleBackupMessages(driver);
  show(driver.entity);
  const next = await driver.run();
  if (next !== undefined) await continueAsNew<typeof etcdBackup>({ ...ref, carried: { ...next, published } });
}

function show({ assessment }: Entity<BackupKind>): void {
  if (assessment !== undefined) setCurrentDetails(backupDetails(assessment));
}

function portsOf(ref: ResourceId): Omit<Ports<BackupKind>, 'show'> {
  const entity = workflowInfo().workflowId;
  return {
    look: actor => assess('assessBackup', { ref, entity, actor }, isBackupAssessment),
    perform: never,
    signal: by => inSlot().signal(stopSignal, by),
    start: async decision => {
      const child = await startInSlot<typeof performBackupOperation>(decision.operation, ref, {
        args: [{ ref, entity, decision }],
      });
      return child && { result: child.result.then(result => endedOf(decision, result)) };
    },
  };
}

/** One that has no result has failed. */
function endedOf(decision: BackupKind['Decision'], result: BackupEnding | string) {
  const failed = typeof result === 'string';
  const ending = failed ? endingOf(decision, { outcome: 'failed', message: result }) : result;
  return { kind: 'ended', ending } as const;
}
