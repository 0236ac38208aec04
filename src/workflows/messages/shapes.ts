/**
 * Whether a value has the expected shape. Who may send signals can send what only workflows send each other, and complete
 * an activity by hand. A handler that throws, or a value that a command cannot carry, would hold up a workflow for good.
 */
import { isRecord } from '../../api/values/is-record.ts';
import type {
  Assessment,
  BackupAssessment,
  RecordedRequests,
  RestoreAssessment,
  StepTiming,
} from '../../activities/index.ts';
import { OPERATION_OF } from '../../api/actions.ts';
import type { BackupEnding } from '../backup/state.ts';
import type { Ending } from '../cluster/state.ts';

type Shape = (value: unknown) => boolean;

/** More than any assessment; it is handed to the next run, and Temporal takes 2 MB. */
const LONGEST = 256 * 1024;

const text: Shape = value => typeof value === 'string';
/** Goes into search attributes, which Temporal keeps short. */
const name: Shape = value => typeof value === 'string' && value.length <= 256;
const flag: Shape = value => typeof value === 'boolean';
const number: Shape = value => Number.isFinite(value);
const integer: Shape = value => Number.isSafeInteger(value);
/** RFC 3339. A resource may have none. */
const date: Shape = value =>
  value === null || (typeof value === 'string' && !Number.isNaN(Date.parse(value)));
const absent: Shape = value => value === undefined;
const optional =
  (shape: Shape): Shape =>
  value =>
    absent(value) || shape(value);
const listOf =
  (shape: Shape): Shape =>
  value =>
    Array.isArray(value) && value.every(shape);
const oneOf =
  (...values: readonly string[]): Shape =>
  value =>
    typeof value === 'string' && values.includes(value);
const record =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  value =>
    isRecord(value) && Object.entries(fields).every(([key, shape]) => shape(value[key]));
/** Distinguished by their field `kind`. */
const byKind =
  (kinds: Readonly<Record<string, Shape>>): Shape =>
  value => {
    const { kind } = (value ?? {}) as { readonly kind?: unknown };
    return typeof kind === 'string' && Object.hasOwn(kinds, kind) && kinds[kind]?.(value) === true;
  };

/** A number that a workflow gave, or the uid of an EtcdRequest. */
const id: Shape = value => integer(value) || text(value);

const step = record({ kind: name });
/** Temporal refuses what is not above zero, and takes no more than a date can hold. */
const seconds: Shape = value => typeof value === 'number' && value > 0 && value <= 366 * 86_400;
const policy = record({
  initialSeconds: optional(seconds),
  maximumSeconds: seconds,
  attempts: optional(value => integer(value) && Number(value) > 0),
});
/** Temporal's first interval is a second, and the longest may not be shorter than the first. */
const retry: Shape = value => {
  if (!policy(value)) return false;
  const { initialSeconds = 1, maximumSeconds } = value as Required<StepTiming>['retry'];
  return initialSeconds <= maximumSeconds;
};
const timing = record({
  startToCloseSeconds: seconds,
  scheduleToCloseSeconds: seconds,
  heartbeatSeconds: seconds,
  retry: optional(retry),
  isTransfer: optional(flag),
});
const waits = { reason: text, message: text, nextPassSeconds: number };
const idle = record({ nextPassSeconds: number });
const request = record({ by: optional(text), reason: optional(text) });

/** What became of the requests of users. */
const ofRequests = {
  verdicts: optional(
    listOf(
      record({
        id: integer,
        outcome: oneOf('refused', 'done', 'accepted'),
        message: text,
        ids: optional(listOf(text)),
      }),
    ),
  ),
  holding: optional(
    record({
      pause: optional(text),
      abort: optional(text),
      requests: optional(
        listOf(record({ id: text, kind: oneOf(...Object.keys(OPERATION_OF)), target: text, by: text })),
      ),
    }),
  ),
  revoked: optional(record({})),
};

