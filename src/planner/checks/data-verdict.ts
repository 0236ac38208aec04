/**
 * What a comparison of the data of the members says: who differs from whom. What decides is a majority of all voters that have the same hash:
 * neither the member that CORRUPT names, which etcd 3.5 leaves out, nor one that refuses to start, as that may be right and the others wrong.
 * Pure.
 */
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import { isAtLeast } from '../../api/versions/compare.ts';
import type { MemberView } from '../model/member-view.ts';
import type { Situation } from '../model/situation.ts';
import { SAME_COMPACTION_SINCE } from './gates.ts';

/** As the status remembers it. */
export type DataComparison = NonNullable<EtcdClusterStatus['dataComparison']>;
/** What one member answered. */
export type Compared = DataComparison['members'][number];
type OfVoters = Pick<Situation, 'members'>;

/** Etcd's last words when its data is not that of a peer (server/etcdserver/corrupt.go, InitialCheck; from 3.6 on). */
const INCONSISTENT = /found data inconsistency with peers$/m;

/** Members that gave the same answer. `hash`: absent when etcd refuses to start on what they have. */
export interface Side {
  readonly views: readonly MemberView[];
  readonly hash?: string;
}

/** What the last comparison says of the voters that there are now. */
export type Verdict =
  | { /** Nothing was compared, or not all of them. */ readonly kind: 'unknown'; readonly message: string }
  | { readonly kind: 'equal' }
  | {
      readonly kind: 'differs';
      /** They do not have what the majority has. */
      readonly differing: readonly MemberView[];
      readonly majority: readonly MemberView[];
      readonly sides: readonly Side[];
    }
  | { /** No majority has the same data. */ readonly kind: 'undecided'; readonly sides: readonly Side[] };

/** The voters: those whose data counts. */
export function votersOf({ members }: OfVoters): readonly MemberView[] {
  return members.filter(({ isLearner }) => !isLearner);
}

/** Whether etcd itself says that it does not start, as its data is not that of the others. */
export function refusesToStart({ pod, probe }: MemberView): boolean {
  const { trouble } = pod ?? {};
  return (
    probe === undefined &&
    trouble !== undefined &&
    trouble.container === undefined &&
    INCONSISTENT.test(trouble.message)
  );
}

/** Whether the record is about exactly the voters that there are. */
export function isAbout(situation: OfVoters, { members }: DataComparison): boolean {
  const ids = votersOf(situation).map(({ id }) => id);
  return ids.length === members.length && members.every(({ id }) => ids.includes(id));
}

/** What the record says of the voters that there are now. */
export function judged(situation: OfVoters, record: DataComparison | undefined): Verdict {
  const voters = votersOf(situation);
  if (record === undefined)
    return { kind: 'unknown', message: 'the data of the members has not been compared' };
  const answers = voters.map(view => ({ view, said: record.members.find(({ id }) => id === view.id) }));
  // One that does not start is no side of its own: it holds what it was last seen to hold.
  const refusing = answers.flatMap(({ view, said }) =>
    view.probe === undefined && (refusesToStart(view) || said?.refuses === true) ? [view] : [],
  );
  const sides = sidesOf(answers.filter(({ view }) => !refusing.includes(view)));
  const compared = sides.flatMap(({ views }) => views);
  const most = sides[0]?.views ?? [];
  const others = sides.slice(1).flatMap(({ views }) => views);
  const isMajority = most.length > voters.length / 2;
  if (others.length > 0) {
    if (isMajority) return { kind: 'differs', differing: others, majority: most, sides };
    return { kind: 'undecided', sides: withRefusing(sides, refusing) };
  }
  const silent = voters.filter(view => !compared.includes(view) && !refusing.includes(view));
  if (silent.length > 0 || compared.length === 0) {
    const names = silent.map(({ name }) => name).join(', ');
    return { kind: 'unknown', message: `the data of ${names || 'the members'} has not been compared` };
  }
  if (refusing.length === 0) return { kind: 'equal' };
  const all = withRefusing(sides, refusing);
  return isMajority
    ? { kind: 'differs', differing: refusing, majority: most, sides: all }
    : { kind: 'undecided', sides: all };
}

function withRefusing(sides: readonly Side[], refusing: readonly MemberView[]): readonly Side[] {
  return refusing.length === 0 ? sides : [...sides, { views: refusing }];
}

/** Those of the most members that can be compared with each other, the largest side first; the others were not compared. */
function sidesOf(
  answers: readonly { readonly view: MemberView; readonly said: Compared | undefined }[],
): readonly Side[] {
  const known = answers.flatMap(({ view, said }) =>
    said?.hash === undefined
      ? []
      : [{ view, hash: said.hash, over: `${compactsAs(view)} ${said.compactRevision}` }],
  );
  const groups = [...Map.groupBy(known, ({ over }) => over).values()];
  const [largest = []] = groups.toSorted((a, b) => b.length - a.length);
  return [...Map.groupBy(largest, ({ hash }) => hash)]
    .map(([hash, each]) => ({ hash, views: each.map(({ view }) => view) }))
    .toSorted((a, b) => b.views.length - a.views.length);
}

/** Compactions of the two leave other things behind. */
function compactsAs({ probe, pod }: MemberView): string {
  return isAtLeast(probe?.version ?? pod?.version ?? '', SAME_COMPACTION_SINCE) ? 'new' : 'old';
}
