/**
 * Which members clients are led to (docs/decisions/0018-members-stop-without-breaking-clients.md). The client Service selects
 * pods by a label that is taken off before a stop. A pod without it gets it back, unless it is the one that is to stop:
 * whatever became of the stop, nobody stays shut out.
 */
import type { Decision, StepKind } from '../../model/decision.ts';
import { mayDiffer, verdictOf } from '../../checks/corruption.ts';
import { memberNames } from '../../model/member-names.ts';
import { leavingMembers } from '../membership/scale.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { StepOf } from '../../model/step-catalogue.ts';
import { identify } from '../../model/steps/row.ts';
import type { Situation } from '../../model/situation.ts';
import { restoreUnderWay } from '../../model/restore-of-cluster.ts';

/** The step that lets clients come to members again; none when `next`, which is to be done now, is why they do not. */
export function clientRoutingSteps(situation: Situation, next: Decision): StepOf<'admitMembers'>[] {
  const { cluster, pods } = situation;
  if (cluster.deleting || cluster.status.clusterID === undefined) return [];
  if (restoreUnderWay(cluster) !== undefined) return [];
  const names = memberNames(situation);
  const found = pods.filter(
    pod =>
      pod.owned &&
      !pod.deleting &&
      names.includes(pod.name) &&
      !isToStop(situation, pod, next) &&
      mayServe(situation, pod),
  );
  return found.length === 0 ? [] : [{ kind: 'admitMembers', pods: identify(found) }];
}

/** Whether the operator itself took the label off all of them; others never had one, and a pause leaves them as they are. */
export function isWithdrawnOnly({ pods }: Situation, steps: readonly StepOf<'admitMembers'>[]): boolean {
  const admitted = steps.flatMap(step => step.pods);
  return admitted.every(({ uid }) => pods.find(pod => pod.uid === uid)?.clients === 'withdrawn');
}

/** What stops a member, or keeps it from answering. */
const TAKES_DOWN: readonly StepKind[] = ['stopMember', 'replaceImage', 'defragmentMember'];

/** Whether a step is about to stop it, or it is led away from and goes after those that are being removed now. */
function isToStop(situation: Situation, { uid, clients }: PodFacts, next: Decision): boolean {
  if (next.kind !== 'operate') return false;
  const { operation, step } = next;
  if (TAKES_DOWN.includes(step.kind) && 'uid' in step && step.uid === uid) return true;
  if (clients !== 'withdrawn' || operation !== 'scaleCluster') return false;
  return leavingMembers(situation, situation.members).some(({ pod }) => pod?.uid === uid);
}

/**
 * Clients that read from it read what was never written. It stays away from them while nobody knows who differs now: a member may have taken
 * the place of one of the majority.
 */
function isDiffering(situation: Situation, { name, clients }: PodFacts): boolean {
  const verdict = verdictOf(situation);
  if (verdict.kind === 'differs') return verdict.differing.some(view => view.name === name);
  if (verdict.kind === 'equal' || clients !== 'withdrawn') return false;
  return situation.members.some(view => view.name === name && mayDiffer(situation, view));
}

/** A pod that the label was taken off serves already. One whose image was replaced is to run the new one first, and a learner is to vote. */
function mayServe(situation: Situation, pod: PodFacts): boolean {
  const { name, clients, ready, version } = pod;
  const { probes, members } = situation;
  if (members.some(view => view.name === name && view.isLearner)) return false;
  if (isDiffering(situation, pod)) return false;
  if (clients !== 'withdrawn') return clients === undefined;
  const probe = probes[name];
  return ready && probe?.answered === true && probe.version === version;
}
