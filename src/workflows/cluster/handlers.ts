/** Registers the handlers of a cluster's messages. */
import { condition, log, setDefaultSignalHandler, setHandler } from '@temporalio/workflow';
import type { EntityDriver } from '../temporal/entity-driver.ts';
import { handleCommonMessages } from '../temporal/handlers.ts';
import { approveSignal, approveUpdate, progressSignal } from '../messages/cluster.ts';
import { isProgress } from '../messages/shapes.ts';
import { refusal } from '../messages/refusal.ts';
import { planAnswer, statusAnswer } from './answers.ts';
import { type Approval, approvalFrom, isNeeded, neededApproval } from './approvals.ts';
import { answerToAbort, type ClusterMessage } from './people.ts';
import { handleRequests } from './request-handlers.ts';
import type { ClusterKind } from './rules.ts';

type Driver = EntityDriver<ClusterKind>;

/** How long an update waits for a pass that shows whether its approval is waited for. */
const NEXT_PASS = '30s';

export function handleMessages(driver: Driver): void {
  const send = (message: ClusterMessage) => driver.dispatch({ kind: 'message', message });
  handleCommonMessages(driver, {
    describe: {
      resync: 'look again now; also revokes an abort',
      pause: 'perform no further step: {"by": "…", "reason": "…"}',
      abort: 'end the running operation at the next step: {"by": "…", "reason": "…"}',
    },
    paused: 'paused: no further step is performed',
    abort: () => answerToAbort(driver.entity),
    // Until the running operation has received it, a further step could begin.
    confirm: async answer => {
      await driver.delivered();
      return answer;
    },
    status: () => statusAnswer(driver.entity),
    plan: () => planAnswer(driver.entity.assessment),
  });
  handleApprovals(driver, send);
  handleRequests(driver, send);
  setHandler(progressSignal, sent => {
    if (!isProgress(sent))
      return log.warn('a signal was rejected: only operations may send it', { signal: 'progress' });
    const { assessment, ending, used } = sent;
    if (used !== undefined) send({ kind: 'used', ids: used });
    driver.dispatch({ kind: 'reported', assessment, ending });
  });
  setDefaultSignalHandler(name => log.warn('unknown signal', { signal: name }));
}

/** An approval is kept until it is used or expires; the update answers whether anything waits for it. */
function handleApprovals(driver: Driver, send: (message: ClusterMessage) => void): void {
  const read = (sent: unknown): Approval | string =>
    approvalFrom(sent, { id: driver.entity.people.nextId, now: Date.now() });
  const approve = (sent: unknown): Approval | string => {
    const approval = read(sent);
    if (typeof approval === 'string') send({ kind: 'refuse', message: `approve: ${approval}` });
    else send({ kind: 'approve', approval });
    return approval;
  };
  const description = 'approve a step that waits for approval: {"operation": "…", "ids": ["…"], "by": "…"}';
  const isWanted = (sent: unknown) => isNeeded(driver.entity.assessment, sent);
  setHandler(approveSignal, sent => void approve(sent), { description });
  setHandler(
    approveUpdate,
    async sent => {
      // What waits for a person may have begun to wait a moment ago.
      if (!isWanted(sent)) await nextPass(driver);
      if (!isWanted(sent))
        throw refusal(`nothing waits for this approval: ${neededApproval(driver.entity.assessment)}`);
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
