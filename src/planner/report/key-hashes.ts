/**
 * What the members answered when their keys were compared, as status keeps it: it holds for the very processes that answered, and
 * not for long. Pure.
 */
import { parseTimestamp } from '../../api/values/time.ts';
import type { KeyHashes } from '../../api/schemas/types.ts';
import type { HashFact, Observation, PodFacts } from '../model/observation.ts';

/** So long a comparison lets members be touched: the step that follows comes within seconds, the wait for quiet before it included. */
const HOLDS_MS = 120_000;
/** One that did not come about is made again sooner. */
const FAILED_HOLDS_MS = 30_000;

/** What the hashes are about: nobody else has the right to be taken for one that answered. */
type Compared = Pick<Observation, 'now' | 'cluster' | 'pods'>;

/** The hashes by pod name; undefined when none were asked lately, or a member is another process by now. */
export function currentHashes(observation: Compared): Observation['hashes'] {
  const { keyHashes } = observation.cluster.status;
  if (keyHashes === undefined || !holds(keyHashes, observation)) return undefined;
  return Object.fromEntries(keyHashes.members.map(member => [member.name, factOf(member)]));
}

/** What status goes on saying of them. */
export function keptHashes(observation: Compared): KeyHashes | undefined {
  const { keyHashes } = observation.cluster.status;
  return keyHashes !== undefined && holds(keyHashes, observation) ? keyHashes : undefined;
}

function holds({ comparedAt, members }: KeyHashes, { now, pods }: Compared): boolean {
  const age = now - (parseTimestamp(comparedAt) ?? 0);
  const isWhole = members.every(({ hash }) => hash !== undefined);
  if (age < 0 || age > (isWhole ? HOLDS_MS : FAILED_HOLDS_MS)) return false;
  // What a member holds is to be asked again when its file was rewritten.
  const isNewer = ({ defragmentedAt = 0 }: PodFacts) => defragmentedAt <= now - age;
  return members.every(member => pods.some(pod => isSame(pod, member) && isNewer(pod)));
}

/** Whether the pod is the one whose keys were compared, and was not started again since. */
export function isSame(
  { name, uid, container, owned }: PodFacts,
  member: KeyHashes['members'][number],
): boolean {
  return owned && name === member.name && uid === member.podUID && container === member.container;
}

function factOf({ hash, compactRevision, message }: KeyHashes['members'][number]): HashFact {
  if (hash === undefined) return { ok: false, message: message ?? 'no reason was given' };
  return { ok: true, hash, compactRevision: compactRevision ?? '' };
}
