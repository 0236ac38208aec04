/**
 * The entity of one EtcdRestore: examines the backup, makes the cluster where one is to be made, and then follows what the
 * workflow of the cluster does. It ends when the restore has ended; a change of the resource starts it again, and it
 * looks.
 */
import {
  ActivityFailure,
  CancellationScope,
  condition,
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
import { workflowId } from '../api/names.ts';
import type { Activities, RestoreActor, RestoreAssessment, RestoreDecision } from '../activities/index.ts';
import { isLong } from './long-history.ts';
import { movingData, untilLooked } from './looking.ts';
import { plain } from './markdown.ts';
import { changedSignal, type ResourceRef, resyncSignal } from './messages.ts';
import { isRestoreAssessment } from './shapes.ts';

/** How often the work of the cluster's workflow is looked at: it tells nobody of its steps. */
const FOLLOW = '5s';
const BLOCKED = '30s';

export interface RestoreInput extends ResourceRef {
  readonly failures?: number;
  readonly actor?: RestoreActor;
  /** Another look was asked for at what was refused, and not taken yet. */
  readonly again?: boolean;
  /** What keeps the restore from beginning, as the workflow of the cluster was last told. */
  readonly told?: string;
}

export async function etcdRestore(input: RestoreInput): Promise<void> {
  const entity = new RestoreEntity(input);
  // The resource is still there: what takes a restore back is its deletion, or an abort at the workflow of its cluster.
  CancellationScope.current().cancelRequested.catch(() => entity.cancel());
  return CancellationScope.nonCancellable(() => entity.run());
}

class RestoreEntity {
  readonly #ref: ResourceRef;
  /** Failures in a row, for the back-off. */
  #failures: number;
  #dirty = false;
  #again: boolean;
  #cancelled = false;
  #actor: RestoreActor;
  #told: string | undefined;

  constructor({ namespace, name, uid, failures = 0, actor = {}, again = false, told }: RestoreInput) {
    this.#ref = { namespace, name, uid };
    this.#failures = failures;
    this.#actor = actor;
    this.#again = again;
    this.#told = told;
    const wake = () => void (this.#dirty = true);
    setHandler(changedSignal, wake, { description: 'look again (sent by the watcher)' });
    const lookAgain = () => {
      this.#again = true;
      wake();
    };
    setHandler(resyncSignal, lookAgain, { description: 'look now, also at what was refused' });
    setDefaultSignalHandler(signal => log.warn('unknown signal', { signal }));
  }

  /** A run is cancelled once; the next one can be cancelled again, so this one ends soon. */
  cancel(): void {
    this.#cancelled = true;
    this.#dirty = true;
  }

  async run(): Promise<void> {
    for (;;) {
      const actor = { ...this.#actor, ...(this.#again && { again: true }) };
      this.#dirty = false;
      this.#again = false;
      const assessment = await look(this.#ref, actor);
      const { decision, summary } = assessment;
      setCurrentDetails(detailsOf(assessment));
      // The workflow of the cluster cannot know that there is something for it to do or to say, or nothing any more.
      const isHandedOver = decision.kind === 'waiting' && summary?.phase === 'Fencing';
      const obstacle = 'reason' in decision ? `${decision.kind} ${decision.reason}` : undefined;
      if (isHandedOver || decision.kind === 'ended' || obstacle !== this.#told) await tellCluster(assessment);
      this.#told = obstacle;
      if (decision.kind === 'ended') return;
      if (decision.kind === 'operate') await this.#operate(decision);
      else await this.#wait(decision);
      if (isLong() || this.#cancelled)
        await continueAsNew<typeof etcdRestore>({
          ...this.#ref,
          failures: this.#failures,
          actor: this.#actor,
          again: this.#again,
          ...(this.#told !== undefined && { told: this.#told }),
        });
    }
  }

  /** Until something may have changed. What is refused stays so until it is told otherwise. */
  async #wait({ kind }: RestoreDecision): Promise<void> {
    if (kind === 'refused') await condition(() => this.#dirty);
    else await condition(() => this.#dirty, kind === 'waiting' ? FOLLOW : BLOCKED);
  }

  async #operate(decision: Extract<RestoreDecision, { kind: 'operate' }>): Promise<void> {
    const message = await perform(this.#ref, decision);
    this.#actor = message === undefined ? {} : { failed: { message } };
    this.#failures = message === undefined ? 0 : this.#failures + 1;
    if (message === undefined) return;
    // Said at once, tried again later.
    setCurrentDetails(detailsOf(await look(this.#ref, this.#actor)));
    await condition(() => this.#dirty, Math.min(10_000 * 2 ** (this.#failures - 1), 600_000));
  }
}

function look(ref: ResourceRef, actor: RestoreActor): Promise<RestoreAssessment> {
  const summary = `look at ${ref.namespace}/${ref.name}`;
  const { workflowId } = workflowInfo();
  return untilLooked(
    summary,
    activities => activities.assessRestore(ref, { actor, workflowId }),
    isRestoreAssessment,
  );
}

/** How it failed; undefined: it did not. */
async function perform(
  ref: ResourceRef,
  { step, summary }: Extract<RestoreDecision, { kind: 'operate' }>,
): Promise<string | undefined> {
  const activities = proxyActivities<Activities>({ ...movingData(), summary });
  try {
    if (step.kind === 'examineBackup') await activities.examineBackup(ref, step);
    else await activities.createRestored(ref);
    return undefined;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return rootCause(error) ?? error.message;
  }
}

async function tellCluster({ cluster }: RestoreAssessment): Promise<void> {
  if (cluster === undefined) return;
  // It may not run: the watcher sees to that.
  await getExternalWorkflowHandle(workflowId({ kind: 'EtcdCluster', ...cluster }))
    .signal(changedSignal)
    .catch(() => undefined);
}

function detailsOf({ decision, summary }: RestoreAssessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const { phase = 'Pending', step, reason } = summary;
  const kind = decision.kind === 'refused' ? 'Refused' : 'Blocked';
  const blocked = 'reason' in decision ? `${kind}: ${decision.reason}. ` : '';
  return `**${phase}**\n\n${blocked}${plain(reason ?? step ?? '')}`;
}
