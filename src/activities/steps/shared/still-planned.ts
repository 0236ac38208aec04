import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../../api/schemas/types.ts';
import type { Step, StepPlannedAgain } from '../../../planner/model/step-catalogue.ts';
import { decide } from '../../../planner/plan.ts';
import type { Situation } from '../../../planner/model/situation.ts';
import { situationOf } from '../../../planner/situation.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { preconditionChanged } from '../../runtime/failures.ts';
import { observe } from '../../observe/observe.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';

/**
 * Looks at everything once more, right before a step that touches a member, and continues only when the planner would have
 * this very step done now: same members, same evidence, all its preflight checks. Fails with PreconditionChanged.
 */
export async function stillPlanned(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepPlannedAgain,
): Promise<StillPlanned> {
  return plannedIn(await observe(deps, ref), step);
}

interface StillPlanned {
  readonly cluster: EtcdCluster;
  readonly situation: Situation;
}

/** As {@link stillPlanned}, of what the step itself has just observed, and nothing was done since; undefined: the resource is gone. */
export function plannedIn(seen: Awaited<ReturnType<typeof observe>>, step: StepPlannedAgain): StillPlanned {
  const isForTheLiving = step.kind !== 'forceDeletePods';
  if (seen === undefined || (seen.observation.cluster.deleting && isForTheLiving))
    throw preconditionChanged('the resource is gone');
  const situation = situationOf(seen.observation, step.plannedUpon);
  const decision = decide(situation);
  if (decision.kind !== 'operate' || !isDeepStrictEqual(plain(decision.step), plain(step))) {
    const instead = decision.kind === 'blocked' ? decision.message : 'another step is planned now';
    throw preconditionChanged(`${step.kind} is not performed: ${instead}`);
  }
  return { cluster: seen.cluster, situation };
}

/** As it went through Temporal; what a claim is kept until depends on when it was looked at. */
function plain(step: Step): unknown {
  const value = JSON.parse(JSON.stringify({ ...step, plannedUpon: undefined })) as { retention?: unknown };
  return typeof value.retention === 'object' ? { ...value, retention: 'kept for a while' } : value;
}
