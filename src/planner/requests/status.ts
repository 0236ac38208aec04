/** The status of an EtcdRequest. Pure. */
import { type Condition, finding, type ReasonOf } from '../../api/conditions/catalogue.ts';
import { stamped } from '../../api/conditions/stamped.ts';
import { readinessOfTask } from '../../api/derived/readiness.ts';
import { expiryOf, operationOf } from '../../api/derived/requests.ts';
import type { ConditionReason } from '../../api/conditions/catalogue.ts';
import type { EtcdRequest, EtcdRequestStatus } from '../../api/schemas/types.ts';
import { timestamp } from '../../api/values/time.ts';

type Phase = NonNullable<EtcdRequestStatus['phase']>;
type Row = readonly [phase: Phase, accepted: ReasonOf<'Accepted'>, completed: ReasonOf<'Completed'>];

const ROWS = {
  waiting: ['Pending', 'NotJudged', 'NotAccepted'],
  accepted: ['Accepted', 'Taken', 'InProgress'],
  done: ['Completed', 'Taken', 'Done'],
  refused: ['Refused', 'RequestRefused', 'NotAccepted'],
  expired: ['Expired', 'RequestExpired', 'NotAccepted'],
  aborted: ['Aborted', 'Taken', 'RequestAborted'],
  failed: ['Failed', 'Taken', 'RequestFailed'],
  missing: ['Refused', 'NoSuchResource', 'NotAccepted'],
  gone: ['Failed', 'Taken', 'ResourceGone'],
} as const satisfies Readonly<Record<string, Row>>;

/** What became of a request. */
export interface Outcome {
  readonly state: keyof typeof ROWS;
  readonly message: string;
  /** What it is about, fixed when it is accepted. */
  readonly ids?: readonly string[];
  /** Of a verification that has one. */
  readonly verdict?: 'Verified' | 'PartlyVerified' | 'NotVerified';
}

/** One request, and what a pass makes of it. */
export interface RequestChange {
  readonly request: EtcdRequest;
  /** Recorded before anything comes of it. */
  readonly accepted?: Outcome;
  /** Recorded when that is done, or when nothing is to come of it. */
  readonly outcome?: Outcome;
}

/** Where a pass runs. */
export interface Judge {
  readonly workflowId: string;
  readonly runId?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const LONGEST_MESSAGE = 4_096;

/** The status that says this; undefined: it says so already. */
export function requestStatus(
  { status: before, metadata, spec, ...object }: EtcdRequest,
  { state, verdict, ids = before?.ids, ...of }: Outcome,
  { workflowId, runId, now }: Judge,
): EtcdRequestStatus | undefined {
  const [phase, accepted, completed] = ROWS[state];
  const message = of.message.slice(0, LONGEST_MESSAGE);
  if (before?.phase === phase && before.message === message && before.workflowID === workflowId)
    return undefined;
  const { generation } = metadata;
  const findings = [
    finding('Accepted', accepted, message),
    finding('Completed', completed, message),
    ...readinessOfTask(phase, message),
    ...(spec.action === 'VerifyBackup' ? [finding('Verified', verifiedOf(phase, verdict), message)] : []),
  ];
  const stamp = { now: timestamp(now), generation };
  const former = before?.conditions as readonly Condition[] | undefined;
  const operation = operationOf(spec);
  return {
    phase,
    message,
    conditions: findings.map(each => stamped(each, former, stamp)),
    ...(generation !== undefined && { observedGeneration: generation }),
    workflowID: workflowId,
    ...(runId !== undefined && { runID: runId }),
    ...(operation !== undefined && { operation }),
    ...(ids !== undefined && { ids }),
    expiresAt: timestamp(expiryOf({ ...object, metadata, spec })),
    ...(phase !== 'Pending' && phase !== 'Accepted' && { completedAt: timestamp(now) }),
  };
}

/** The event of a status that says something new: what the conditions say. */
export function requestEvent({ phase = 'Pending', message = '', conditions = [] }: EtcdRequestStatus) {
  const reasonOf = (type: string) => conditions.find(each => each.type === type)?.reason;
  const completed = reasonOf('Completed');
  const reason = completed === 'NotAccepted' ? reasonOf('Accepted') : completed;
  const isWell = phase === 'Pending' || phase === 'Accepted' || phase === 'Completed';
  return { reason: reason as ConditionReason, type: isWell ? 'Normal' : 'Warning', message } as const;
}

/** The verdict on the backup, or how far it is from one. */
function verifiedOf(phase: Phase, verdict: Outcome['verdict']): ReasonOf<'Verified'> {
  if (verdict !== undefined) return `Backup${verdict}`;
  if (phase === 'Pending') return 'NotVerifiedYet';
  return phase === 'Accepted' ? 'VerificationRunning' : 'NoVerdict';
}
