/**
 * When the next pass of an idle cluster is due (docs/decisions/0078-an-idle-cluster-is-left-alone.md). The watcher reports changes in
 * Kubernetes at once and asks the members for the rest, so a pass by the clock is needed only for what becomes due with time, and while
 * something is still on its way. Pure.
 */
import { parseTimestamp } from '../api/values/time.ts';
import { isAsleep } from './model/hibernation.ts';
import { isHealthy, isStaying, type MemberView } from './model/member-view.ts';
import type { Situation } from './model/situation.ts';
import { OPERATIONS } from './operations/index.ts';

/** How often a cluster is looked at of which something is still to come. */
const UNSETTLED_SECONDS = 60;
/** How often one is looked at all the same, should ever a watch have missed something. */
const SETTLED_SECONDS = 12 * 3_600;
/** Certificates that others make: those of cert-manager are not watched, and the authorities of others end when nobody knows. */
const OTHERS_MS = 3_600_000;
/** A certificate is looked at whenever so much of what is left of its life has passed: often enough for whatever share it is renewed at. */
const SHARE_OF_LIFE = 0.1;

/** Seconds until the next pass of a cluster for which there is nothing to do. */
export function nextPassSeconds(situation: Situation): number {
  if (!isSettled(situation)) return UNSETTLED_SECONDS;
  const { now } = situation;
  const due = Math.min(...dueTimes(situation)) - now;
  return Math.min(SETTLED_SECONDS, Math.max(UNSETTLED_SECONDS, Math.ceil(due / 1_000)));
}

/** Nothing is on its way: what is observed stays as it is until something changes in Kubernetes or in etcd. */
function isSettled(situation: Situation): boolean {
  const { cluster, claims, goal, membership, restores = [], tls } = situation;
  // With a quorum it is this very pass that says how the operation has ended.
  if (cluster.status.operation !== undefined && !membership.known) return false;
  if (goal.kind === 'go' || restores.length > 0) return false;
  // The hashes that members were compared by are dropped from the status when they are old.
  if (cluster.status.keyHashes !== undefined) return false;
  // Nobody watches StorageClasses: one that is to let volumes grow may have been changed.
  if (claims.some(({ owned, expandable }) => owned && expandable === false)) return false;
  // One that is not valid yet will be.
  if (tls?.certificates.some(({ notAfter, faults }) => notAfter === undefined || faults.length > 0) === true)
    return false;
  return isAsleep(situation) || isWhole(situation);
}

/** As many members as are asked for, all well, and nothing of former ones beside them that is to go. */
function isWhole({ cluster, members, pods, claims }: Situation): boolean {
  const isOwned = ({ owned }: { readonly owned: boolean }) => owned;
  const isMember = ({ name }: { readonly name: string }) => members.some(member => member.name === name);
  return (
    members.length === cluster.config.size &&
    members.every(isWell) &&
    pods.filter(isOwned).every(isMember) &&
    claims
      .filter(claim => claim.owned && claim.keptByRestore !== true && claim.keptUntil === undefined)
      .every(claim => isMember(claim) && claim.resizing === undefined)
  );
}

function isWell(member: MemberView): boolean {
  const { ours, isLearner, started, pod } = member;
  if (!ours || isLearner || !started || !isHealthy(member) || !isStaying(member)) return false;
  return pod?.ready === true && pod.trouble === undefined;
}

/** Milliseconds since the epoch, all to come. */
function dueTimes(situation: Situation): readonly number[] {
  const { now, cluster, claims, tls, backups = [] } = situation;
  const { certificates = [] } = tls ?? {};
  const ends = certificates.map(({ notAfter }) => parseTimestamp(notAfter) ?? now);
  const late = backups.map(
    ({ nextRun, timeoutSeconds }) => (parseTimestamp(nextRun) ?? 0) + (timeoutSeconds + 1) * 1_000,
  );
  const deletes = cluster.config.storage.retain === 'Delete';
  const operations = Object.values(OPERATIONS).flatMap(({ dueAt }) => dueAt?.(situation) ?? []);
  return [
    ...operations,
    ...(deletes
      ? claims.flatMap(({ owned, keptUntil }) => (owned && keptUntil !== undefined ? [keptUntil] : []))
      : []),
    // One that is late already is not late once more; the watcher reports that it has ended.
    ...late.filter(time => time > now),
    ...ends.map(end => now + (end - now) * SHARE_OF_LIFE),
    ...(certificates.every(({ owned }) => owned) ? [] : [now + OTHERS_MS]),
  ];
}
