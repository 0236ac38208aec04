/** What is remembered of members that were lost: who took their place, and how many there were lately. */
import { ANNOTATION_REPLACED } from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';
import { stampsOf } from './identity.ts';
import type { ClusterFacts } from './observation.ts';
import type { Situation } from './situation.ts';

type Replacement = NonNullable<EtcdClusterStatus['replacements']>[number];

const HOUR_MS = 3_600_000;

/** Whether a member is still to be added for the one that was lost. */
export function awaitsSuccessor({ replacedBy, notNeeded }: Replacement): boolean {
  return replacedBy === undefined && notNeeded !== true;
}

/**
 * As they are remembered after this pass. A successor that is listed no more, and was not lost as a voter itself, never joined, was given up
 * as a learner, or was taken away: while members are missing, another one is to come. Who is gone, while there are as many members as are
 * asked for, has no successor to come: a member that is added later is added because more are asked for.
 */
export function replacementsAfter(situation: Situation): EtcdClusterStatus['replacements'] {
  const { replacements } = situation.cluster.status;
  const { members: views } = situation;
  if (views.length === 0) return replacements;
  const isWhole = views.length >= situation.cluster.config.size;
  const isListed = (member: string) => views.some(({ name }) => name === member);
  const isSucceeded = ({ replacedBy }: Replacement) =>
    replacedBy !== undefined &&
    (isListed(replacedBy) || replacements?.some(({ member }) => member === replacedBy) === true);
  return replacements?.map(replacement => {
    if (replacement.notNeeded === true || isListed(replacement.member) || isSucceeded(replacement))
      return replacement;
    const { replacedBy: _, ...open } = replacement;
    return isWhole ? { ...replacement, notNeeded: true } : open;
  });
}

/** The members that were lost and still await a successor, and those whose successor is a learner yet. */
export function openReplacements(situation: Situation): readonly Replacement[] {
  const learner = situation.members.find(({ isLearner }) => isLearner)?.name;
  return (replacementsAfter(situation) ?? []).filter(
    replacement =>
      awaitsSuccessor(replacement) || (learner !== undefined && replacement.replacedBy === learner),
  );
}

/** The members that were replaced within the hour before `now`, as status and resource remember it: a status can be lost. */
export function replacedLately(cluster: ClusterFacts, now: number): ReadonlyMap<string, string> {
  const { annotations = {} } = cluster.object.metadata;
  const stamped = stampsOf(cluster).token === undefined ? '' : (annotations[ANNOTATION_REPLACED] ?? '');
  const noted = stamped.split(' ').flatMap((note): [string, string][] => {
    const [member = '', time = ''] = note.split('=');
    return member === '' ? [] : [[member, time]];
  });
  const recorded = (cluster.status.replacements ?? []).map(({ member, time }): [string, string] => [
    member,
    time,
  ]);
  return new Map([...noted, ...recorded].filter(([, time]) => now - (parseTimestamp(time) ?? 0) < HOUR_MS));
}

/** The annotation of the resource that says so. */
export function replacedNote(lately: ReadonlyMap<string, string>): string {
  return [...lately].map(([member, time]) => `${member}=${time}`).join(' ');
}
