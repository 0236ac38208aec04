import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { outdatedVolumes } from '../checks/outdated-volumes.ts';
import type { Situation } from '../model/situation.ts';

const TYPE = 'VolumesReplaced';

/** How far the members are on their way to other volumes. Said from when the first had to be replaced on. */
export function replacingVolumes(situation: Situation): ConditionFinding[] {
  const { cluster, membership } = situation;
  const before = cluster.status.conditions?.find(({ type }) => type === TYPE);
  const outdated = outdatedVolumes(situation);
  if (outdated.length > 0) {
    const each = outdated.map(({ view, because }) => `${view.name}: ${because}`);
    const message = `${outdated.length} of ${cluster.config.size} members are to be replaced, one at a time; ${each.join('; ')}`;
    return [finding(TYPE, 'Replacing', message)];
  }
  if (before === undefined) return [];
  // Without a list of the members nobody knows how many are left.
  if (!membership.known && before.status === 'False') return [finding(TYPE, 'Replacing', before.message)];
  return [finding(TYPE, 'AllReplaced')];
}
