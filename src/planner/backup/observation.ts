/** What one pass of an EtcdBackup knows, and what it answers. Plain JSON. */
import type { BackupConfig } from '../../api/defaults/etcd-backup.ts';
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { EtcdBackup, EtcdBackupStatus, EtcdRequest } from '../../api/schemas/types.ts';
import type { WantedVerification } from '../../api/values/requests.ts';
import type { StepTiming } from '../model/steps/row.ts';
import type { BackupStep } from './steps.ts';

/** The custom resource as read. */
export interface BackupFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  /** A run must be stopped before the resource may go. */
  readonly hasFinalizer: boolean;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly object: EtcdBackup;
  readonly config: BackupConfig;
  readonly status: EtcdBackupStatus;
}

export interface BackupObservation {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly backup: BackupFacts;
  /** By how many seconds backups may begin later than a schedule says that does not say itself. */
  readonly jitterSeconds?: number;
  /** Locations that restores have begun with and may still have to read: retention leaves them until those have ended. */
  readonly needed?: readonly string[];
  /** The EtcdCluster that the backup is of; absent: it is of none, or nobody needs to know. */
  readonly cluster?: 'there' | 'deleting' | 'missing';
  /** The EtcdRequests about it, finished ones included. */
  readonly requests?: readonly EtcdRequest[];
}

/** What users asked of the workflow, and how its last run ended: what the resource does not say. */
export interface BackupWorkflowState {
  readonly paused?: Asked;
  /** A backup now, whatever the schedule says. */
  readonly requested?: Asked;
  /** The one by a message for which an operation was started. */
  readonly starting?: Asked;
  /** Uids of the EtcdRequests for it, which its first step accepts. */
  readonly requests?: readonly string[];
  /** A stored backup is to be verified. */
  readonly verify?: AskedVerification;
  /** By messages to the workflow: that and those after it, and the one that is under way. */
  readonly verifications?: readonly WaitingVerification[];
  /** The uid of the request for the verification that is under way. */
  readonly verifying?: string;
  /** Uids of EtcdRequests of which nothing holds any more: a message to the workflow has ended it. */
  readonly spent?: readonly string[];
  /** The run begins anew and holds nothing: it takes over what the status mirrors; `pause`: unless a message has ended it since. */
  readonly takesOver?: { readonly pause?: boolean };
  /** The pass of an operation: what users ask for is judged by the passes of the EtcdBackup itself. */
  readonly isOperation?: true;
  /** The run that began then, or the verification with this uid, was stopped by a person. */
  readonly aborted?: Asked & { readonly startedAt: string };
  /** The run that began then, the verification with this uid, or the work of another operation, failed; it is tried again at `retryAt` (ms since the epoch). */
  readonly failed?: {
    readonly operation: BackupOperation;
    readonly startedAt?: string;
    readonly message: string;
    readonly retryAt: number;
  };
  /** Old backups were deleted after the run that began then. */
  readonly prunedAfter?: string;
}

/** The verification of a stored backup, as it was asked for. */
export interface AskedVerification extends WantedVerification, Asked {
  /** Of the request. */
  readonly uid: string;
}

/** One that a message asked for. */
export interface WaitingVerification extends AskedVerification {
  /** Until when it may begin, in milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface Asked {
  readonly by?: string;
  readonly reason?: string;
  /** When the workflow received it, in milliseconds since the epoch. */
  readonly at?: number;
}

/** `copyBackups` has a slot of its own, beside that of the others. */
export type BackupOperation =
  | 'takeBackup'
  | 'verifyStoredBackup'
  | 'pruneBackups'
  | 'releaseBackup'
  | 'copyBackups';

export type BackupDecision =
  | { readonly kind: 'gone' }
  | { readonly kind: 'idle'; readonly nextPassSeconds: number }
  | {
      readonly kind: 'blocked';
      readonly reason: ObstacleReason;
      readonly message: string;
      readonly nextPassSeconds: number;
    }
  | {
      readonly kind: 'operate';
      readonly operation: BackupOperation;
      readonly step: BackupStep;
      /** Of `step`. */
      readonly timing: StepTiming;
      /** One line for users. */
      readonly summary: string;
    };
