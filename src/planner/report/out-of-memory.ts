/** Members whose etcd was ended because it used more memory than it may: nothing else says so once it runs again. */
import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { timestamp } from '../../api/values/time.ts';
import { bytes } from '../../api/values/sizes.ts';
import { largestDatabase } from '../model/member-probe.ts';
import { memberNames } from '../model/member-names.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';

/** So long after it happened last it is reported. */
const SHOWN_MS = 3_600_000;
/** Of the kubelet. */
const KILLED = 'OOMKilled';

/** Whether the member is between two such ends: its pod runs, and does not come up. */
export function isRunningOutOfMemory({ ready, lastExit }: Pick<PodFacts, 'ready' | 'lastExit'>): boolean {
  return !ready && lastExit?.reason === KILLED;
}

/** Condition OutOfMemory, while it was so within the last hour. */
export function outOfMemory(situation: Situation): ConditionFinding[] {
  const names = memberNames(situation);
  const members = situation.pods.filter(pod => pod.owned && names.includes(pod.name));
  const killed = members.flatMap(pod => killedLately(situation, pod));
  return killed.length === 0 ? [] : [finding('OutOfMemory', 'MembersKilled', killed.join('; '))];
}

/** How often a member was started again, if it was ended within the last hour. */
function killedLately(
  { now, probes }: Situation,
  { name, restarts = 0, lastExit }: PodFacts,
): readonly string[] {
  const { reason, at, message } = lastExit ?? {};
  if (reason !== KILLED || at === undefined || now - at >= SHOWN_MS) return [];
  const times = restarts === 1 ? 'once' : `${restarts} times`;
  // The kernel counts the pages of the file that etcd maps, and no other figure of its use is known after its end.
  const database = largestDatabase(probes);
  const held =
    database === undefined
      ? ''
      : `; the databases of the members that answer have up to ${bytes(database)}, which etcd maps into its memory`;
  return [`${name} was started again ${times}, last after ${timestamp(at)}: ${message}${held}`];
}
