/** Every kind of step of an EtcdBackup, one row each. Each is an activity of the same name. */
import { HEARTBEAT_SECONDS } from '../../api/values/heartbeat.ts';
import type { FieldsOf, StepTiming } from '../model/steps/row.ts';

interface BackupStepRow<Fields> {
  readonly timing: (fields: Fields) => StepTiming;
  /** One line for people. */
  readonly summary: (fields: Fields) => string;
}

interface Run {
  /** RFC 3339; names the run. */
  readonly startedAt: string;
}

interface Transfer extends Run {
  readonly secondsLeft: number;
}

const BACKUP_STEPS = {
  beginBackup: row<Run & { readonly scheduledFor?: string; readonly requestedBy?: string }>({
    timing: short,
    summary: ({ startedAt, scheduledFor, requestedBy }) =>
      requestedBy === undefined
        ? `start the backup of ${scheduledFor ?? startedAt}`
        : `start the backup requested by ${requestedBy}`,
  }),
  takeSnapshot: row<Transfer>({
    timing: transfer,
    summary: ({ startedAt }) => `stream a snapshot to the store (run of ${startedAt})`,
  }),
  /** Shows that the object that the run has written can be read, or restored. */
  verifyBackup: row<Transfer>({
    timing: transfer,
    summary: ({ startedAt }) => `verify the backup in the store (run of ${startedAt})`,
  }),
  /** Deletes what retention does not keep, and reads anew what there is. */
  pruneBackups: row<object>({
    timing: pruning,
    summary: () => 'delete backups that retention does not keep',
  }),
  /** Lets the resource go, and takes the finalizer off one that stays. */
  releaseBackup: row<object>({ timing: short, summary: () => 'remove the finalizer' }),
};

type Rows = typeof BACKUP_STEPS;
export type BackupStepOf<Kind extends keyof Rows> = {
  readonly [Each in Kind]: { readonly kind: Each } & FieldsOf<Rows[Each]>;
}[Kind];

/** One thing to do. */
export type BackupStep = BackupStepOf<keyof Rows>;

/** What a decision records of its step besides the step itself. */
export function recordedOf(step: BackupStep): { readonly timing: StepTiming; readonly summary: string } {
  // The type system does not see that the row of a step's kind takes that step's fields.
  const { timing, summary } = BACKUP_STEPS[step.kind] as BackupStepRow<never> as BackupStepRow<BackupStep>;
  return { timing: timing(step), summary: summary(step) };
}

function row<Fields>(entry: BackupStepRow<Fields>): BackupStepRow<Fields> {
  return entry;
}

function short(): StepTiming {
  return {
    startToCloseSeconds: 20,
    scheduleToCloseSeconds: 120,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retry: { maximumSeconds: 20 },
  };
}

/** The activity gives up by itself at its deadline; this is for a worker that does not. */
function transfer({ secondsLeft }: Transfer): StepTiming {
  return {
    startToCloseSeconds: secondsLeft + 20,
    scheduleToCloseSeconds: secondsLeft + 20,
    heartbeatSeconds: 10,
    retry: { initialSeconds: 2, maximumSeconds: 60 },
    isTransfer: true,
  };
}

/** Listing and deleting may have much to do. */
function pruning(): StepTiming {
  return {
    startToCloseSeconds: 30 * 60,
    scheduleToCloseSeconds: 60 * 60,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retry: { maximumSeconds: 60, attempts: 5 },
    isTransfer: true,
  };
}
