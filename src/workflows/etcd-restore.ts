/**
 * The workflow of an EtcdRestore: examines the backup, makes the cluster where one is to be made, and then follows what the workflow of the
 * cluster does. It ends when the restore has ended; a change of the resource starts it again, and it makes a pass.
 */
import { backoffMs } from '../api/values/backoff.ts';
import type { ResourceId } from '../api/names.ts';
import type { RestoreWorkflowState, RestoreAssessment, RestoreDecision } from '../activities/index.ts';
import { type Host, isOver, type ResourceState, rest, type RunEnd } from './host.ts';
import type { StepOutcome } from './operation.ts';
import { answered, type FailedPass, type PassHost, type PassState } from './passes.ts';

export type RestoreWork = Extract<RestoreDecision, { kind: 'operate' }>;

export interface RestoreHost extends Host, PassHost {
  pass(workflowState: RestoreWorkflowState): Promise<RestoreAssessment | FailedPass>;
  perform(work: RestoreWork): Promise<StepOutcome>;
  /** Has the workflow of the cluster make a pass. It may not run: the watcher sees to that. */
  wake(cluster: ResourceId): Promise<void>;
  /** Shows users the last pass. */
  show(): void;
}

/** What one run hands to the next. */
interface Remembered extends PassState {
  failed: RestoreWorkflowState['failed'];
  /** Steps that failed in a row, and until when the next one is held back. */
  failures: number;
  retryAt: number | undefined;
  /** Somebody asked for another examination of what was refused. */
  again: boolean;
  /** What kept the restore from beginning when the workflow of the cluster was last woken. */
  wokenReason: string | undefined;
  /** The search attribute as it was last written. */
  published: string;
}

export interface RestoreState extends Remembered, ResourceState {
  assessment: RestoreAssessment | undefined;
}

export type CarriedRestore = Readonly<Partial<Remembered>>;

/** The state of a run that begins. */
export function newRestore(carried: CarriedRestore = {}): RestoreState {
  return {
    failed: undefined,
    failures: 0,
    retryAt: undefined,
    again: false,
    wokenReason: undefined,
    published: '',
    passFailing: undefined,
    ...carried,
    assessment: undefined,
    changed: true,
    cancelled: false,
    gone: false,
  };
}

export function carriedRestore(restore: RestoreState): CarriedRestore {
  const { failed, failures, retryAt, again, wokenReason, published, passFailing } = restore;
  return { failed, failures, retryAt, again, wokenReason, published, passFailing };
}

export function resync(restore: RestoreState): void {
  restore.again = true;
  restore.changed = true;
}

const BACKOFF = { firstMs: 10_000, maxMs: 600_000 };
/** How often the work of the cluster's workflow is looked at: it does not report its steps. */
const FOLLOW_MS = 5_000;
const BLOCKED_MS = 30_000;

export async function runRestore(restore: RestoreState, host: RestoreHost): Promise<RunEnd> {
  for (;;) {
    if (isOver(restore, host)) return 'continueAsNew';
    const assessment = await pass(restore, host);
    if (assessment === undefined) {
      await rest(restore, host, restore.passFailing?.retryAt);
      continue;
    }
    const { decision } = assessment;
    const now = host.now();
    switch (decision.kind) {
      case 'ended':
        restore.gone = true;
        return 'gone';
      case 'operate':
        if (now >= (restore.retryAt ?? 0)) await perform(restore, host, decision);
        // A failure is shown at once, and tried again later, or when something changed.
        else {
          await rest(restore, host, restore.retryAt);
          // A run that continues this one is held back, too.
          if (restore.changed || host.now() >= (restore.retryAt ?? 0)) restore.retryAt = undefined;
        }
        break;
      case 'refused':
        // What is refused stays refused until a resync.
        await rest(restore, host);
        break;
      case 'waiting':
        await rest(restore, host, now + FOLLOW_MS);
        break;
      case 'blocked':
        await rest(restore, host, now + BLOCKED_MS);
    }
  }
}

async function pass(restore: RestoreState, host: RestoreHost): Promise<RestoreAssessment | undefined> {
  const { failed, again } = restore;
  restore.changed = false;
  restore.again = false;
  const workflowState = { ...(failed && { failed }), ...(again && { again }) };
  const assessment = await answered(restore, host, () => host.pass(workflowState));
  if (assessment === undefined) {
    restore.again ||= again;
    return undefined;
  }
  restore.assessment = assessment;
  host.show();
  await wakeCluster(restore, host, assessment);
  return assessment;
}

/** The workflow of the cluster cannot know by itself that the restore waits for it, or does not any more. */
async function wakeCluster(
  restore: RestoreState,
  host: RestoreHost,
  { decision, summary, cluster }: RestoreAssessment,
): Promise<void> {
  const isHandedOver = decision.kind === 'waiting' && summary?.phase === 'Fencing';
  const reason = 'reason' in decision ? `${decision.kind} ${decision.reason}` : undefined;
  const isNews = isHandedOver || decision.kind === 'ended' || reason !== restore.wokenReason;
  restore.wokenReason = reason;
  if (isNews && cluster !== undefined) await host.wake(cluster);
}

async function perform(restore: RestoreState, host: RestoreHost, work: RestoreWork): Promise<void> {
  const done = await host.perform(work);
  const hasFailed = done.kind !== 'done';
  restore.failed = hasFailed ? { message: done.message } : undefined;
  restore.failures = hasFailed ? restore.failures + 1 : 0;
  restore.retryAt = hasFailed ? host.now() + backoffMs(BACKOFF, restore.failures) : undefined;
}
