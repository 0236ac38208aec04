/** What becomes of the backups that were asked for as EtcdRequests: the run that they led to tells. Pure. */
import type { BackupAssessment } from '../../activities/index.ts';
import type { GivenRequest, Request } from '../../api/values/requests.ts';
import { judgeGiven, type Remembering } from '../engine/given.ts';

/** Who asked first for a backup that has not begun; undefined: nobody. */
export function waitingGiven({ given = [] }: Remembering): Request | undefined {
  return given.find(isWaiting)?.backup?.request;
}

function isWaiting({ backup, state }: GivenRequest): boolean {
  return backup !== undefined && state === 'waiting';
}

/** A run that was asked for begins: it is for all who have asked. */
export function begunGiven<P extends Remembering>(people: P): P {
  return judgeGiven(people, each =>
    isWaiting(each) ? { state: 'accepted', message: 'the backup has begun' } : undefined,
  );
}

/** After a pass while no operation runs: the run that one led to has ended, or is not there yet. */
export function noteGiven<P extends Remembering>(people: P, { decision, summary }: BackupAssessment): P {
  const { lastRun } = summary ?? {};
  const newest = lastRun?.startedAt ?? '';
  return judgeGiven(people, ({ backup, state }) => {
    if (backup === undefined) return undefined;
    if (state === 'waiting') return { backup: { ...backup, before: newest } };
    if (decision.kind === 'operate' && decision.operation === 'takeBackup') return undefined;
    if (lastRun === undefined || newest === backup.before) return { state: 'failed', message: NO_RUN };
    const message =
      lastRun.message ?? `the backup of ${newest} ended: ${lastRun.outcome ?? 'its outcome is not recorded'}`;
    return lastRun.outcome === 'Succeeded' ? { state: 'done', message } : { state: 'failed', message };
  });
}

const NO_RUN = 'no run of the backup was recorded: see the conditions of the EtcdBackup';

/** What has not begun in time is not asked for any more. */
export function expireGiven<P extends Remembering>(people: P, now: number): P {
  return judgeGiven(people, each =>
    isWaiting(each) && now > each.expiresAt
      ? { state: 'expired', message: 'it expired before the backup began' }
      : undefined,
  );
}
