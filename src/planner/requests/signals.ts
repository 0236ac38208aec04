/**
 * What users asked of the workflow by signals and updates, and what is still open of it, as the status mirrors it: a run that begins anew, because its
 * generation is another one or Temporal's database was lost, takes it over from there. Pure.
 */
import { OPERATION_OF } from '../../api/actions.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import type { Request } from '../../api/values/requests.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { WorkflowState, Approval, UserRequest } from '../model/workflow-state.ts';

type Signals = NonNullable<EtcdClusterStatus['signals']>;

/** What a workflow holds of it. */
export type OpenSignals = Pick<WorkflowState, 'paused' | 'aborted' | 'approvals' | 'requests'>;

interface Resource {
  readonly uid: string;
  readonly generation: number;
}

interface Asked extends Request {
  readonly at?: number | undefined;
}

/** By whom, why and when, as the status holds it. */
export function dated({ by, reason, at }: Asked): NonNullable<Signals['pause']> {
  return withoutUndefined<NonNullable<Signals['pause']>>({
    by,
    reason,
    at: at === undefined ? undefined : timestamp(at),
  });
}

/** The same, as a workflow holds it. */
export function fromStatus({
  by,
  reason,
  at,
}: NonNullable<Signals['pause']>): NonNullable<WorkflowState['paused']> {
  return withoutUndefined<NonNullable<WorkflowState['paused']>>({ by, reason, at: parseTimestamp(at) });
}

/** For the status; undefined: nothing is open. An abort that another specification has ended, and what has expired, is not. */
export function mirroredSignals(
  { paused, aborted, approvals = [], requests = [] }: OpenSignals,
  { uid, generation, now }: Resource & { readonly now: number },
): Signals | undefined {
  const open = approvals.filter(({ id, expiresAt }) => typeof id === 'number' && now < expiresAt);
  const asked = requests.filter(({ id }) => typeof id === 'number');
  const isAborted = aborted?.generation === generation;
  const signals = {
    ...(paused && { pause: dated(paused) }),
    ...(aborted && isAborted && { abort: { ...dated(aborted), ...goalOf(aborted) } }),
    ...(open.length > 0 && { approvals: open.map(mirroredApproval) }),
    ...(asked.length > 0 && { requests: asked.map(mirroredRequest) }),
  };
  return Object.keys(signals).length === 0 ? undefined : { uid, ...signals };
}

type Goal = Pick<NonNullable<WorkflowState['aborted']>, 'operation' | 'generation' | 'subject'>;

function goalOf({ operation, generation, subject }: Goal): Goal {
  return { operation, generation, ...(subject !== undefined && { subject }) };
}

function mirroredApproval({ id, operation, ids, by, reason, expiresAt }: Approval) {
  const why = reason === undefined ? {} : { reason };
  return { id: Number(id), operation, ids: [...ids], by, ...why, expiresAt: timestamp(expiresAt) };
}

function mirroredRequest({ kind, target, ids, by, ...request }: UserRequest) {
  return {
    ...dated(request),
    by,
    kind,
    ...(target !== '' && { target }),
    ...(ids && { ids: [...ids] }),
  };
}

/** As a workflow holds it. @param id see `takenOver` */
function requestFrom(
  { kind, target = '', ids, by, ...request }: NonNullable<Signals['requests']>[number],
  id: number,
): UserRequest[] {
  // Another release may know others.
  if (!Object.hasOwn(OPERATION_OF, kind)) return [];
  const { reason, at } = fromStatus(request);
  const asked = { id, kind: kind as UserRequest['kind'], target, by };
  return [withoutUndefined<UserRequest>({ ...asked, reason, at, ids })];
}

/** What the pass of an operation leaves: what users ask for meanwhile, its own workflow does not know. @param used approvals that it has used up */
export function signalsLeft(
  signals: Signals | undefined,
  used: readonly Approval['id'][],
): Signals | undefined {
  if (signals?.approvals === undefined) return signals;
  const { approvals: given, ...others } = signals;
  const approvals = given.filter(({ id }) => !used.includes(id));
  if (approvals.length > 0) return { ...others, approvals };
  return Object.keys(others).length === 1 ? undefined : others;
}

/**
 * What a run that begins anew takes over. The numbers of approvals and requests are negative: the run counts its own from 1. What a later message has ended
 * meanwhile is not among it.
 */
export function takenOver(
  signals: Signals | undefined,
  takesOver: WorkflowState['takesOver'],
  { uid, generation, now }: Resource & { readonly now: number },
): OpenSignals {
  if (takesOver === undefined || signals?.uid !== uid) return {};
  const { pause, abort, approvals = [], requests = [] } = signals;
  const asked = requests.flatMap((mirrored, index) => requestFrom(mirrored, -1 - index));
  const open = approvals.flatMap((mirrored, index) => {
    const { id: _, expiresAt, reason, ...approval } = mirrored;
    const until = parseTimestamp(expiresAt) ?? 0;
    const why = reason === undefined ? {} : { reason };
    return now < until ? [{ ...approval, ...why, id: -1 - index, expiresAt: until }] : [];
  });
  return {
    ...(pause && takesOver.pause === true && { paused: fromStatus(pause) }),
    ...(abort?.generation === generation &&
      takesOver.abort === true && { aborted: { ...fromStatus(abort), ...goalOf(abort) } }),
    ...(open.length > 0 && { approvals: open }),
    ...(asked.length > 0 && takesOver.requests === true && { requests: asked }),
  };
}
