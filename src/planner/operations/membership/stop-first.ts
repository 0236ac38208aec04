/**
 * How a healthy member goes (docs/decisions/0018-members-stop-without-breaking-clients.md): its etcd is stopped first,
 * which sends its clients elsewhere when their calls are answered, and then it is removed. One that is removed while it runs
 * breaks off what its clients asked of it.
 */
import type { Step } from '../../model/decision.ts';
import { isTerminationOverdue } from '../../model/member-names.ts';
import type { ClaimFacts, Observation, PodFacts } from '../../model/observation.ts';
import { hasUsableVolume } from '../../checks/missing-pods.ts';
import { claimUidMismatch } from '../../checks/exchanged-claims.ts';
import { isServing, type MemberView } from '../../model/member-view.ts';

/** With fewer voters, those that stay would be no quorum while the stopped one still counts. */
const FEWEST_VOTERS = 3;

/**
 * The stop that precedes the removal of a healthy member; nothing for one that is to be removed as it is. Its volume must be
 * there: if the removal cannot follow, it is started again. Who is to be stopped after it is named, so that its clients are led
 * away in the same time.
 */
export function stopFirst(
  observation: Observation,
  views: readonly MemberView[],
  {
    view,
    after,
    reason,
  }: { readonly view: MemberView; readonly after: MemberView | undefined; readonly reason: string },
): Step[] {
  const { cluster, now } = observation;
  if (cluster.status.storage?.kind !== 'PersistentVolumeClaim') return [];
  const voters = views.length;
  const there = stoppable(observation, voters, view);
  if (there === undefined || isTerminationOverdue(there.pod, now)) return [];
  const next = after && stoppable(observation, voters - 1, after)?.pod;
  return [
    {
      kind: 'stopMember',
      member: view.name,
      uid: there.pod.uid,
      claimUid: there.claim.uid,
      purpose: 'removal',
      ...(next && { alongside: [{ name: next.name, uid: next.uid }] }),
      because: reason,
    },
  ];
}

/** What must be there of a member that can be stopped and, if need be, started again. */
export function stoppable(
  observation: Observation,
  voters: number,
  view: MemberView,
): { readonly pod: PodFacts; readonly claim: ClaimFacts } | undefined {
  const { pod, claim } = view;
  if (voters < FEWEST_VOTERS || !isServing(view)) return undefined;
  if (pod === undefined || claim === undefined) return undefined;
  const isItsOwn = claimUidMismatch(observation, claim) === undefined;
  return hasUsableVolume(claim) && isItsOwn ? { pod, claim } : undefined;
}
