/**
 * The end of a cluster: every volume is proved lost. Told, and nothing is done: an empty cluster under the old name would
 * be taken for the old one by its clients.
 */
import type { Obstacle } from '../checks.ts';
import { unstampedClaims } from '../identity.ts';
import { memberNames } from '../members.ts';
import type { Observation } from '../observation.ts';
import { lossOf } from './evidence.ts';
import { lastKnownSeat } from './seats.ts';

/** Whether the cluster had formed, no quorum answers, and of every member it is proved that its data is gone. */
export function isTotalLoss(observation: Observation): boolean {
  const { cluster, membership } = observation;
  if (cluster.status.clusterID === undefined || membership.known) return false;
  // After a lost status it may be that of a member that nobody remembers.
  if (unstampedClaims(observation).length > 0) return false;
  const names = memberNames(observation);
  return (
    names.length > 0 &&
    names.every(name => lossOf(observation, lastKnownSeat(observation, name)) !== undefined)
  );
}

/** What people are told, and what they can do. */
export function totalLoss(observation: Observation): Obstacle {
  const each = memberNames(observation).map(
    name => `${name}: ${lossOf(observation, lastKnownSeat(observation, name))}`,
  );
  const { totalLoss: wish } = observation.cluster.config.recovery;
  const untouched =
    wish === 'Report' ? 'spec.recovery.totalLoss is Report' : 'no backup was restored by itself';
  return {
    reason: 'AllVolumesLost',
    message: `every volume is proved lost (${each.join('; ')}); nothing is started under this name, ${untouched}: bring back a node or a volume, restore a backup, or delete this EtcdCluster and make a new one`,
  };
}
