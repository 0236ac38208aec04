/** The workflow of an EtcdCluster: wait → pass → carry out the operation that the pass plans → wait, for as long as the resource exists. */
import { backoffMs } from '../api/values/backoff.ts';
import type { WorkflowState, Assessment, OpenSignals, RecordedRequests } from '../activities/index.ts';
import {
  stateForPass,
  afterPass,
  afterOperation,
  afterRequests,
  type ClusterState,
  type Ending,
  forgetExpired,
  openSignals,
  type Running,
} from './cluster/state.ts';
import { close, isOver, rest, type RunEnd } from './host.ts';
import type { Work } from './operation.ts';
import { answered, type FailedPass, type PassHost } from './passes.ts';
import { isPutBack, over, repeated, repeatsAtOnce, TRIES, waitsUntil } from './repeats.ts';
import { type SlotHost, type Started, untilEnded } from './slot.ts';

export interface ClusterHost extends SlotHost, PassHost {
  pass(workflowState: WorkflowState): Promise<Assessment | FailedPass>;
  /** Starts an operation; undefined: one that another run started is still under way. */
  start(work: Work, workflowState: WorkflowState): Promise<Started<Ending> | undefined>;
  /** Judges EtcdRequests while an operation is under way, and mirrors what users asked for in the status. Undefined: that failed. */
  recordRequests(
    open: OpenSignals & Pick<WorkflowState, 'spent'>,
    underWay: Running,
  ): Promise<RecordedRequests | undefined>;
  /** Shows users the last pass. */
  show(): void;
}

const BACKOFF = { firstMs: 5_000, maxMs: 300_000 };

/** Passes between steps judge EtcdRequests; a step that takes longer than this does not keep them waiting. */
const DURING_STEP_MS = 60_000;

export async function runCluster(cluster: ClusterState, host: ClusterHost): Promise<RunEnd> {
  // A run that continues another goes on with its operation.
  if (cluster.running !== undefined && !(await hasEnded(cluster, host, undefined))) return 'continueAsNew';
  for (;;) {
    if (isOver(cluster, host)) return 'continueAsNew';
    const assessment = await pass(cluster, host);
    if (assessment === undefined) {
      await rest(cluster, host, cluster.passFailing?.retryAt);
      continue;
    }
    const { decision } = assessment;
    if (decision.kind === 'gone') return close(cluster, host);
    // Somebody asked for something during the pass.
    if (decision.kind === 'operate' && cluster.asks.length > 0) continue;
    const until = restsUntil(cluster, decision, host.now());
    if (decision.kind !== 'operate' || until !== undefined) {
      await rest(cluster, host, until);
      continue;
    }
    if (!(await operate(cluster, host, decision))) return 'continueAsNew';
    if (cluster.assessment?.decision.kind === 'gone') return close(cluster, host);
  }
}

/** Until when there is nothing to do; undefined: the operation begins now. */
function restsUntil(
  cluster: ClusterState,
  decision: Exclude<Assessment['decision'], { kind: 'gone' }>,
  now: number,
): number | undefined {
  if (decision.kind === 'operate') return pausedUntil(cluster, decision, now);
  // An operation that failed is tried again, maybe before the next pass is due.
  const nextPass = now + decision.nextPassSeconds * 1_000;
  return Math.min(nextPass, cluster.failed?.retryAt ?? nextPass);
}

async function pass(cluster: ClusterState, host: ClusterHost): Promise<Assessment | undefined> {
  const began = host.now();
  forgetExpired(cluster, began);
  cluster.changed = false;
  cluster.asks = [];
  const recorded = asRecorded(cluster);
  const workflowState = { ...stateForPass(cluster), ...mayRepair(cluster, began) };
  const assessment = await answered(cluster, host, () => host.pass(workflowState));
  if (assessment === undefined) return undefined;
  cluster.recorded = recorded;
  noteRepair(cluster, assessment, { began, ended: host.now() });
  afterPass(cluster, assessment);
  host.show();
  return assessment;
}

/** What a pass may repair by itself. What has failed is tried again by an operation, whose success ends the back-off. */
function mayRepair({ failures, repeats }: ClusterState, now: number): Pick<WorkflowState, 'mayRepair'> {
  if (failures > 0) return {};
  return { mayRepair: repeatsAtOnce(repeats, now) ? 'all' : 'missing' };
}

