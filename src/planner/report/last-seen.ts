/**
 * What each member said when it last answered: what may be lost when it does not come back, and by which id etcd knows it. A pass notes
 * it when there is something new, and at most once a minute: it is no reason to write a status. Pure.
 */
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import { parseTimestamp, timestamp } from '../../api/values/time.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import { memberNames } from '../model/member-names.ts';
import type { AnsweredProbe } from '../model/member-probe.ts';
import type { Decision } from '../model/decision.ts';
import type { Situation } from '../model/situation.ts';

/** What is known of one member. */
type LastSeen = NonNullable<EtcdClusterStatus['lastSeen']>[number];

const PACE_MS = 60_000;

/** Of every member that there is; undefined: none ever answered. */
export function lastSeenOf(situation: Situation, decision?: Decision): EtcdClusterStatus['lastSeen'] {
  const { cluster, probes, now } = situation;
  // Before it has an id there is nothing that could be lost.
  if (cluster.status.clusterID === undefined) return undefined;
  // Nobody says anything more once they are stopped.
  const isLast = decision?.kind === 'operate' && decision.step.kind === 'fenceMembers';
  const paceMs = isLast ? 0 : PACE_MS;
  const found = memberNames(situation).flatMap(name => {
    const before = cluster.status.lastSeen?.find(each => each.name === name);
    const probe = probes[name];
    const isOurs = probe?.answered === true && probe.clusterId === cluster.status.clusterID;
    const seen = isOurs ? seenNow(name, probe, { before, now, paceMs }) : before;
    return seen === undefined ? [] : [seen];
  });
  return found.length === 0 ? undefined : found;
}

function seenNow(
  name: string,
  probe: AnsweredProbe,
  {
    before,
    now,
    paceMs,
  }: { readonly before: LastSeen | undefined; readonly now: number; readonly paceMs: number },
): LastSeen {
  const { memberId: id, isLearner, raftTerm, raftIndex, revision } = probe;
  const isSame =
    before?.id === id &&
    (before.learner === true) === isLearner &&
    before.raftIndex === raftIndex &&
    before.revision === revision;
  // Who became a voter is noted at once: it counts for a quorum.
  const isOther = before?.id !== id || (before.learner === true) !== isLearner;
  const age = now - (parseTimestamp(before?.time) ?? 0);
  if (before !== undefined && (isSame || (!isOther && age < paceMs && age >= 0))) return before;
  return withoutUndefined<LastSeen>({
    name,
    id,
    learner: isLearner ? true : undefined,
    time: timestamp(now),
    revision,
    raftTerm,
    raftIndex,
  });
}