const assessment = record({
  decision: byKind({
    gone: record({}),
    idle,
    blocked: record({
      ...waits,
      plan: listOf(record({ summary: text })),
      consent: optional(record({ operation: name, ids: listOf(text) })),
    }),
    operate: record({
      operation: name,
      step,
      timing,
      plan: listOf(record({ summary: text })),
      following: optional(listOf(record({ step, timing }))),
    }),
  }),
  generation: number,
  summary: optional(
    record({
      phase: name,
      version: name,
      size: integer,
      membersReady: integer,
      healthy: flag,
      paused: flag,
      attention: optional(name),
      members: listOf(record({ name: text, id: text, role: text, health: text, version: text, node: text })),
      conditions: listOf(record({ type: text, status: text, reason: text, message: text })),
    }),
  ),
  repaired: optional(step),
  ...ofRequests,
  takenOver: optional(
    record({
      paused: optional(request),
      aborted: optional(record({ operation: name, generation: number })),
      approvals: optional(
        listOf(record({ id: integer, operation: name, ids: listOf(text), by: text, expiresAt: number })),
      ),
      requests: optional(
        listOf(
          record({
            id: integer,
            kind: oneOf(...Object.keys(OPERATION_OF)),
            target: text,
            by: text,
            ids: optional(listOf(text)),
          }),
        ),
      ),
    }),
  ),
});

const recordedRequests = record({ ends: flag, ...ofRequests });

const backupOperation = oneOf(
  'takeBackup',
  'verifyStoredBackup',
  'pruneBackups',
  'releaseBackup',
  'copyBackups',
);
const backupWork = { operation: backupOperation, step, timing, summary: text };

const backupAssessment = record({
  decision: byKind({
    gone: record({}),
    idle,
    blocked: record(waits),
    operate: record(backupWork),
  }),
  beside: optional(record(backupWork)),
  summary: optional(
    record({
      paused: flag,
      attention: optional(name),
      phase: optional(name),
      Reason: optional(text),
      etcdVersion: optional(name),
      lastSuccessDate: optional(date),
      newest: listOf(record({ time: text, location: text, verified: text })),
      lastRun: optional(
        record({ startedAt: optional(text), outcome: optional(text), message: optional(text) }),
      ),
      verification: optional(
        record({
          request: text,
          completedAt: optional(text),
          outcome: optional(text),
          message: optional(text),
        }),
      ),
    }),
  ),
  refused: optional(record({ uid: text, message: text })),
  holding: optional(record({ pause: optional(text) })),
  revoked: optional(record({})),
  stop: optional(request),
  takenOver: optional(
    record({
      paused: optional(request),
      requested: optional(request),
      verifications: optional(listOf(record({ uid: text, expiresAt: number }))),
    }),
  ),
});

const stopped = record({ reason: text, message: text });
const restoreAssessment = record({
  decision: byKind({
    ended: record({}),
    operate: record({ step, timing, summary: text }),
    blocked: stopped,
    refused: stopped,
    waiting: record({}),
  }),
  summary: optional(
    record({
      phase: optional(text),
      step: optional(text),
      reason: optional(text),
      attention: optional(name),
    }),
  ),
  cluster: optional(record({ namespace: text, name: text, uid: text })),
});

const clusterEnding = record({
  operation: name,
  runId: optional(name),
  outcome: oneOf('ended', 'aborted', 'failed', 'handedBack'),
  message: optional(text),
  step: optional(name),
  by: optional(request),
  used: optional(listOf(id)),
  assessment: optional(assessment),
});

const backupEnding = record({
  operation: backupOperation,
  outcome: oneOf('ended', 'aborted', 'failed'),
  startedAt: optional(text),
  message: optional(text),
  by: optional(request),
});

const limited =
  (shape: Shape): Shape =>
  value =>
    shape(value) && JSON.stringify(value).length <= LONGEST;

type Guard<T> = (value: unknown) => value is T;

/** The results of passes. */
export const isRecordedRequests = recordedRequests as Guard<RecordedRequests>;
export const isAssessment = assessment as Guard<Assessment>;
export const isBackupAssessment = backupAssessment as Guard<BackupAssessment>;
export const isRestoreAssessment = restoreAssessment as Guard<RestoreAssessment>;

/** What an operation reports to a run that has not started it. */
export const isEnding = limited(clusterEnding) as Guard<Ending>;
export const isBackupEnding = limited(backupEnding) as Guard<BackupEnding>;
