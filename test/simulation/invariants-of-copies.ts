/**
 * What must hold of an EtcdBackup with a second store, read from its status and from the bytes in both: nothing is said to be in the second store that
 * is not there with the same bytes, nobody's object is overwritten, and what is there is not forgotten. Shares no code with what it judges.
 */
import { createHash } from 'node:crypto';
import type { EtcdBackupStatus } from '../../src/api/schemas/types.ts';

/** The objects of a store, by key. */
type Objects = ReadonlyMap<string, { readonly bytes: Buffer }>;

export interface CopiedWorld {
  readonly status: EtcdBackupStatus;
  readonly first: Objects;
  readonly second: Objects;
  /** Of the EtcdBackup. */
  readonly uid: string;
}

const FIRST = 's3://backups/';
const SECOND = 's3://copies/';

/** What the status says and is not so; undefined: it is so. */
export function faultOfCopies({ status, second, uid }: CopiedWorld): string | undefined {
  const { history = [] } = status;
  for (const { location, sha256, heldIn, secondStore } of history) {
    const isSaid = heldIn === 'Both' || heldIn === 'Second';
    if (!isSaid && secondStore === undefined) continue;
    const copy = secondStore?.location;
    const bytes = copy === undefined ? undefined : second.get(copy.replace(SECOND, ''))?.bytes;
    if (bytes === undefined) return `${location} is said to be at ${copy}, and nothing is there`;
    if (sum(bytes) !== sha256) return `${location} is said to be at ${copy}, which has other bytes`;
  }
  return forgotten(
    second,
    uid,
    history.map(({ secondStore }) => secondStore?.location ?? ''),
  );
}

/** A copy with a manifest of this very EtcdBackup that no entry names. */
function forgotten(second: Objects, uid: string, named: readonly string[]): string | undefined {
  for (const [key, { bytes }] of second) {
    const object = key.endsWith('.json') ? key.slice(0, -'.json'.length) : undefined;
    if (object === undefined || !second.has(object)) continue;
    const { backup } = JSON.parse(bytes.toString('utf8')) as { readonly backup?: { readonly uid?: string } };
    if (backup?.uid === uid && !named.includes(`${SECOND}${object}`))
      return `${SECOND}${object} is there, and the status has forgotten it`;
  }
  return undefined;
}

/** Whether the first store has all of these keys: nothing goes there because of the second. */
export function faultOfFirst({ status, first }: CopiedWorld, keep: number): string | undefined {
  const kept = (status.history ?? []).filter(({ heldIn }) => heldIn !== 'Second').slice(0, keep);
  const lost = kept.find(({ location }) => !first.has(location.replace(FIRST, '')));
  if (lost !== undefined) return `${lost.location} is kept, and the first store does not have it`;
  return kept.length < keep
    ? `the first store has ${kept.length} backups, and ${keep} are to be kept`
    : undefined;
}

function sum(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
