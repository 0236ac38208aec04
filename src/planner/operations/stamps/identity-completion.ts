/**
 * A lost status was recorded again from what was stamped. A claim that had lost its stamps then was not seen; when they are
 * back, its member is remembered too. Only until a quorum lists the members: from then on the list is certain
 * (docs/decisions/0033-data-is-lost-only-upon-proof.md).
 */
import { type Decision, operate } from '../../model/decision.ts';
import { rebuiltIdentity, rebuiltStorage } from '../../model/identity.ts';
import type { Observation } from '../../model/observation.ts';

/** Records the members that turned up since the status was rebuilt; undefined when none did. */
export function planIdentityCompletion(observation: Observation): Decision | undefined {
  const { incarnation, clusterID: clusterId } = observation.cluster.status;
  if (incarnation?.rebuilt !== true || clusterId === undefined || observation.membership.known)
    return undefined;
  const found = rebuiltIdentity(observation)?.incarnation;
  if (found?.token !== incarnation.token) return undefined;
  const known = incarnation.members.map(({ name }) => name);
  const more = found.members.filter(({ name }) => !known.includes(name));
  if (more.length === 0) return undefined;
  const whole = { ...incarnation, members: [...incarnation.members, ...more] };
  const storage = rebuiltStorage(observation, whole);
  return operate('repairCluster', [{ kind: 'recordIncarnation', incarnation: whole, storage, clusterId }]);
}
