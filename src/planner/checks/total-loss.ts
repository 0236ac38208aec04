/**
 * The end of a cluster: every volume is proved lost. It is reported, and nothing is done: an empty cluster under the old name would
 * be taken for the old one by its clients.
 */
import type { Obstacle } from '../model/decision.ts';
import { unstampedClaims } from '../model/identity.ts';
import { memberNames } from '../model/member-names.ts';
import type { Observation } from '../model/observation.ts';
import { graceLeftMs, lossOf, mountLeftMs } from './evidence.ts';
import { lastKnownView } from '../model/member-view.ts';

/**
 * Whether the cluster had formed, no quorum answers, and of every member it is proved that its data is gone, for as long as a
 * single member would be waited for (`spec.repair.replaceAfterSeconds`): nodes are sometimes registered again, all at once.
 */
export function isTotalLoss(observation: Observation): boolean {
  return graceOfLossMs(observation) === 0;
}

/** Milliseconds until the loss of every volume counts as proved; undefined while not every one looks lost. */
export function graceOfLossMs(observation: Observation): number | undefined {
  const { cluster, membership } = observation;
  if (cluster.status.clusterID === undefined || membership.known) return undefined;
  // Machines may be off because it sleeps.
  if (cluster.config.hibernated && cluster.status.storage?.kind !== 'EmptyDir') return undefined;
  // After a lost status it may be that of a member that nobody remembers.
  if (unstampedClaims(observation).length > 0) return undefined;
  const views = memberNames(observation).map(name => lastKnownView(observation, name));
  if (views.length === 0 || views.some(view => lossOf(observation, view) === undefined)) return undefined;
  if (unlistedClaims(observation).length > 0) return undefined;
  const graceMs = Math.max(...views.map(view => graceLeftMs(observation, view)));
  return Math.max(graceMs, ...views.map(view => mountLeftMs(observation, view)));
}

/**
 * Names of claims of this incarnation that belong to others than the members that are known: of a status that names none, or not of
 * all, or of a learner that was just added. The claim of a member that the operator removed says so, or is kept for a while; one that is
 * Pending never had a volume, so nothing was ever written there.
 */
export function unlistedClaims(observation: Observation): string[] {
  const { cluster, claims } = observation;
  const known = memberNames(observation);
  return claims
    .filter(
      ({ owned, token, name, uid, phase, keptUntil, removal }) =>
        owned &&
        token === cluster.status.incarnation?.token &&
        phase !== 'Pending' &&
        keptUntil === undefined &&
        removal !== uid &&
        !known.includes(name),
    )
    .map(({ name }) => name);
}

/** Whether it is proved that this member's data is gone, and was waited for long enough. */
export function isProvedLost(observation: Observation, member: string): boolean {
  const view = lastKnownView(observation, member);
  if (lossOf(observation, view) === undefined) return false;
  return graceLeftMs(observation, view) === 0 && mountLeftMs(observation, view) === 0;
}

/** What is reported to users while every volume looks lost, and what they can do; undefined when one does not. */
export function lossOfAll(observation: Observation): Obstacle | undefined {
  const graceMs = graceOfLossMs(observation);
  if (graceMs === undefined) return undefined;
  return graceMs === 0 ? totalLoss(observation) : waitingForVolumes(observation, graceMs);
}

/** What is reported to users about a total loss, and what they can do. */
export function totalLoss(observation: Observation): Obstacle {
  const { totalLoss: wish } = observation.cluster.config.recovery;
  // As long as one waits the operator asks for none of its own.
  const [asked] = (observation.restores ?? []).filter(({ refusal }) => refusal === undefined);
  const itself =
    asked === undefined
      ? 'no backup was restored automatically'
      : `EtcdRestore ${asked.name} will restore it`;
  const untouched = wish === 'Report' ? 'spec.recovery.totalLoss is Report' : itself;
  return {
    reason: 'AllVolumesLost',
    message: `all volumes are lost (${lossesOf(observation)}); no member is started, ${untouched}: recover a node or a volume, restore a backup, or delete this EtcdCluster and create a new one`,
  };
}

function waitingForVolumes(observation: Observation, graceMs: number): Obstacle {
  return {
    reason: 'WaitingForMember',
    message: `no volume is reachable (${lossesOf(observation)}); they are treated as lost in ${Math.ceil(graceMs / 1_000)} s unless a node or a disk comes back (spec.repair.replaceAfterSeconds)`,
  };
}

function lossesOf(observation: Observation): string {
  const each = memberNames(observation).map(
    name => `${name}: ${lossOf(observation, lastKnownView(observation, name))}`,
  );
  return each.join('; ');
}
