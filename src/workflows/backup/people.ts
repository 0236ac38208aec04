/** What people asked of an EtcdBackup that the world does not say, and what has ended. Pure. */
import type { BackupActor, BackupAssessment, BackupOperation } from '../../activities/index.ts';
import type { BackupEnding } from '../messages/backup.ts';
import type { Request } from '../../api/values/requests.ts';
import type { CommonMessage } from '../messages/resource.ts';

/** A verification that was asked for by a message. */
type Wanted = NonNullable<BackupActor['verify']> & {
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
};

export interface BackupPeople {
  readonly paused: BackupActor['paused'] | undefined;
  /** A backup now. */
  readonly requested: Request | undefined;
  /** Verifications that have not begun. */
  readonly wanted?: readonly Wanted[];
  /** The uid of the one that is under way. */
  readonly verifying?: string | undefined;
  /** Uids of EtcdRequests of which nothing holds any more: a message has ended it. */
  readonly spent?: readonly string[];
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
  | { readonly kind: 'backup'; readonly request: Request }
  | { readonly kind: 'verify'; readonly wanted: Wanted };

/** What people asked for and what has ended, as the planner takes it. */
export function actorOf(people: BackupPeople): BackupActor {
  const { paused, requested, aborted, failed, prunedAfter, verifying, spent, wanted = [] } = people;
  const [{ expiresAt: _, ...verify } = { expiresAt: 0 }] = wanted;
  return {
    ...('uid' in verify && { verify }),
    ...(verifying !== undefined && { verifying }),
    ...(spent && { spent }),
    ...(paused && { paused }),
    ...(requested && { requested }),
    ...(aborted && { aborted }),
    ...(failed && { failed }),
    ...(prunedAfter !== undefined && { prunedAfter }),
  };
}

/** A failure of a backup stands until the next one; any other is forgotten when it may be tried again. */
export function forgetExpired(known: BackupPeople, now: number): BackupPeople {
  const { failed, wanted = [] } = known;
  const waiting = wanted.filter(({ expiresAt }) => now <= expiresAt);
  const people = waiting.length === wanted.length ? known : { ...known, wanted: waiting };
  const isOver = failed !== undefined && failed.operation !== 'takeBackup' && failed.retryAt <= now;
  return isOver ? { ...people, failed: undefined } : people;
}

export function afterMessage(
  { people, running, assessment }: Concluding & { readonly running: unknown },
  message: BackupMessage,
): BackupPeople {
  switch (message.kind) {
    case 'pause':
      return { ...people, paused: message.request };
    case 'resume':
      return resumed(people, assessment?.holding?.pause);
    case 'backup':
      return { ...people, requested: message.request };
    case 'verify':
      return { ...people, wanted: [...(people.wanted ?? []), message.wanted].slice(-MOST) };
    case 'resync':
      return { ...people, failed: undefined, prunedAfter: undefined };
    case 'abort':
      return running === undefined ? people : { ...people, stop: message.request };
  }
}

/** As many verifications wait, and as many uids are remembered. */
const MOST = 32;

function resumed(people: BackupPeople, pause: string | undefined): BackupPeople {
  const { spent = [] } = people;
  const isNew = pause !== undefined && !spent.includes(pause);
  return { ...people, paused: undefined, ...(isNew && { spent: [...spent, pause].slice(-MOST) }) };
}

/** After a pass: what it found to make no sense, and what an EtcdRequest has ended, is forgotten, unless something newer is there. */
export function afterPass(people: BackupPeople, { refused, revoked = {} }: BackupAssessment): BackupPeople {
  const { wanted = [] } = people;
  const { paused, failed, prunedAfter } = revoked;
  return {
    ...people,
    ...(refused && { wanted: wanted.filter(({ uid }) => uid !== refused.uid) }),
    ...(paused && paused.at === people.paused?.at && { paused: undefined }),
    ...(failed && failed.retryAt === people.failed?.retryAt && { failed: undefined }),
    ...(prunedAfter !== undefined && prunedAfter === people.prunedAfter && { prunedAfter: undefined }),
  };
}

/** Who ends the operation under way, if anybody does: the resource may be going. */
export function stopFor(
  { stop }: BackupPeople,
  { operation }: BackupRunning,
  { decision, stop: asked }: BackupAssessment,
): Request | undefined {
  const isReleased = decision.kind === 'operate' && decision.operation === 'releaseBackup';
  const goes = decision.kind === 'gone' || (isReleased && operation !== 'releaseBackup');
  return goes ? { by: 'deletion of the resource' } : (stop ?? asked);
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
  const left = { ...people, stop: undefined, verifying: undefined };
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
