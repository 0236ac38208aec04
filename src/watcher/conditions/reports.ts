/** What the watcher finds out about Temporal, and says on the resources themselves. */
import type { WorkQueue } from '../queue/work-queue.ts';
import { workflowId } from '../../api/names.ts';
import type { ConditionWriter } from './condition-writer.ts';
import type { KnownResources } from '../resources/known-resources.ts';
import {
  type OwnFinding,
  temporalReachable,
  temporalUnavailable,
  workflowGoesOn,
  workflowStuck,
} from './own-conditions.ts';
import type { Clock, WatcherLogger } from '../model/ports.ts';
import type { TemporalPort, WorkflowProblem } from '../temporal/client.ts';

export interface ReportDeps {
  readonly queue: Pick<WorkQueue, 'unprocessed' | 'lastSucceeded' | 'isReachable'>;
  /** Has a resource reconciled behind those with work. */
  readonly enqueue: (key: string) => void;
  readonly known: KnownResources;
  readonly writer: ConditionWriter;
  readonly temporal: Pick<TemporalPort, 'problems'>;
  readonly clock: Clock;
  readonly logger: WatcherLogger;
}

/**
 * One round: `TemporalUnavailable` becomes True on every resource whose news has waited longer than `afterMs`
 * and failed to be delivered, and False on every resource that says so and whose news has got through.
 */
export async function reportUnavailable(
  deps: ReportDeps,
  afterMs: number,
  abort: AbortSignal,
): Promise<void> {
  const { queue, enqueue, known, writer, clock } = deps;
  const now = clock.now();
  for (const waiting of queue.unprocessed()) {
    if (now - waiting.since < afterMs) continue;
    const since = new Date(clock.date().getTime() - (now - waiting.since));
    await writer.report(waiting.key, temporalUnavailable(waiting, since), abort);
  }
  for (const { key } of known.all()) {
    if (!isTrue(known, key, 'TemporalUnavailable')) continue;
    const succeeded = queue.lastSucceeded(key);
    // Another replica said so, or it was long ago: the next signal shows.
    if (succeeded === undefined) enqueue(key);
    if (succeeded === true && queue.isReachable) await writer.report(key, temporalReachable, abort);
  }
}

/**
 * One round: asks Temporal which workflows are stuck, and sets or clears `WorkflowStuck`. Answers how many
 * resources are stuck, or `unsupported` when the server cannot tell. Rejects as `TemporalPort.problems` does.
 */
export async function reportStuck(deps: ReportDeps, abort: AbortSignal): Promise<number | 'unsupported'> {
  const { known, writer, temporal } = deps;
  const problems = await temporal.problems(abort);
  if (problems === 'unsupported') return problems;
  const stuck = new Map(problems.map(problem => [entityOf(problem.workflowId), problem]));
  let count = 0;
  for (const { key, ref } of known.all()) {
    const problem: WorkflowProblem | undefined = stuck.get(workflowId(ref));
    if (problem !== undefined) {
      count += 1;
      await writer.report(key, workflowStuck(problem), abort);
    } else if (isTrue(known, key, 'WorkflowStuck')) {
      await writer.report(key, workflowGoesOn, abort);
    }
  }
  return count;
}

/** The entity workflow's id has four parts; those of its operations go on from there. */
function entityOf(id: string): string {
  return id.split('/').slice(0, 4).join('/');
}

function isTrue(known: KnownResources, key: string, type: OwnFinding['type']): boolean {
  const conditions = known.get(key)?.ownConditions ?? [];
  return conditions.some(condition => condition.type === type && condition.status === 'True');
}
