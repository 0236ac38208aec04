/** What the queries of an entity answer. */
import type { Assessment } from '../../activities/index.ts';
import type { View } from '../engine/entity.ts';
import type { PlanAnswer, StatusAnswer } from '../messages/cluster.ts';
import { unexpired } from './approvals.ts';
import { waitingRequests } from './people.ts';
import type { ClusterKind } from './rules.ts';

/** What is: as the last pass saw it. */
export function statusAnswer({ people, running, assessment }: View<ClusterKind>): StatusAnswer {
  const { paused, refused } = people;
  const requests = waitingRequests(people, assessment);
  const approvals = unexpired(people.approvals, Date.now());
  return {
    ...(paused && { paused }),
    ...(running && { operation: running.operation }),
    ...(approvals.length > 0 && { approvals }),
    ...(requests.length > 0 && { requests }),
    ...(refused && { refused }),
    ...(assessment?.summary && { cluster: assessment.summary }),
  };
}

/** What comes next, and why, or why nothing does. */
export function planAnswer(assessment: Assessment | undefined): PlanAnswer {
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
        next: `nothing to do: the cluster matches its specification; the next pass runs in ${decision.nextLookSeconds} s, or when something changes`,
        steps: [],
      };
    case 'gone':
      return { next: 'nothing to do: the resource is gone', steps: [] };
    case undefined:
      return { next: 'the first pass has not ended yet: try again shortly', steps: [] };
  }
}
