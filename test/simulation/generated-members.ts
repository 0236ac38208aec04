/** Members, field by field, for generated observations: what etcd lists, what Kubernetes shows, what each says of itself. */
import * as fc from 'fast-check';

/** The first of them in `often` of `often + others` cases. Shrinks towards the first. */
export function mostly<const T>(often: number, first: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc
    .nat({ max: often + others.length - 1 })
    .map(at => (at < often ? first : (others[at - often] as T)));
}

/** Times, in seconds before now. */
const DAY = 86_400;

/** Last words of an etcd that found nothing on its volume, alone and among peers, and of one with another fault. */
export const EMPTY_ALONE =
  'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs';
const EMPTY_AMONG_PEERS = 'member a1 has already been bootstrapped';
const PANIC = 'panic: freepages: failed to get all reachable pages';

/** What is generated of one member. `wild`: how often a field is as in a cluster that is well, to one of each that is not. */
export function memberDraw(wild: number) {
  const rarely = <const T>(first: T, ...others: readonly T[]) => mostly(wild, first, ...others);
  return fc.record({
    listed: rarely(true, false),
    url: rarely('own', 'other domain', 'stranger'),
    name: rarely('own', 'none', 'stranger'),
    started: rarely(true, false),
    isLearner: rarely(false, true),
    detail: rarely('voter', 'none', 'learner'),
    lostSince: rarely<number | undefined>(undefined, 5, 30, 90, 1_000, DAY),
    pod: fc.record({
      there: rarely(true, false, false, false),
      owned: rarely(true, false),
      token: rarely('own', 'before', 'foreign', 'none'),
      clusterId: rarely('own', 'other', 'none'),
      phase: rarely('Running', 'Pending', 'Failed', 'Unknown'),
      ready: rarely(true, false),
      deleting: rarely(false, true),
      goneBy: rarely<number | undefined>(undefined, -20, 100),
      trouble: rarely<string | undefined>(
        undefined,
        EMPTY_ALONE,
        EMPTY_AMONG_PEERS,
        PANIC,
        'Unschedulable',
        'ImagePullBackOff',
      ),
      firstStart: rarely<'sealed' | 'open' | 'fixed'>('sealed', 'open', 'fixed'),
      clients: rarely<'admitted' | 'withdrawn' | undefined>('admitted', 'withdrawn', undefined),
      age: rarely(DAY, 20, 200, 700),
      readyFor: rarely(DAY, 3, 15),
      runs: rarely<'current' | 'target' | 'asked' | 'odd'>('current', 'target', 'asked', 'odd'),
      isOutdated: rarely(false, true),
      settled: rarely(false, true),
    }),
    claim: fc.record({
      there: rarely(true, false, false),
      owned: rarely(true, false),
      token: rarely('own', 'before', 'foreign', 'none'),
      clusterId: rarely('own', 'other', 'none'),
      uid: rarely('own', 'other'),
      // Which uid it carries as its stamp, and whether the status recorded the one that the member was created with.
      stampedUid: rarely('first', 'none', 'its own'),
      isRecorded: rarely(true, false),
      phase: rarely('Bound', 'Pending', 'Lost'),
      deleting: rarely(false, true),
      keptByRestore: rarely(false, true),
      keptUntil: rarely<number | undefined>(undefined, -50, 50),
      home: rarely<boolean | undefined>(undefined, true, false, false),
      runs: rarely<'current' | 'target' | 'none' | 'odd'>('current', 'target', 'none', 'odd'),
    }),
    probe: fc.record({
      answered: rarely(true, false, false),
      denied: rarely(false, true),
      id: rarely('own', 'other'),
      clusterId: rarely('own', 'other'),
      leader: rarely('first', 'own', 'nobody', 'second'),
      isLearner: rarely<boolean | undefined>(undefined, true, false),
      lag: rarely(0, 500, 5_000, 200_000),
      applied: rarely(0, 5_000),
      dbSize: rarely(20_480, 2_000_000_000),
      error: rarely<string | undefined>(
        undefined,
        'etcdserver: no leader',
        'memberID:161 alarm:NOSPACE ',
        'memberID:161 alarm:CORRUPT ',
      ),
      reads: rarely(true, false),
      agreed: rarely<'current' | 'target' | 'none'>('current', 'target', 'none'),
      downgrade: rarely<'none' | 'current' | 'target'>('none', 'current', 'target'),
    }),
    hash: rarely<'same' | 'other' | 'unknown'>('same', 'other', 'unknown'),
  });
}

export type MemberDraw = ReturnType<typeof memberDraw> extends fc.Arbitrary<infer T> ? T : never;
