/** Registers the handlers of a cluster's messages. */
import { condition, defineSignal, defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import { OPERATION_REQUESTS } from '../../api/actions.ts';
import { operationWorkflowId } from '../../api/names.ts';
import { approvedUntil, PAUSED } from '../../api/values/request-answers.ts';
import { clusterPlanAnswer, statusAnswer } from '../cluster/answers.ts';
import { type Approval, approvalFrom, isNeeded, notNeeded } from '../cluster/approvals.ts';
import { fieldOfMember, type UserRequest, requestOf } from '../cluster/requests.ts';
import {
  abort,
  answerToAbort,
  approve,
  ask,
  type ClusterState,
  pause,
  resume,
  resync,
} from '../cluster/state.ts';
import { approveSignal, approveUpdate } from '../messages/cluster.ts';
import { refusal } from '../messages/refusal.ts';
import { isEnding } from '../messages/shapes.ts';
import { handleCommonMessages, ignoreUnknownSignals } from './handlers.ts';

export function handleClusterMessages(cluster: ClusterState): void {
  handleCommonMessages({
    describe: {
      resync: 'reconcile now; also revokes an abort',
      pause: 'perform no further step: {"by": "…", "reason": "…"}',
      abort: 'end the running operation at the next step: {"by": "…", "reason": "…"}',
    },
    changed: () => void (cluster.changed = true),
    pause: request => pause(cluster, request),
    resume: () => resume(cluster),
    resync: () => resync(cluster),
    abort: request => abort(cluster, request),
    paused: PAUSED,
    aborted: () => answerToAbort(cluster),
    // Until the operation under way has received it, a further step could begin.
    received: () => condition(() => cluster.running === undefined || cluster.asks.length === 0),
    ended(sent) {
      if (!isEnding(sent)) return 'rejected';
      cluster.reported = sent;
      return 'taken';
    },
    status: () => statusAnswer(cluster),
    plan: () => clusterPlanAnswer(cluster, operationWorkflowId(workflowInfo().workflowId)),
  });
  handleApprovals(cluster);
  for (const form of OPERATION_REQUESTS) handleRequest(cluster, form);
  ignoreUnknownSignals();
}

/** How long an update waits for a pass that shows whether its approval is waited for. */
const APPROVAL_WAITS = '30s';

/** An approval is kept until it is used or expires; the update answers whether anything waits for it. */
function handleApprovals(cluster: ClusterState): void {
  const read = (sent: unknown) => approvalFrom(sent, { id: cluster.nextId, now: Date.now() });
  const take = (sent: unknown): Approval | string => {
    const approval = read(sent);
    if (typeof approval === 'string') cluster.refused = `approve: ${approval}`;
    else approve(cluster, approval, Date.now());
    return approval;
  };
  const description = 'approve a step that waits for approval: {"operation": "…", "ids": ["…"], "by": "…"}';
  const isWanted = (sent: unknown) => isNeeded(cluster.assessment, sent);
  setHandler(approveSignal, sent => void take(sent), { description });
  setHandler(
    approveUpdate,
    async sent => {
      // What waits for a person may have begun to wait a moment ago.
      if (!isWanted(sent)) await nextPass(cluster);
      if (!isWanted(sent)) throw refusal(notNeeded(cluster.assessment));
      const approval = take(sent);
      if (typeof approval === 'string') throw refusal(approval);
      return approvedUntil(approval.operation, approval.ids, new Date(approval.expiresAt).toISOString());
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

async function nextPass(cluster: ClusterState): Promise<void> {
  const { passes } = cluster;
  cluster.changed = true;
  await condition(() => cluster.passes > passes || cluster.gone, APPROVAL_WAITS);
}

/** How long an update waits for a pass to judge its request; the request is kept all the same. */
const VERDICT_WAITS = '60s';

const RECORDED = 'the request is recorded, and no pass has processed it yet: send the query plan';

/** A request is put on the list, and a pass judges it. */
function handleRequest(cluster: ClusterState, form: (typeof OPERATION_REQUESTS)[number]): void {
  const { kind } = form;
  const fields = [fieldOfMember(form), 'by', 'reason'].flatMap(field => (field ? [`"${field}": "…"`] : []));
  const description = `${form.description}: {${fields.join(', ')}}`;
  const read = (sent: unknown) => requestOf(cluster, form, sent);
  const take = (sent: unknown): UserRequest | string => {
    const request = read(sent);
    if (typeof request === 'string') cluster.refused = `${kind}: ${request}`;
    else ask(cluster, { ...request, at: Date.now() });
    return request;
  };
  setHandler(defineSignal<[unknown]>(kind), sent => void take(sent), { description });
  setHandler(
    defineUpdate<string, [unknown]>(kind),
    async sent => {
      const request = take(sent);
      if (typeof request === 'string') throw refusal(request);
      return verdictOn(cluster, request.id);
    },
    {
      description,
      validator: sent => {
        const request = read(sent);
        if (typeof request === 'string') throw refusal(request);
      },
    },
  );
}

async function verdictOn(cluster: ClusterState, id: UserRequest['id']): Promise<string> {
  const find = () => cluster.judged.find(verdict => verdict.id === id);
  await condition(() => find() !== undefined || cluster.gone, VERDICT_WAITS);
  const verdict = find();
  if (verdict === undefined && cluster.gone) throw refusal('the resource is gone');
  if (verdict?.outcome === 'refused') throw refusal(verdict.message);
  return verdict?.message ?? RECORDED;
}
