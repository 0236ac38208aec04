/** Every kind of step of an EtcdBackup, one row each. Each is an activity of the same name. */
import { HEARTBEAT_SECONDS } from '../../api/values/heartbeat.ts';
import { resourceRow, type ResourceStep, type StepTiming } from '../model/steps/row.ts';

interface Run {
  /** RFC 3339; names the run. */
  readonly startedAt: string;
}

interface Transfer extends Run {
  readonly secondsLeft: number;
}

export const BACKUP_STEPS = {
  beginBackup: resourceRow<
    Run & {
      readonly scheduledFor?: string;
      readonly requestedBy?: string;
      /** Uids of the EtcdRequests that asked for it. */
      readonly requests?: readonly string[];
    }
  >({
    timing: short,
    summary: ({ startedAt, scheduledFor, requestedBy }) =>
      requestedBy === undefined
        ? `start the backup of ${scheduledFor ?? startedAt}`
        : `start the backup requested by ${requestedBy}`,
  }),
  takeSnapshot: resourceRow<Transfer & { readonly waits?: boolean }>({
    timing: snapshot,
    summary: ({ startedAt }) => `stream a snapshot to the store (run of ${startedAt})`,
  }),
  /** Shows that the object that the run has written can be read, or restored. */
  verifyBackup: resourceRow<Transfer>({
    timing: transfer,
    summary: ({ startedAt }) => `verify the backup in the store (run of ${startedAt})`,
  }),
  /** Reads a backup back that is in the store, and verifies it: somebody asked for that, in the request of this uid. */
  verifyStoredBackup: resourceRow<{
    readonly request: string;
    readonly location: string;
    readonly level: 'Structure' | 'Restore';
    readonly by: string;
    readonly secondsLeft: number;
  }>({
    timing: transfer,
    summary: ({ location, by }) => `verify ${location} in the store, requested by ${by}`,
  }),
  /** Deletes what retention does not keep, and reads again what there is. */
  pruneBackups: resourceRow<object>({
    timing: pruning,
    summary: () => 'delete backups that retention does not keep',
  }),
  /** Copies to the second store what is missing there, and deletes there what retention does not keep. */
  copyBackups: resourceRow<object>({ timing: copying, summary: () => 'copy backups to the second store' }),
  /** Lets the resource go, and takes the finalizer off one that stays. */
  releaseBackup: resourceRow<object>({ timing: short, summary: () => 'remove the finalizer' }),
};

/** One thing to do. */
export type BackupStep = ResourceStep<typeof BACKUP_STEPS>;

export type BackupStepOf<Kind extends BackupStep['kind']> = Extract<BackupStep, { readonly kind: Kind }>;

function short(): StepTiming {
  return {
    startToCloseSeconds: 20,
    scheduleToCloseSeconds: 120,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retry: { maximumSeconds: 20 },
  };
}

/** The activity gives up by itself at its deadline; this is for a worker that does not. */
function transfer({ secondsLeft }: Pick<Transfer, 'secondsLeft'>): StepTiming {
  return {
    startToCloseSeconds: secondsLeft + 20,
    scheduleToCloseSeconds: secondsLeft + 20,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retry: { initialSeconds: 2, maximumSeconds: 60 },
    isTransfer: true,
  };
}

/** The longest that a backup waits for its turn at the store: by then the schedule of most has come round again. */
export const LONGEST_WAIT_SECONDS = 86_400;

/** One that waits for its turn at the store comes again until it has it, and then has its whole time. */
function snapshot({ waits = false, ...of }: Transfer & { readonly waits?: boolean }): StepTiming {
  const timing = transfer(of);
  if (!waits) return timing;
  return { ...timing, scheduleToCloseSeconds: timing.scheduleToCloseSeconds + LONGEST_WAIT_SECONDS };
}

/** A store that is slow may take a day: what is copied by then stays copied. Its own failures are none of the step's. */
function copying(): StepTiming {
  return {
    startToCloseSeconds: 24 * 3600,
    scheduleToCloseSeconds: 48 * 3600,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retry: { maximumSeconds: 60 },
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
