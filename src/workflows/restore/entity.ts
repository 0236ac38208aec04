/**
 * The entity of one EtcdRestore: examines the backup, makes the cluster where one is to be made, and then follows what the
 * workflow of the cluster does. It ends when the restore has ended; a change of the resource starts it again, and it
 * looks. How it goes from one to the next is the engine's (engine/machine.ts).
 */
import {
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { RestoreAssessment } from '../../activities/index.ts';
import { type ResourceId, workflowId } from '../../api/names.ts';
import { EntityDriver, never } from '../temporal/entity-driver.ts';
import { type Carried, newEntity } from '../engine/entity.ts';
import { assess, perform } from '../temporal/activities.ts';
import { plain } from '../messages/markdown.ts';
import { changedSignal, resyncSignal } from '../messages/resource.ts';
import { publishRestore } from '../messages/search-attributes.ts';
import { isRestoreAssessment } from '../messages/shapes.ts';
import { NOTHING_ASKED, type RestoreKind, restoreRules } from './rules.ts';

export interface RestoreInput extends ResourceId {
  /** What survives into the next run, and the search attribute as it was last written; see publishRestore. */
  readonly carried?: Carried<RestoreKind> & { readonly published?: string };
}

/** Ends when the restore has ended. */
export async function etcdRestore({ namespace, name, uid, carried }: RestoreInput): Promise<void> {
  const ref = { namespace, name, uid };
  const entity = workflowInfo().workflowId;
  let { published = '', ...state } = carried ?? { people: NOTHING_ASKED };
  const driver = new EntityDriver(restoreRules, newEntity<RestoreKind>(state), {
    look: actor => assess('assessRestore', { ref, actor, entity }, isRestoreAssessment),
    show: ({ assessment }) => {
      if (assessment === undefined) return;
      setCurrentDetails(detailsOf(assessment));
      published = publishRestore(assessment, published);
    },
    start: never,
    perform: async decision => {
      const outcome = await perform(ref, decision, decision.summary);
      return { failure: outcome.kind === 'done' ? undefined : outcome.message };
    },
    // It may not run: the watcher sees to that.
    signal: cluster =>
      getExternalWorkflowHandle(workflowId({ kind: 'EtcdCluster', ...cluster })).signal(changedSignal),
  });
  const changed = () => driver.dispatch({ kind: 'changed' });
  const resync = () => driver.dispatch({ kind: 'message', message: 'resync' });
  setHandler(changedSignal, changed, { description: 'look again (sent by the watcher)' });
  setHandler(resyncSignal, resync, { description: 'look again now, also at refused restores' });
  setDefaultSignalHandler(signal => log.warn('unknown signal', { signal }));
  const next = await driver.run();
  if (next !== undefined)
    await continueAsNew<typeof etcdRestore>({ ...ref, carried: { ...next, published } });
}

function detailsOf({ decision, summary }: RestoreAssessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const { phase = 'Pending', step, reason } = summary;
  const kind = decision.kind === 'refused' ? 'Refused' : 'Blocked';
  const blocked = 'reason' in decision ? `${kind}: ${decision.reason}. ` : '';
  return `**${phase}**\n\n${blocked}${plain(reason ?? step ?? '')}`;
}
