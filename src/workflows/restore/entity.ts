/**
 * The entity of one EtcdRestore: examines the backup, makes the cluster where one is to be made, and then follows what the
 * workflow of the cluster does. It ends when the restore has ended; a change of the resource starts it again, and it
 * looks. How it goes from one to the next is the engine's (engine/machine.ts).
 */
import {
  ActivityFailure,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  rootCause,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, RestoreActor, RestoreAssessment } from '../../activities/index.ts';
import { workflowId } from '../../api/names.ts';
import { EntityDriver, never } from '../temporal/entity-driver.ts';
import { type Carried, newEntity } from '../engine/entity.ts';
import { optionsOf, untilLooked } from '../temporal/looking.ts';
import { plain } from '../messages/markdown.ts';
import { changedSignal, type ResourceRef, resyncSignal } from '../messages/resource.ts';
import { isRestoreAssessment } from '../messages/shapes.ts';
import { NOBODY, type RestoreKind, restoreRules } from './rules.ts';

export interface RestoreInput extends ResourceRef {
  /** What survives into the next run. */
  readonly carried?: Carried<RestoreKind>;
}

/** Ends when the restore has ended. */
export async function etcdRestore({ namespace, name, uid, carried }: RestoreInput): Promise<void> {
  const ref = { namespace, name, uid };
  const driver = new EntityDriver(restoreRules, newEntity<RestoreKind>(carried ?? { people: NOBODY }), {
    look: actor => look(ref, actor),
    show: ({ assessment }) => assessment && setCurrentDetails(detailsOf(assessment)),
    start: never,
    perform: decision => perform(ref, decision),
    // It may not run: the watcher sees to that.
    tell: cluster =>
      getExternalWorkflowHandle(workflowId({ kind: 'EtcdCluster', ...cluster })).signal(changedSignal),
  });
  const changed = () => driver.dispatch({ kind: 'changed' });
  const resync = () => driver.dispatch({ kind: 'message', message: 'resync' });
  setHandler(changedSignal, changed, { description: 'look again (sent by the watcher)' });
  setHandler(resyncSignal, resync, { description: 'look again now, also at refused restores' });
  setDefaultSignalHandler(signal => log.warn('unknown signal', { signal }));
  const next = await driver.run();
  if (next !== undefined) await continueAsNew<typeof etcdRestore>({ ...ref, carried: next });
}

function look(ref: ResourceRef, actor: RestoreActor): Promise<RestoreAssessment> {
  const summary = `look at ${ref.namespace}/${ref.name}`;
  const { workflowId: id } = workflowInfo();
  return untilLooked(
    summary,
    activities => activities.assessRestore(ref, { actor, workflowId: id }),
    isRestoreAssessment,
  );
}

async function perform(
  ref: ResourceRef,
  { step, timing, summary }: RestoreKind['Decision'],
): Promise<RestoreKind['Ending']> {
  const activities = proxyActivities<Activities>({ ...optionsOf(timing), summary });
  try {
    if (step.kind === 'examineBackup') await activities.examineBackup(ref, step);
    else await activities.createRestored(ref);
    return { failure: undefined };
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { failure: rootCause(error) ?? error.message };
  }
}

function detailsOf({ decision, summary }: RestoreAssessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const { phase = 'Pending', step, reason } = summary;
  const kind = decision.kind === 'refused' ? 'Refused' : 'Blocked';
  const blocked = 'reason' in decision ? `${kind}: ${decision.reason}. ` : '';
  return `**${phase}**\n\n${blocked}${plain(reason ?? step ?? '')}`;
}
