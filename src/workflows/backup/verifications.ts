/** Verifications of stored backups that users asked for: each waits for its turn, and its verdict is in the status. Pure. */
import type { BackupWorkflowState } from '../../activities/index.ts';
import type { WantedVerification } from '../../api/values/requests.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { isText, type Received } from '../messages/text.ts';

/** As long as a location in a status. */
const LONGEST_LOCATION = 4096;
/** As long as the name of an object. */
const LONGEST_NAME = 253;

type Mirrored = NonNullable<BackupWorkflowState['verifications']>[number];

/** One that has not ended. */
export interface Verification {
  readonly uid: string;
  readonly request: Received;
  readonly wanted: WantedVerification;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

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

/** The oldest, as the planner takes it. */
export function nextVerification([first]: readonly Verification[]): BackupWorkflowState['verify'] {
  return first && { uid: first.uid, ...first.request, ...first.wanted };
}

/** As the planner mirrors it in the status. */
export function asPlanned({ uid, request, wanted, expiresAt }: Verification): Mirrored {
  return { uid, ...request, ...wanted, expiresAt };
}

/** As the planner found it there. */
export function asWaiting({ uid, by, reason, at, expiresAt, ...wanted }: Mirrored): Verification {
  return { uid, request: withoutUndefined<Received>({ by, reason, at }), wanted, expiresAt };
}
