/** The status of an EtcdRequest. Pure. */
import { type Condition, finding, type ReasonOf } from '../../api/conditions/catalogue.ts';
import { stamped } from '../../api/conditions/stamped.ts';
import type { EtcdRequest, EtcdRequestStatus } from '../../api/schemas/types.ts';
import type { GivenRequest } from '../../api/values/requests.ts';
import { readinessOfTask } from '../../api/derived/readiness.ts';
import { timestamp } from '../../api/values/time.ts';
import { expiryOf } from './known-request.ts';
import { operationOf } from './message.ts';

type Phase = NonNullable<EtcdRequestStatus['phase']>;

/** What is to be said of a request. */
export interface Saying {
  readonly phase: Phase;
  readonly accepted: ReasonOf<'Accepted'>;
  readonly completed: ReasonOf<'Completed'>;
  readonly message: string;
  /** Of a verification that has one. */
  readonly verdict?: GivenRequest['verdict'];
  /** Where it was delivered to; absent: as it was. */
  readonly workflowID?: string;
  readonly runID?: string | undefined;
}

type Row = Pick<Saying, 'phase' | 'accepted' | 'completed'>;

const ROWS: Readonly<Record<GivenRequest['state'], Row>> = {
  waiting: { phase: 'Pending', accepted: 'NotJudged', completed: 'NotAccepted' },
  accepted: { phase: 'Accepted', accepted: 'Taken', completed: 'InProgress' },
  done: { phase: 'Completed', accepted: 'Taken', completed: 'Done' },
  refused: { phase: 'Refused', accepted: 'RequestRefused', completed: 'NotAccepted' },
  expired: { phase: 'Expired', accepted: 'RequestExpired', completed: 'NotAccepted' },
  aborted: { phase: 'Aborted', accepted: 'Taken', completed: 'RequestAborted' },
  failed: { phase: 'Failed', accepted: 'Taken', completed: 'RequestFailed' },
};

/** What the workflow remembers of it. */
export function sayingOf({
  state,
  message,
  verdict,
}: Pick<GivenRequest, 'state' | 'message' | 'verdict'>): Saying {
  return { ...ROWS[state], message, ...(verdict && { verdict }) };
}

const NOT_DELIVERED: Row = { phase: 'Pending', accepted: 'NotDelivered', completed: 'NotAccepted' };

/** It has not reached the workflow. `now` in milliseconds since the epoch. */
export function notDelivered(object: EtcdRequest, now: number): Saying {
  const expiresAt = expiryOf(object);
  const until = timestamp(expiresAt);
  const message =
    now <= expiresAt
      ? `the workflow does not answer: the operator tries again, and the request expires at ${until}`
      : `the request expired at ${until} and the workflow does not answer: whether it was accepted before is not known until Temporal and the operator's workers are back`;
  return { ...NOT_DELIVERED, message };
}

/** The workers that had it know no such requests: nothing has happened. `now` in milliseconds since the epoch. */
export function noHandler(object: EtcdRequest, now: number): Saying {
  const expiresAt = expiryOf(object);
  const until = timestamp(expiresAt);
  if (now > expiresAt) {
    const message = `the request expired at ${until} and nothing has happened: no worker of a release of the operator that knows ${object.spec.action} had it before`;
    return sayingOf({ state: 'expired', message });
  }
  const message = `no worker of this release of the operator has had the request yet, and nothing has happened: the operator tries again until one has, and the request expires at ${until}`;
  return { ...NOT_DELIVERED, message };
}

/** What it is about does not exist, or no longer. */
export function resourceMissing(object: EtcdRequest, what: string): Saying {
  const { namespace } = object.metadata;
  if (object.status?.workflowID === undefined) {
    const message = `there is no ${what} in namespace ${namespace}`;
    return { phase: 'Refused', accepted: 'NoSuchResource', completed: 'NotAccepted', message };
  }
  const message = `${what} of namespace ${namespace} was deleted before the request was done`;
  return { phase: 'Failed', accepted: 'Taken', completed: 'ResourceGone', message };
}

/** Another one has the name by now than the request was made for. */
export function resourceReplaced({ metadata: { namespace } }: EtcdRequest, what: string): Saying {
  const message = `the ${what} of namespace ${namespace} for which the request was created was deleted, and nothing is done to the one that has the name now: create another EtcdRequest if it is meant`;
  return { phase: 'Refused', accepted: 'NoSuchResource', completed: 'NotAccepted', message };
}

/** The workflow that took it knows nothing of it. */
export const lost: Saying = {
  phase: 'Failed',
  accepted: 'Taken',
  completed: 'RequestLost',
  message: "the workflow no longer knows the request: Temporal's database was lost; it is not repeated",
};

const FINAL: readonly Phase[] = ['Completed', 'Refused', 'Failed', 'Aborted', 'Expired'];

/** The status that says this; undefined: it says so already. `now` in milliseconds since the epoch. */
export function statusOf(object: EtcdRequest, saying: Saying, now: number): EtcdRequestStatus | undefined {
  const { status: before, metadata, spec } = object;
  const { generation } = metadata;
  const { phase, message, workflowID = before?.workflowID, runID = before?.runID } = saying;
  const findings = [
    finding('Accepted', saying.accepted, message),
    finding('Completed', saying.completed, message),
    ...readinessOfTask(phase, message),
    ...(spec.action === 'VerifyBackup' ? [finding('Verified', verifiedOf(saying), message)] : []),
  ];
  if (before !== undefined && isSaid(before, { phase, message, workflowID })) return undefined;
  const stamp = { now: timestamp(now), generation };
  const former = before?.conditions as readonly Condition[] | undefined;
  const operation = operationOf(spec);
  return {
    phase,
    message,
    conditions: findings.map(each => stamped(each, former, stamp)),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(workflowID !== undefined && { workflowID }),
    ...(runID !== undefined && { runID }),
    ...(operation !== undefined && { operation }),
    expiresAt: timestamp(expiryOf(object)),
    ...(FINAL.includes(phase) && { completedAt: timestamp(now) }),
  };
}

/** The verdict on the backup, or how far it is from one. */
function verifiedOf({ verdict, phase }: Saying): ReasonOf<'Verified'> {
  if (verdict !== undefined) return `Backup${verdict}`;
  if (phase === 'Pending') return 'NotVerifiedYet';
  return phase === 'Accepted' ? 'VerificationRunning' : 'NoVerdict';
}

function isSaid(
  before: EtcdRequestStatus,
  now: { readonly phase: Phase; readonly message: string; readonly workflowID: string | undefined },
): boolean {
  return before.phase === now.phase && before.message === now.message && before.workflowID === now.workflowID;
}
