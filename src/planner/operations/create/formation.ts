/**
 * Whether the members that a quorum lists formed the cluster that was to be made. Asked right before the cluster id is recorded, of the
 * members alone: what was planned before they elected a leader is done without a look at everything in between. Pure.
 */
import { securitySwitch } from '../../../api/derived/tls.ts';
import { volumesWereNew } from '../../checks/obstacles.ts';
import { memberViews, type MemberView } from '../../model/member-view.ts';
import type { Observation } from '../../model/observation.ts';

/** What is known of the members (activities/observe/members.ts). */
export type OfMembers = Pick<
  Observation,
  'cluster' | 'pods' | 'claims' | 'probes' | 'membership' | 'expectedClusterId'
>;

/**
 * Why the cluster of these members, which a quorum lists, is not recorded without a look at everything; undefined when they are the very
 * members that were to be made, and nobody wants anything else meanwhile.
 */
export function faultOfFormation(
  observation: OfMembers,
  views: readonly MemberView[] = memberViews(observation),
): string | undefined {
  const { cluster, pods } = observation;
  if (cluster.config.paused) return 'spec.paused is true';
  const switched = securitySwitch(cluster.object);
  if (switched !== undefined) return switched;
  const foreign = volumesWereNew(observation);
  if (foreign !== undefined) return foreign.message;
  const planned = cluster.status.incarnation?.members.map(({ name }) => name) ?? [];
  const voters = views.filter(({ ours, isLearner }) => ours && !isLearner).map(({ name }) => name);
  if (views.length !== planned.length || !planned.every(name => voters.includes(name)))
    return `the quorum lists ${views.map(({ name }) => name).join(', ')}, and ${planned.join(', ')} were to form it`;
  const going = observation.claims.find(
    ({ name, owned, deleting }) => owned && deleting && planned.includes(name),
  );
  if (going !== undefined) return `claim ${going.name} is being deleted`;
  const unborn = planned.find(name => !pods.some(pod => pod.name === name));
  return unborn && `${unborn} has no pod`;
}

/** The version that all of them were seen to run; undefined while one of them does not say. */
export function versionOf(views: readonly MemberView[]): string | undefined {
  const versions = new Set(views.map(({ probe }) => probe?.version));
  return versions.size === 1 ? [...versions][0] : undefined;
}
