import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { hasAppliedMoreThan, hasCaughtUp, headOf } from '../../planner/checks/caught-up.ts';
import { everyVoterServes } from '../../planner/checks/preflight.ts';
import type { MemberView } from '../../planner/model/member-view.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import type { Situation } from '../../planner/model/situation.ts';
import { situationOf } from '../../planner/situation.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { onLeader } from '../cluster/leader.ts';
import { observe } from '../observe/observe.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { admit } from './admit-members.ts';
import type { Perform } from './shared/perform.ts';

type PromoteLearner = StepOf<'promoteLearner'>;

/** How long a learner must be seen caught up without a break. */
const STEADY_MS = 2_000;

/**
 * Waits until the learner has caught up and promotes it. etcd's own check looks only at what it once had: it promotes
 * learners that are dead and ones that cannot serve for a long while. So it must answer, follow the leader and be near it for
 * two seconds, and every voter must be healthy, right before it is promoted.
 *
 * A learner holds no elections: one that is cut off goes on naming the leader that it last heard of, and while nobody writes
 * it lacks nothing. So it must also apply an entry that is written last of all, for this alone.
 *
 * One that is listed as started and does not answer may wait for a write: etcd 3.6 sends every joiner a snapshot, counts what
 * is in it as applied only with the next entry (`setAppliedIndex` in server.go), and until then refuses the joiner's own
 * announcement as "too many requests" where the log has more than 5,000 entries. In a cluster that nobody writes to it would wait
 * forever, so it is given an entry.
 */
export const promoteLearner: Perform<'promoteLearner', WaitOutcome> = async (deps, ref, step) => {
  let since: number | undefined;
  return waitUntil(deps, async () => {
    const situation = await observeLiving(deps, ref);
    const { members: views } = situation;
    const view = views.find(candidate => candidate.id === step.id);
    if (situation.membership.known && view === undefined)
      throw preconditionChanged(`${step.member} is not a member`);
    if (isVoter(view)) return admitted(deps, ref, view?.pod);
    if (!mayBePromoted(view?.pod)) return 'trouble';
    if (isSilent(situation, view)) await writeEntry(deps, situation);
    since = isWell(situation, step.member) ? (since ?? deps.now()) : undefined;
    if (since === undefined || deps.now() - since < STEADY_MS) return 'notYet';
    if (!(await stillFollows(deps, ref, { situation, step }))) return 'notYet';
    await onLeader(deps, situation, leader => leader.promote(step.id));
    const message = `promoted ${step.member} (${step.id}) to a voter`;
    recordClusterEvent(deps, ref, { reason: 'New Member Added', message });
    return admitted(deps, ref, view?.pod);
  });
};

/** It votes from now on, so clients are led to it. */
async function admitted(
  deps: Dependencies,
  { namespace }: ClusterRef,
  pod: PodFacts | undefined,
): Promise<'done'> {
  if (pod !== undefined && pod.clients !== 'admitted')
    await admit(deps, { namespace, name: pod.name, uid: pod.uid });
  return 'done';
}

/** Whether the learner applies an entry that is written now. */
export async function stillFollows(
  deps: Dependencies,
  ref: ClusterRef,
  { situation, step }: { readonly situation: Situation; readonly step: PromoteLearner },
): Promise<boolean> {
  const head = headOf(situation);
  await writeEntry(deps, situation);
  const after = await observe(deps, ref);
  if (after === undefined || head === undefined) return false;
  const later = situationOf(after.observation);
  return everyVoterServes(later.members) === undefined && hasAppliedMoreThan(later, step.member, head);
}

async function observeLiving(deps: Dependencies, ref: ClusterRef): Promise<Situation> {
  const seen = await observe(deps, ref);
  if (seen === undefined || seen.observation.cluster.deleting)
    throw preconditionChanged('the resource is gone');
  return situationOf(seen.observation);
}

function isVoter(view: MemberView | undefined): boolean {
  return view !== undefined && !view.isLearner;
}

function isWell(situation: Situation, member: string): boolean {
  return everyVoterServes(situation.members) === undefined && hasCaughtUp(situation, member);
}

/** Whether the member is listed as started and does not answer. */
function isSilent({ probes }: Situation, view: MemberView | undefined): boolean {
  return view?.started === true && probes[view.name]?.answered !== true;
}

/**
 * Writes an entry that changes nothing, and that etcd takes also while it has no space: an alarm is disarmed that nobody raises, for 0 is the id
 * of no member (raft.None).
 */
async function writeEntry(deps: Dependencies, situation: Situation): Promise<void> {
  await onLeader(deps, situation, leader => leader.disarm('0', 'NOSPACE'));
}

/** A voter is always sealed: what it acknowledges counts. */
function mayBePromoted(pod: PodFacts | undefined): boolean {
  return pod !== undefined && pod.trouble === undefined && pod.firstStart !== 'open';
}
