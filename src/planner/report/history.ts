/** The last operations of a cluster, as its status records them: they outlive events, the operator and Temporal. */
import type { EtcdClusterStatus, LastOperation, OperationStatus } from '../../api/schemas/types.ts';
import { OPERATION_FACTS } from '../../api/operations.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { WorkflowState, UserRequest } from '../model/workflow-state.ts';
import type { Work } from '../model/decision.ts';
import type { Situation } from '../model/situation.ts';
import { OPERATIONS } from '../operations/index.ts';
import type { Findings } from './conditions.ts';

type HistoryEntry = NonNullable<EtcdClusterStatus['history']>[number];
/** Why an operation is performed, who asked for it or approved of it, and what it changes. */
type Cause = Pick<OperationStatus, 'why' | 'requestedBy' | 'approvedBy' | 'from' | 'to'>;

/** How many operations are remembered. */
const REMEMBERED = 10;
/** Of `why` and `message` in the schema. */
const LONGEST_TEXT = 1_024;
/** Of `requestedBy` and `approvedBy` in the schema. */
const LONGEST_NAME = 512;

/**
 * The records after an operation has ended: newest first, at most ten. The run is that of the workflow that performed it last; it is
 * left out when it is not known, and when it stands in another record already, as a run carries out one operation.
 */
export function historyAfter(
  history: readonly HistoryEntry[] = [],
  { cause, ended }: { readonly cause: Cause; readonly ended: LastOperation },
  ran: WorkflowState['ran'],
): readonly HistoryEntry[] {
  const { type, goal, outcome, message, startedAt, completedAt, workflowID } = ended;
  const { why, requestedBy, approvedBy, from, to } = cause;
  const isItsRun = ran?.operation === type && !history.some(({ runID }) => runID === ran.runId);
  const entry = withoutUndefined<HistoryEntry>({
    type,
    goal,
    why,
    requestedBy,
    approvedBy,
    from,
    to,
    outcome,
    message: message?.slice(0, LONGEST_TEXT),
    startedAt,
    completedAt,
    workflowID,
    runID: isItsRun ? ran.runId : undefined,
  });
  return [entry, ...history].slice(0, REMEMBERED);
}

/**
 * What is recorded of the cause of an operation that is decided on: what it began with stays, an approval is added when it is used,
 * and where it leads to follows the specification.
 * @param before the operation as status records it; undefined: it begins
 * @param request what somebody asked for, when the operation carries that out
 */
export function causeOf(
  { situation }: Findings,
  decision: Work,
  { before, request }: { readonly before?: Cause | undefined; readonly request?: UserRequest | undefined },
): Cause {
  const approval = situation.workflowState.approvals?.find(({ id }) => id === decision.approval);
  const change = OPERATIONS[decision.operation].change?.(situation);
  const askedBy = request?.by ?? OPERATIONS[decision.operation].asker?.(situation);
  const began = before ?? {
    why: whyOf(situation, decision, request),
    requestedBy: askedBy?.slice(0, LONGEST_NAME),
    from: change?.from,
  };
  return withoutUndefined<Cause>({
    why: began.why,
    requestedBy: began.requestedBy,
    approvedBy: approval?.by.slice(0, LONGEST_NAME) ?? before?.approvedBy,
    from: began.from,
    to: before === undefined || before.from !== undefined ? change?.to : undefined,
  });
}

function whyOf(situation: Situation, { operation, plan }: Work, request: UserRequest | undefined): string {
  const reason = request?.reason === undefined ? '' : `: ${request.reason}`;
  const usual = OPERATIONS[operation].why?.(situation) ?? OPERATION_FACTS[operation].why;
  const why = request === undefined ? usual : `a person requested it${reason}`;
  return `${why}; first step: ${plan[0]?.summary ?? ''}`.slice(0, LONGEST_TEXT);
}
