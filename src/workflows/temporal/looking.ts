/** How long activities of every resource may take, and the pass that each of their workflows makes again and again. */
import {
  ActivityFailure,
  isCancellation,
  log,
  proxyActivities,
  rootCause,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import { transfersQueue } from '../messages/resource.ts';

/** Activities heartbeat every second: after this long without one their worker is taken for dead. As long as a lease is kept. */
export const HEARTBEAT = '9s';

/** As long as the data takes; a worker that dies is noticed by its heartbeats. */
const MOVING_DATA = {
  startToCloseTimeout: '6h',
  scheduleToCloseTimeout: '12h',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '60s', maximumAttempts: 5 },
} as const;

/** Where what moves data is done, beside passes and steps and in none of their places. */
export function amongTransfers(): { readonly taskQueue: string } {
  return { taskQueue: transfersQueue(workflowInfo().taskQueue) };
}

/** For a step that moves the data of a whole cluster, or reads all of it. */
export function movingData(): typeof MOVING_DATA & ReturnType<typeof amongTransfers> {
  return { ...MOVING_DATA, ...amongTransfers() };
}

const LOOKING = {
  startToCloseTimeout: '40s',
  heartbeatTimeout: HEARTBEAT,
  retry: { maximumInterval: '10s' },
} as const;

/**
 * Makes one pass, and tries for ever: a resource that cannot be looked at now is still there. What keeps it from
 * succeeding is shown as the failure of the pending activity. Rejects only when its scope is cancelled.
 * @param summary the line that people read in the Temporal UI
 * @param isAnswer whether it is what a pass answers: people can complete an activity by hand
 */
export async function untilLooked<T>(
  summary: string,
  look: (activities: Activities) => Promise<T>,
  isAnswer: (answer: unknown) => boolean,
): Promise<T> {
  const activities = proxyActivities<Activities>({ ...LOOKING, summary }) as Activities;
  for (;;) {
    try {
      const answer = await look(activities);
      if (isAnswer(answer)) return answer;
      log.error('a pass was completed with what is no answer, and is made again');
    } catch (error) {
      if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
      log.error('a pass failed for good and is made again', { error: rootCause(error) });
    }
    await sleep(LOOKING.retry.maximumInterval);
  }
}
