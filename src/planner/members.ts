import type { Observation } from './observation.ts';

/**
 * The names of the cluster's members: as a quorum lists them now, else as they were last observed, else as they were
 * bootstrapped. Members that were added and never started have no name and are left out.
 */
export function memberNames(observation: Observation): string[] {
  const { membership, cluster } = observation;
  if (membership.known) return membership.members.map(member => member.name).filter(name => name !== '');
  const observed = cluster.status.members?.details?.map(member => member.name) ?? [];
  if (observed.length > 0) return observed;
  return (cluster.status.incarnation?.members ?? []).map(member => member.name);
}
