/** The member that is to be replaced though it is well: its successor is added first. */
import { once } from '../../model/once.ts';
import type { Situation } from '../../model/situation.ts';
import { askedIds, requestUnderWay } from '../../checks/user-requests.ts';
import { attribution } from '../../model/workflow-state.ts';
import { hasUsableVolume } from '../../checks/missing-pods.ts';
import { claimUidMismatch } from '../../checks/exchanged-claims.ts';
import type { MemberView } from '../../model/member-view.ts';
import { abortOf } from '../../checks/aborted.ts';
import { membersToReplace } from '../../checks/leaving-members.ts';

/** The view that somebody asked to have replaced, for as long as it is a voter; undefined when nobody asked. */
export function memberToReplace(situation: Situation): MemberView | undefined {
  const ids = askedIds(situation, 'replaceMember');
  return situation.members.find(view => view.ours && !view.isLearner && ids.includes(view.id));
}

/** The voter that goes when its successor is there, and why. The member that users name goes first. */
export const departing = once(findDeparting);

function findDeparting(
  situation: Situation,
): { readonly view: MemberView; readonly reason: string } | undefined {
  const asked = memberToReplace(situation);
  if (asked !== undefined) {
    const request = requestUnderWay(situation);
    return { view: asked, reason: `${attribution(request ?? {})} requested its replacement` };
  }
  const losing = situation.members.find(view => willLoseVolume(situation, view));
  if (losing !== undefined) return { view: losing, reason: 'its volume will be lost when its pod stops' };
  return replacementBegun(situation);
}

/**
 * One that is to have another volume, or to leave its node, goes when its successor was added (operations/volumes/replacement.ts): nothing of that is remembered but
 * that there is a member more than asked for. After an abort the successor is the one too many.
 */
function replacementBegun(situation: Situation): ReturnType<typeof findDeparting> {
  const { cluster, members } = situation;
  if (members.length <= cluster.config.size) return undefined;
  if (abortOf(situation, { operation: 'replaceMember' }) !== undefined) return undefined;
  const [first] = membersToReplace(situation);
  return first && { view: first.view, reason: first.because };
}

/**
 * Somebody deleted the claim under a running member, or another one stands there since: Kubernetes keeps the volume only for as
 * long as its pod is there.
 */
export function willLoseVolume(situation: Situation, view: MemberView): boolean {
  const { cluster, claims } = situation;
  const { ours, isLearner, name, probe, pod, claim } = view;
  if (!ours || isLearner || probe === undefined || pod === undefined) return false;
  if (cluster.status.storage?.kind !== 'PersistentVolumeClaim') return false;
  if (claim === undefined) return !claims.some(other => other.name === name);
  return !hasUsableVolume(claim) || claimUidMismatch(situation, claim) !== undefined;
}

/** How many members there are to be now: one more than asked for, while one that is to go waits for its successor. */
export function sizeForNow(situation: Situation): number {
  return situation.cluster.config.size + (departing(situation) === undefined ? 0 : 1);
}
