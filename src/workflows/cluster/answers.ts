/** What the queries of an entity answer. */
import type { Assessment } from '../../activities/index.ts';
import type { PlanAnswer, StatusAnswer } from '../messages/cluster.ts';
import { unexpired } from './approvals.ts';
import { requestOf } from '../messages/text.ts';
import { type ClusterState, waitingRequests } from './state.ts';

/** What is: as the last pass saw it. */
export function statusAnswer(cluster: ClusterState): StatusAnswer {
  const { paused, refused, running, assessment } = cluster;
  const requests = waitingRequests(cluster);
  const approvals = unexpired(cluster.approvals, Date.now());
  return {
    ...(paused && { paused: requestOf(paused) }),
    ...(running && { operation: running.operation }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(refused && { refused }),
    ...(assessment?.summary && { cluster: assessment.summary }),
  };
}

/** As {@link planAnswer}, of a cluster. @param operationId of the workflow of its operations */
export function clusterPlanAnswer({ running, assessment }: ClusterState, operationId: string): PlanAnswer {
  const answer = planAnswer(assessment);
  if (running === undefined) return answer;
  const next = `${running.operation} is under way: send this query to ${operationId} for the steps that are left of these`;
  return { ...answer, next };
}

/** What comes next, and why, or why nothing does. */
export function planAnswer(assessment: Pick<Assessment, 'decision'> | undefined): PlanAnswer {
  const decision = assessment?.decision;
  switch (decision?.kind) {
    case 'operate': {
      const steps = decision.plan.map(step => step.summary);
      return {
        next: `${decision.operation}: ${steps[0] ?? decision.step.kind}`,
        operation: decision.operation,
        steps,
      };
    }
    case 'blocked': {
      const { reason, message, plan, consent } = decision;
      const steps = plan.map(step => step.summary);
      return {
        next: `waiting: ${message}`,
        steps,
        blocked: { reason, message },
        ...(consent && { approve: consent }),
      };
    }
    case 'idle':
      return {
        next: `nothing to do: the cluster matches its specification; the next pass runs in ${decision.nextPassSeconds} s, or when something changes`,
        steps: [],
      };
    case 'gone':
      return { next: 'nothing to do: the resource is gone', steps: [] };
    case undefined:
      return { next: 'the first pass has not ended yet: try again shortly', steps: [] };
  }
}
