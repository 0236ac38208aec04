/** Registers the handlers of a cluster's messages. They only say what came; the engine decides what becomes of it. */
import { condition, log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { EntityDriver } from '../temporal/entity-driver.ts';
import { approveSignal, approveUpdate, planQuery, progressSignal, statusQuery } from '../messages/cluster.ts';
import {
  abortSignal,
  abortUpdate,
  changedSignal,
  pauseSignal,
  pauseUpdate,
  resumeSignal,
  resumeUpdate,
  resyncSignal,
} from '../messages/resource.ts';
import { isProgress } from '../messages/shapes.ts';
import { refusal } from '../messages/refusal.ts';
import { requestFrom } from '../messages/words.ts';
import { planAnswer, statusAnswer } from './answers.ts';
import { type Approval, approvalFrom, isWaitedFor, whatWaits } from './approvals.ts';
import { answerToAbort, type ClusterMessage } from './people.ts';
import { handleRequests } from './request-handlers.ts';
import type { ClusterKind } from './rules.ts';

type Driver = EntityDriver<ClusterKind>;

/** How long an update waits for a pass that shows whether its approval is waited for. */
const NEXT_PASS = '30s';

export function handleMessages(driver: Driver): void {
  const say = (message: ClusterMessage) => driver.dispatch({ kind: 'message', message });
  const changed = () => driver.dispatch({ kind: 'changed' });
  setHandler(changedSignal, changed, describe('look again (sent by the watcher)'));
  setHandler(resyncSignal, () => say({ kind: 'resync' }), describe('look again now; also revokes an abort'));
  handlePauses(driver, say);
  handleApprovals(driver, say);
  handleRequests(driver, say);
  setHandler(progressSignal, sent => {
    if (!isProgress(sent))
      return log.warn('a signal was rejected: only operations may send it', { signal: 'progress' });
    const { assessment, ending, used } = sent;
    if (used !== undefined) say({ kind: 'used', ids: used });
    driver.dispatch({ kind: 'reported', assessment, ending });
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
  setHandler(
    statusQuery,
    () => statusAnswer(driver.entity),
    describe('the state that the last pass observed'),
  );
  setHandler(
    planQuery,
    () => planAnswer(driver.entity.assessment),
    describe('the next steps and the reason for them'),
  );
}

function describe(description: string) {
  return { description };
}

/** An update answers when the running operation has heard of it: until then a further step could begin. */
function handlePauses(driver: Driver, say: (message: ClusterMessage) => void): void {
  const pause = (sent: unknown) => say({ kind: 'pause', request: requestFrom(sent) });
  const abort = (sent: unknown) => say({ kind: 'abort', request: requestFrom(sent) });
  const resume = () => say({ kind: 'resume' });
  setHandler(pauseSignal, pause, describe('perform no further step: {"by": "…", "reason": "…"}'));
  setHandler(resumeSignal, resume, describe('continue after a pause'));
  setHandler(
    abortSignal,
    abort,
    describe('end the running operation at the next step: {"by": "…", "reason": "…"}'),
  );
  setHandler(pauseUpdate, async request => {
    pause(request);
    await driver.heard();
    return 'paused: no further step is performed';
  });
  setHandler(resumeUpdate, async () => {
    resume();
    await driver.heard();
    return 'resumed';
  });
  setHandler(abortUpdate, async request => {
    const answer = answerToAbort(driver.entity);
    abort(request);
    await driver.heard();
    return answer;
  });
}

/** An approval is kept until it is used or expires; the update answers whether anything waits for it. */
function handleApprovals(driver: Driver, say: (message: ClusterMessage) => void): void {
  const read = (sent: unknown): Approval | string =>
    approvalFrom(sent, { id: driver.entity.people.nextId, now: Date.now() });
  const approve = (sent: unknown): Approval | string => {
    const approval = read(sent);
    if (typeof approval === 'string') say({ kind: 'refuse', message: `approve: ${approval}` });
    else say({ kind: 'approve', approval });
    return approval;
  };
  const description = 'approve a step that waits for approval: {"operation": "…", "ids": ["…"], "by": "…"}';
  const isWanted = (sent: unknown) => isWaitedFor(driver.entity.assessment, sent);
  setHandler(approveSignal, sent => void approve(sent), { description });
  setHandler(
    approveUpdate,
    async sent => {
      // What waits for a person may have begun to wait a moment ago.
      if (!isWanted(sent)) await nextPass(driver);
      if (!isWanted(sent))
        throw refusal(`nothing waits for this approval: ${whatWaits(driver.entity.assessment)}`);
      const approval = approve(sent);
      if (typeof approval === 'string') throw refusal(approval);
      return `${approval.operation} of ${approval.ids.join(', ')} is approved; the approval is valid for one use until ${new Date(approval.expiresAt).toISOString()}`;
    },
    {
      description,
      validator: sent => {
        const approval = read(sent);
        if (typeof approval === 'string') throw refusal(approval);
      },
    },
  );
}

async function nextPass(driver: Driver): Promise<void> {
  const { passes } = driver.entity;
  driver.dispatch({ kind: 'changed' });
  await condition(() => driver.entity.passes > passes || driver.entity.phase === 'closing', NEXT_PASS);
}
