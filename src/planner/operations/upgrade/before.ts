/**
 * What there was before the members left their minor: once the last of them runs the new one, none can return to the old one on its data, and
 * the backup from before leads back (issue M2).
 */
import type { BeforeUpgrade } from '../../../api/schemas/types.ts';
import { compareVersions, isOlderMinor, minorOf } from '../../../api/versions/compare.ts';
import { latestBackup } from '../../model/backups-of-cluster.ts';
import type { Situation } from '../../model/situation.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { waitingPods } from './pods.ts';

/** What status remembers of it: until every member runs that minor again. */
export function recordedBefore(situation: Situation): BeforeUpgrade | undefined {
  const { cluster, membership, goal } = situation;
  const { beforeUpgrade: recorded, currentVersion } = cluster.status;
  // Without a quorum nobody knows what the members run.
  if (!membership.known) return recorded;
  if (goal.kind === 'go' && isOlderMinor(goal.from, goal.to)) return beginning(situation, goal);
  const isBack = goal.kind === 'none' && minorOf(currentVersion ?? '') === minorOf(recorded?.version ?? '');
  return isBack ? undefined : recorded;
}

/** As long as no member runs the new minor, a newer backup is taken up. */
function beginning(situation: Situation, goal: Goal): BeforeUpgrade | undefined {
  const { cluster, backups = [], members } = situation;
  const { beforeUpgrade: recorded } = cluster.status;
  const { version: wanted } = cluster.config;
  const isBegun = waitingPods(situation, goal).length < members.length;
  // Several minors in a row are one upgrade: all the way back is what there was before the first.
  const isNextHop = recorded?.to === wanted && compareVersions(recorded.version, goal.from) < 0;
  if (recorded !== undefined && (isBegun || isNextHop)) return recorded;
  const best = latestBackup(backups);
  if (best?.newest === undefined) return { version: goal.from, to: wanted };
  const { location, time, revision } = best.newest;
  const backup = { name: best.name, location, time, ...(revision !== undefined && { revision }) };
  return { version: goal.from, to: wanted, backup };
}
