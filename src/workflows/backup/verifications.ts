/** Verifications of stored backups that people asked for: each waits for the slot, has an operation of its own, and is told its verdict. Pure. */
import type { BackupActor, BackupAssessment } from '../../activities/index.ts';
import type { Given, GivenRequest, Request, WantedVerification } from '../../api/values/requests.ts';
import { judgeGiven, remember, type Remembering } from '../engine/given.ts';
import { isText } from '../messages/text.ts';

/** As long as a location in a status. */
const LONGEST_LOCATION = 4096;
/** As long as the name of an object. */
const LONGEST_NAME = 253;

/** What is to be verified, out of whatever was sent; a text: why that is nothing. */
export function wantedFrom(sent: unknown): WantedVerification | string {
  const { location, level, cluster } = (sent ?? {}) as Readonly<Record<string, unknown>>;
  if (!isAbsentOrText(location, LONGEST_LOCATION))
    return '"location" must name a backup as status.history of the EtcdBackup does';
  if (!isAbsentOrText(cluster, LONGEST_NAME)) return '"cluster" must be the name of an EtcdCluster';
  if (level !== undefined && level !== 'Structure' && level !== 'Restore')
    return '"level" must be Structure or Restore';
  return {
    ...(location !== undefined && { location }),
    ...(level !== undefined && { level }),
    ...(cluster !== undefined && { cluster }),
  };
}

function isAbsentOrText(value: unknown, longest: number): value is string | undefined {
  return value === undefined || (isText(value) && value.length <= longest);
}

/** Remembers what was asked for. */
export function withVerification<P extends Remembering>(
  people: P,
  {
    request,
    given,
    wanted,
  }: { readonly request: Request; readonly given: Given; readonly wanted: WantedVerification },
): P {
  const waiting = { state: 'waiting', message: 'the verification has not begun' } as const;
  return remember(people, given, { verify: { ...wanted, request }, ...waiting });
}

/** The oldest that has not begun. */
export function waitingVerification({ given = [] }: Remembering): BackupActor['verify'] {
  const { uid, verify } = given.find(isWaiting) ?? {};
  if (uid === undefined || verify === undefined) return undefined;
  const { request, ended: _, isMissed: __, ...wanted } = verify;
  return { uid, ...request, ...wanted };
}

function isWaiting({ verify, state }: GivenRequest): boolean {
  return verify !== undefined && state === 'waiting';
}

/** The operation that makes it has begun. */
export function begunVerification<P extends Remembering>(people: P, uid: string): P {
  const message = 'the verification has begun: status.verification of the EtcdBackup says how far it is';
  return judgeGiven(people, each =>
    each.uid === uid && isWaiting(each) ? { state: 'accepted', message } : undefined,
  );
}

/** A pass has found that what was asked for makes no sense. */
export function noteRefused<P extends Remembering>(people: P, { refused }: BackupAssessment): P {
  if (refused === undefined) return people;
  const { uid, message } = refused;
  return judgeGiven(people, each =>
    each.uid === uid && isWaiting(each) ? { state: 'refused', message } : undefined,
  );
}

interface Ended {
  readonly outcome: 'ended' | 'aborted' | 'failed';
  readonly message?: string | undefined;
  readonly by?: Request | undefined;
}

/** Its operation has ended: the next pass brings the verdict, if there is one. */
export function endedVerification<P extends Remembering>(people: P, { outcome, message, by }: Ended): P {
  const who = `${by?.by ?? 'somebody'}${by?.reason === undefined ? '' : ` (${by.reason})`}`;
  const why = outcome === 'aborted' ? `aborted by ${who}` : (message ?? 'no reason was given');
  return judgeGiven(people, ({ verify, state }) =>
    verify !== undefined && state === 'accepted'
      ? { verify: { ...verify, ended: { outcome, message: why } } }
      : undefined,
  );
}

const NO_VERDICT = 'no verdict was recorded: see the conditions and the status of the EtcdBackup';

/** After a pass while no operation runs: what one has found, or why there is no verdict. */
export function noteVerdict<P extends Remembering>(people: P, { summary }: BackupAssessment): P {
  const found = summary?.verification;
  return judgeGiven(people, ({ uid, verify, state }) => {
    if (verify === undefined || state !== 'accepted') return undefined;
    if (found?.request === uid && found.completedAt !== undefined) return verdictOf(found);
    const { ended, isMissed } = verify;
    if (ended !== undefined && ended.outcome !== 'ended')
      return { state: ended.outcome, message: ended.message };
    // A pass that began before the operation ended does not know what it has found.
    if (isMissed !== true) return { verify: { ...verify, isMissed: true } };
    return { state: 'failed', message: NO_VERDICT };
  });
}

type Found = NonNullable<NonNullable<BackupAssessment['summary']>['verification']>;

function verdictOf({ outcome, message = '' }: Found): Partial<GivenRequest> {
  const verdict = outcome === 'Verified' || outcome === 'PartlyVerified' ? outcome : 'NotVerified';
  return { state: verdict === 'NotVerified' ? 'failed' : 'done', message, verdict };
}

/** What has not begun in time is not asked for any more. */
export function expireVerifications<P extends Remembering>(people: P, now: number): P {
  return judgeGiven(people, each =>
    isWaiting(each) && now > each.expiresAt
      ? { state: 'expired', message: 'it expired before the verification began' }
      : undefined,
  );
}
