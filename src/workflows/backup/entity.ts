/**
 * The entity of one EtcdBackup: lives as long as the resource. It waits until something changed or a backup is due, has
 * a pass made, and runs what the pass plans as a child in the one slot there is. While a backup runs it goes on looking:
 * an edit is seen at once, and a deletion ends the backup. How it goes from one to the next is the engine's (engine/machine.ts).
 */
import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { EntityDriver, never, type Ports } from '../temporal/entity-driver.ts';
import { type Carried, type Entity, newEntity } from '../engine/entity.ts';
import { inSlot, resultOf, startInSlot } from '../temporal/slot.ts';
import { type BackupEnding, stopSignal } from '../messages/backup.ts';
import type { ResourceRef } from '../messages/resource.ts';
import { publishBackup } from '../messages/search-attributes.ts';
import { backupDetails } from './details.ts';
import { handleBackupMessages } from './handlers.ts';
import { BACKUP_WORKFLOWS } from './operations.ts';
import { NOBODY } from './people.ts';
import { assessBackup } from './perform.ts';
import { type BackupKind, backupRules } from './rules.ts';

export interface BackupInput extends ResourceRef {
  /** What survives into the next run, and the search attributes as they were last written; see publishBackup. */
  readonly carried?: Carried<BackupKind> & { readonly published: string };
}

/** Ends when the resource is gone. */
export async function etcdBackup({ namespace, name, uid, carried }: BackupInput): Promise<void> {
  const ref = { namespace, name, uid };
  let { published, ...state } = carried ?? { people: NOBODY, published: '' };
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

function portsOf(ref: ResourceRef): Omit<Ports<BackupKind>, 'show'> {
  const entity = workflowInfo().workflowId;
  return {
    look: actor => assessBackup(ref, actor, entity),
    perform: never,
    tell: by => inSlot().signal(stopSignal, by),
    start: async decision => {
      const { operation, step } = decision;
      const child = await startInSlot(BACKUP_WORKFLOWS[operation], {
        args: [{ ref, entity, decision }],
        summary: `${operation} ${ref.namespace}/${ref.name}`,
      });
      if (child === undefined) return undefined;
      const endingOf = (result: BackupEnding | string): BackupEnding => {
        if (typeof result !== 'string') return result;
        const run = 'startedAt' in step ? { startedAt: step.startedAt } : {};
        return { operation, outcome: 'failed', message: result, ...run };
      };
      const result = resultOf(child, operation).then(endingOf);
      return { result: result.then(ending => ({ kind: 'ended', ending })) };
    },
  };
}
