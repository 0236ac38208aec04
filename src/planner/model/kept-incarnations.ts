/**
 * What a cluster was before a restore, a recovery or a rollback put something else in its place: its claims are kept, and it can be gone
 * back to. Each claim says what its cluster was when it was left, so that a lost status does not take it along. Pure.
 */
import {
  ANNOTATION_INCARNATION,
  ANNOTATION_KEPT_INCARNATION,
  bySerial,
  isNameOfMember,
} from '../../api/names.ts';
import { canonical } from '../../api/values/canonical.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { memberNames } from './member-names.ts';
import { ownsToken } from './identity.ts';
import type { ClaimFacts, ClusterFacts, Observation } from './observation.ts';

/** A member as it was when its incarnation was left. */
export interface KeptMember {
  readonly name: string;
  /** etcd's member id, in hexadecimal, where it is known. */
  readonly id?: string;
  readonly learner?: true;
  /** Where its pod ran. */
  readonly node?: string;
}

/** What is noted on each claim of an incarnation that is put aside. */
export interface KeptNote {
  readonly token: string;
  /** etcd's cluster id; absent: it never formed. */
  readonly clusterID?: string;
  /** When it was recorded. */
  readonly since?: string;
  /** When it was left. */
  readonly leftAt?: string;
  /** The highest revision that was observed of a member, and when. */
  readonly revision?: number;
  readonly seenAt?: string;
  readonly members: readonly KeptMember[];
}

/** An incarnation whose claims are kept. */
export interface KeptIncarnation {
  readonly token: string;
  /** Undefined: nothing says who its members were. */
  readonly note: KeptNote | undefined;
  readonly claims: readonly KeptClaim[];
}

/** What must be known of a claim. */
export type KeptClaim = Pick<
  ClaimFacts,
  | 'name'
  | 'uid'
  | 'token'
  | 'clusterId'
  | 'stampedUid'
  | 'version'
  | 'phase'
  | 'deleting'
  | 'keptByRestore'
  | 'home'
  | 'requested'
  | 'capacity'
  | 'annotations'
>;

/** What is noted on the claims of the incarnation that is recorded, when it is put aside; undefined: none is. */
export function keptNote(observation: Observation, leftAt?: string): KeptNote | undefined {
  const { status } = observation.cluster;
  return status.incarnation && noteOf({ status, members: memberNames(observation), leftAt });
}

/** Of an incarnation with this status and these members. */
export function noteOf({
  status: { incarnation, clusterID, lastSeen = [], members: known },
  members,
  leftAt,
}: {
  readonly status: Pick<EtcdClusterStatus, 'incarnation' | 'clusterID' | 'lastSeen' | 'members'>;
  readonly members: readonly string[];
  readonly leftAt?: string | undefined;
}): KeptNote {
  const revisions = lastSeen.flatMap(({ revision }) => (revision === undefined ? [] : [Number(revision)]));
  const seenAt = lastSeen
    .map(({ time }) => time)
    .toSorted()
    .at(-1);
  return withoutUndefined<KeptNote>({
    token: incarnation?.token ?? '',
    clusterID,
    since: incarnation?.createdAt,
    leftAt,
    revision: revisions.length === 0 ? undefined : Math.max(...revisions),
    seenAt,
    members: members.map(name => {
      const seen = lastSeen.find(each => each.name === name);
      const detail = known?.details?.find(each => each.name === name);
      const isLearner = seen?.learner === true || detail?.role === 'Learner';
      return withoutUndefined<KeptMember>({
        name,
        id: seen?.id ?? detail?.id,
        learner: isLearner ? true : undefined,
        node: detail?.node,
      });
    }),
  });
}

/** The annotation. */
export function keptNoteText(note: KeptNote): string {
  return canonical(note);
}

/** Undefined for a note that is absent, or that somebody made something else of. */
function readNote(text: string | undefined, token: string): KeptNote | undefined {
  if (text === undefined) return undefined;
  try {
    const note = JSON.parse(text) as Partial<KeptNote> | null;
    const isWhole =
      note?.token === token &&
      Array.isArray(note.members) &&
      note.members.length > 0 &&
      note.members.every(member => typeof member?.name === 'string');
    return isWhole ? (note as KeptNote) : undefined;
  } catch {
    return undefined;
  }
}

/** Where a member ran when its incarnation was left, as its claim says. */
export function nodeNoted(annotations: Readonly<Record<string, string>>, member: string): string | undefined {
  const note = readNote(annotations[ANNOTATION_KEPT_INCARNATION], annotations[ANNOTATION_INCARNATION] ?? '');
  return note?.members.find(({ name }) => name === member)?.node;
}

/** What is kept of a cluster besides what runs, in the order in which the incarnations were begun. */
export function keptIncarnations(
  cluster: Pick<ClusterFacts, 'name' | 'uid' | 'object' | 'status'>,
  claims: readonly KeptClaim[],
): KeptIncarnation[] {
  const { name, status } = cluster;
  // One that was about to be gone back to when the operator was killed has its note still.
  const isKept = (claim: KeptClaim): boolean =>
    (claim.keptByRestore === true || isNoted(claim)) &&
    ownsToken(cluster, claim.token) &&
    claim.token !== status.incarnation?.token &&
    isNameOfMember(name, claim.name);
  const byToken = Map.groupBy(claims.filter(isKept), ({ token = '' }) => token);
  return [...byToken.entries()]
    .toSorted(([a], [b]) => bySerial(a, b))
    .map(([token, all]) => ({
      token,
      note: newestNote(all, token) ?? recordedNote(status, token),
      claims: all,
    }));
}

/** Whether it says what its cluster was when it was left, which may have been gone back to since. */
function isNoted({ annotations }: Pick<KeptClaim, 'annotations'>): boolean {
  return annotations?.[ANNOTATION_KEPT_INCARNATION] !== undefined;
}

/** The same is noted on each, but where an attempt was cut short. */
function newestNote(claims: readonly KeptClaim[], token: string): KeptNote | undefined {
  return claims
    .flatMap(({ annotations = {} }) => readNote(annotations[ANNOTATION_KEPT_INCARNATION], token) ?? [])
    .toSorted(({ leftAt: a = '' }, { leftAt: b = '' }) => (a < b ? 1 : -1))[0];
}

/** What a release that noted nothing on claims recorded of the one before the last restore. */
function recordedNote({ previousIncarnation }: EtcdClusterStatus, token: string): KeptNote | undefined {
  const { incarnation, clusterID, members = [], lastSeen } = previousIncarnation ?? {};
  if (incarnation?.token !== token || members.length === 0) return undefined;
  return noteOf({
    status: {
      incarnation,
      ...(clusterID !== undefined && { clusterID }),
      ...(lastSeen !== undefined && { lastSeen }),
    },
    members,
  });
}
