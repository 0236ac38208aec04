/** What people asked of an EtcdBackup that the world does not say, and what has ended. Pure. */
import type { BackupActor, BackupAssessment, BackupOperation } from '../../activities/index.ts';
import type { BackupEnding } from '../messages/backup.ts';
import type { Given, Request, WantedVerification } from '../../api/values/requests.ts';
import { remember, type Remembering } from '../engine/given.ts';
import type { CommonMessage } from '../messages/resource.ts';
import { expireGiven, waitingGiven } from './given.ts';
import {
  endedVerification,
  expireVerifications,
  waitingVerification,
  withVerification,
} from './verifications.ts';

export interface BackupPeople extends Remembering {
  readonly paused: Request | undefined;
  /** A backup now. */
  readonly requested: Request | undefined;
  readonly aborted: BackupActor['aborted'];
  readonly failed: BackupActor['failed'];
  /** The run after which retention was seen to. */
  readonly prunedAfter: string | undefined;
  /** To be told to the operation under way. */
  readonly stop: Request | undefined;
}

export const NOTHING_ASKED: BackupPeople = {
  paused: undefined,
  requested: undefined,
  aborted: undefined,
  failed: undefined,
  prunedAfter: undefined,
  stop: undefined,
};

/** The operation under way. `isRequested`: its first step records what somebody asked for. */
export interface BackupRunning {
  readonly operation: BackupOperation;
  readonly isRequested: boolean;
  /** The uid of the request for the verification that it makes. */
  readonly verifies?: string;
}

/** What is sent to a backup's entity, as it is taken. */
export type BackupMessage =
  | CommonMessage
  | { readonly kind: 'backup'; readonly request: Request; readonly given?: Given | undefined }
  | {
      readonly kind: 'verify';
      readonly request: Request;
      readonly given: Given;
      readonly wanted: WantedVerification;
    };

/** What people asked for and what has ended, as the planner takes it. */
export function actorOf(people: BackupPeople): BackupActor {
  const { paused, requested = waitingGiven(people), aborted, failed, prunedAfter } = people;
  const verify = waitingVerification(people);
  return {
    ...(verify && { verify }),
    ...(paused && { paused }),
    ...(requested && { requested }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(prunedAfter !== undefined && { prunedAfter }),
  };
}

/** A failure of a backup stands until the next one; any other is forgotten when it may be tried again. */
export function forgetExpired(known: BackupPeople, now: number): BackupPeople {
  const people = expireVerifications(expireGiven(known, now), now);
  const { failed } = people;
  const isOver = failed !== undefined && failed.operation !== 'takeBackup' && failed.retryAt <= now;
  return isOver ? { ...people, failed: undefined } : people;
}

export function afterMessage(people: BackupPeople, message: BackupMessage, isRunning: boolean): BackupPeople {
  switch (message.kind) {
    case 'pause':
      return { ...people, paused: message.request };
    case 'resume':
      return { ...people, paused: undefined };
    case 'backup':
      return withRequest(people, message);
    case 'verify':
      return withVerification(people, message);
    case 'given':
      return remember(people, message.given, { state: 'done', message: message.answer });
    case 'resync':
      return { ...people, failed: undefined, prunedAfter: undefined };
    case 'abort':
      return isRunning ? { ...people, stop: message.request } : people;
  }
}

function withRequest(
  people: BackupPeople,
  { request, given }: Extract<BackupMessage, { kind: 'backup' }>,
): BackupPeople {
  if (given === undefined) return { ...people, requested: request };
  const waiting = { state: 'waiting', message: 'the backup has not begun' } as const;
  return remember(people, given, { backup: { request, before: '' }, ...waiting });
}

/** Who ends the operation under way, if anybody does: the resource may be going. */
export function stopFor(
  { stop }: BackupPeople,
  { operation }: BackupRunning,
  { decision }: BackupAssessment,
): Request | undefined {
  const isReleased = decision.kind === 'operate' && decision.operation === 'releaseBackup';
  const goes = decision.kind === 'gone' || (isReleased && operation !== 'releaseBackup');
  return goes ? { by: 'deletion of the resource' } : stop;
}

interface Concluding {
  readonly people: BackupPeople;
  readonly assessment: BackupAssessment | undefined;
}

/** People after an operation. `retryAt`: when it is tried again, had it failed. */
export function afterOperation(
  { people, assessment }: Concluding,
  { operation, outcome, startedAt, message, by }: BackupEnding,
  retryAt: number,
): BackupPeople {
  const left = { ...people, stop: undefined };
  if (operation === 'verifyStoredBackup') return endedVerification(left, { outcome, message, by });
  const run = startedAt === undefined ? {} : { startedAt };
  switch (outcome) {
    case 'ended':
      if (operation !== 'pruneBackups') return left;
      return { ...left, prunedAfter: assessment?.summary?.lastRun?.startedAt ?? '' };
    case 'aborted':
      return startedAt === undefined ? left : { ...left, aborted: { ...by, startedAt } };
    case 'failed':
      return {
        ...left,
        failed: { operation, ...run, message: message ?? 'no reason was given', retryAt },
      };
  }
}