/** What a pass has repaired counts as what an operation has: whether it was undone at once is seen by the same pass. */
function noteRepair(
  cluster: ClusterState,
  { repaired, decision, generation }: Assessment,
  { began, ended }: { readonly began: number; readonly ended: number },
): void {
  const of = repaired && putBack(repaired, generation);
  if (of === undefined) return;
  const isUndone = decision.kind === 'operate' && putBack(decision.step, generation) === of;
  cluster.repeats = over(repeated(cluster.repeats, of, began), isUndone, ended);
}

/** What a step puts back that somebody may change again at once, where the next time may wait; a person who edits the specification is answered at once. */
function putBack(step: Work['step'], generation: number): string | undefined {
  return isPutBack(step) ? `${step.kind} of generation ${generation}` : undefined;
}

/** Until when an operation waits because the same was done again and again; undefined: it begins now, and is counted. */
function pausedUntil(cluster: ClusterState, { step }: Work, now: number): number | undefined {
  const of = putBack(step, cluster.assessment?.generation ?? 0);
  if (of === undefined) return undefined;
  const until = waitsUntil(cluster.repeats, of, now);
  if (until === undefined) cluster.repeats = repeated(cluster.repeats, of, now);
  return until;
}

/** Carries out an operation as a child workflow, in the one slot there is. False: it goes on, and the next run is to follow it. */
async function operate(cluster: ClusterState, host: ClusterHost, work: Work): Promise<boolean> {
  const { operation, subject } = work;
  const generation = cluster.assessment?.generation ?? 0;
  cluster.running = { operation, generation, ...(subject !== undefined && { subject }) };
  cluster.reported = undefined;
  return hasEnded(cluster, host, await host.start(work, stateForPass(cluster)));
}

/** Waits for the end of the operation under way. @param started undefined: by another run */
async function hasEnded(
  cluster: ClusterState,
  host: ClusterHost,
  started: Started<Ending> | undefined,
): Promise<boolean> {
  cluster.judgedAt ??= host.now();
  let hasFailed = false;
  const meanwhile = {
    due() {
      if (!cluster.changed) return undefined;
      const isNews = asRecorded(cluster) !== cluster.recorded && !hasFailed;
      return isNews ? 0 : (cluster.judgedAt ?? 0) + DURING_STEP_MS;
    },
    async act() {
      cluster.judgedAt = host.now();
      hasFailed = !(await recordRequests(cluster, host));
      cluster.changed ||= hasFailed;
    },
  };
  const ending = await untilEnded(cluster, host, { started, meanwhile });
  if (ending === 'left') return false;
  cluster.judgedAt = undefined;
  if (ending !== 'lost') conclude(cluster, host, ending);
  // How it ended is not known: an abort of it holds.
  else if (cluster.running !== undefined)
    afterOperation(cluster, { operation: cluster.running.operation, outcome: 'handedBack' }, host.now());
  return true;
}

/**
 * What users ask its workflow for while an operation is under way, the passes of the operation do not know; and none judges EtcdRequests before its
 * step has ended. A pass follows the end of the operation, whatever has changed.
 * @returns whether it succeeded
 */
async function recordRequests(cluster: ClusterState, host: ClusterHost): Promise<boolean> {
  cluster.changed = false;
  const { running, spent } = cluster;
  if (running === undefined) return true;
  const recorded = asRecorded(cluster);
  const answer = await host.recordRequests({ ...openSignals(cluster), spent }, running);
  if (answer === undefined) return false;
  cluster.recorded = recorded;
  afterRequests(cluster, answer);
  return true;
}

function asRecorded(cluster: ClusterState): string {
  return JSON.stringify([openSignals(cluster), cluster.spent]);
}

function conclude(cluster: ClusterState, host: ClusterHost, ending: Ending): void {
  const now = host.now();
  const { assessment, outcome, message } = ending;
  const isUndone = outcome === 'handedBack' && message !== undefined;
  const repeats = over(cluster.repeats, isUndone, now);
  const hasFailed = outcome === 'failed' || (isUndone && (repeats?.undone ?? 0) >= TRIES);
  // After a failure it is counted anew.
  cluster.repeats = hasFailed ? over(cluster.repeats, false, now) : repeats;
  cluster.failures = hasFailed ? cluster.failures + 1 : 0;
  if (assessment !== undefined) afterPass(cluster, assessment);
  const retryAt = now + backoffMs(BACKOFF, cluster.failures);
  afterOperation(cluster, hasFailed ? { ...ending, outcome: 'failed' } : ending, retryAt);
  host.show();
}
