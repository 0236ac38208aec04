/** A learner is unfinished business: it is brought to an end, as a voter or by removing it, before anything else. */
import { claimUidMismatch } from '../../checks/exchanged-claims.ts';
import {
  blocked,
  type Decision,
  operate,
  type Operation,
  type Step,
  asRollback,
} from '../../model/decision.ts';
import { isStampedOtherwise } from '../../model/identity.ts';
import { UNKNOWN_ID } from '../../model/steps/members.ts';
import type { PodFacts } from '../../model/observation.ts';
import { once } from '../../model/once.ts';
import type { Situation } from '../../model/situation.ts';
import { podChanges } from '../../checks/pod-changes.ts';
import { unsealed } from '../stamps/seal.ts';
import { abortOf } from '../../checks/aborted.ts';
import { isPodGone, saysEmpty } from '../../checks/evidence.ts';
import { hasUsableVolume } from '../../checks/missing-pods.ts';
import { askedIds } from '../../checks/user-requests.ts';
import { attribution } from '../../model/workflow-state.ts';
import { volumeFault } from '../../checks/outdated-volumes.ts';
import { departing, sizeForNow } from './departing.ts';
import { PATIENCE_MS, isPending, lastProgress } from './learner-progress.ts';
import { openReplacements } from '../../model/replacements.ts';
import { everyVoterServes, noForeignMembers } from '../../checks/preflight.ts';
import { type MemberView } from '../../model/member-view.ts';

/** One whose container cannot even be started is given up sooner: it has nothing to catch up with yet. */
const STUCK_MS = 120_000;

/** The steps that finish the one learner there is; undefined when there is none. */
export function planLearner(situation: Situation, views: readonly MemberView[]): Decision | undefined {
  const learner = views.find(view => view.isLearner);
  if (learner === undefined) return undefined;
  const obstacle = noForeignMembers(views);
  if (obstacle !== undefined) return blocked(obstacle);
  const operation = operationOf(situation);
  const undo = undoOf(situation, operation);
  const removal = undo ?? removalOf(situation, views, learner);
  if (removal === undefined) return finish(situation, learner, operation);
  const { name: member, id } = learner;
  const expected = views.map(view => view.id);
  const remove: Step = { kind: 'removeMember', member, id, expected, ...removal };
  return undo === undefined ? operate(operation, [remove]) : asRollback(operate(operation, [remove]));
}

/** Whether members are added to make good a loss, because somebody asked, or because more are wanted. */
export const operationOf = once(findOperation);

function findOperation(situation: Situation): Operation {
  if (askedIds(situation, 'replaceMember').length > 0) return 'replaceMember';
  if (departing(situation) !== undefined) return 'replaceMember';
  if (isOfHealthy(situation)) return 'replaceMember';
  return openReplacements(situation).length > 0 ? 'replaceMember' : 'scaleCluster';
}

/** What the last one left that was replaced although it was well is cleared away by the same operation, which records from what to what it leads. */
function isOfHealthy({ cluster: { status } }: Situation): boolean {
  return status.operation?.type === 'replaceMember' && status.operation.from !== undefined;
}

/** A learner of an operation that somebody aborted is taken back: it never counted, so nothing is lost with it. */
function undoOf(situation: Situation, operation: Operation): LearnerRemoval | undefined {
  const aborted = abortOf(situation, { operation });
  return aborted && { reason: `${operation} was aborted by ${attribution(aborted)}` };
}

function finish(situation: Situation, learner: MemberView, operation: Operation): Decision {
  const { name: member, id, pod } = learner;
  const token = situation.cluster.status.incarnation?.token ?? '';
  const ahead: Step[] = [{ kind: 'promoteLearner', member, id }];
  if (pod === undefined) {
    const members = [{ name: member, id, uid: UNKNOWN_ID }];
    const create: Step = { kind: 'createMember', token, member, id };
    return operate(operation, [create, { kind: 'sealMembers', members }, ...ahead]);
  }
  if (pod.deleting)
    return blocked({ reason: 'PodTerminating', message: `waiting until ${member} is gone` }, ahead);
  if (pod.trouble !== undefined) {
    const message = `${member}: ${pod.trouble.reason} (${pod.trouble.message}); ${fateOf(situation, learner, pod)}`;
    return blocked({ reason: 'MembersNotStarting', message }, ahead);
  }
  // A voter is always sealed: what it acknowledges counts.
  const members = unsealed([learner]);
  if (members.length > 0) return operate(operation, [{ kind: 'sealMembers', members }, ...ahead]);
  const unwell = everyVoterServes(situation.members);
  return unwell === undefined ? operate(operation, ahead) : blocked(unwell, ahead);
}

/** Why the learner is removed again. `givenUp`: the next one would fare no better, so it is not tried at once. */
interface LearnerRemoval {
  readonly reason: string;
  readonly givenUp?: true;
}

/** What ends a learner that is not wanted, is certain never to become a voter, or took too long. */
function removalOf(
  situation: Situation,
  views: readonly MemberView[],
  learner: MemberView,
): LearnerRemoval | undefined {
  if (views.length > sizeForNow(situation)) return { reason: 'spec.size is lower' };
  const { pod, started } = learner;
  const lost = volumeLossOf(learner);
  if (pod === undefined && lost !== undefined) return { reason: lost };
  if (pod === undefined && isClaimOfAnother(situation, learner))
    return { reason: 'the claim with its name belongs to another cluster' };
  if (pod === undefined && !started && isNameTaken(situation, learner))
    return { reason: 'the pod or claim with its name is not owned by this EtcdCluster' };
  // What a started learner had is on its volume; without it it would come back empty under an old id.
  if (started && (pod === undefined ? hasLostData(situation, learner) : saysEmpty(learner)))
    return { reason: 'its data was lost before it caught up' };
  return pod === undefined ? undefined : delayOf(situation, learner, pod);
}

/** Why a learner that has a pod takes too long; undefined while it has time. */
function delayOf(situation: Situation, learner: MemberView, pod: PodFacts): LearnerRemoval | undefined {
  const { now } = situation;
  const { trouble } = pod;
  const other = otherClusterOf(situation, learner);
  if (other !== undefined)
    return { reason: `its volume contains the data of another cluster, ${other}`, givenUp: true };
  if (trouble !== undefined && !learner.started && isMadeOtherwiseNow(situation, learner, pod))
    return { reason: 'it did not start, and the specification has changed since' };
  const isHopeless = isStuck(learner) && now - pod.createdAt > STUCK_MS;
  if (!isHopeless && now - lastProgress(situation, learner, pod) <= PATIENCE_MS) return undefined;
  if (trouble === undefined)
    return { reason: 'it received and applied nothing for 10 minutes', givenUp: true };
  return { reason: `it did not start: ${trouble.reason} (${trouble.message})`, givenUp: true };
}

function isMadeOtherwiseNow(situation: Situation, { claim }: MemberView, pod: PodFacts): boolean {
  if (podChanges(situation, pod).asked.length > 0) return true;
  return claim !== undefined && volumeFault(situation.cluster, claim) !== undefined;
}

/**
 * It may have begun to fill the volume, which nobody sees before it is listed as started. No pod can be placed on a volume whose node
 * is gone, and a learner never counted: nobody waits for the node to be registered anew.
 */
export function volumeLossOf({ claim }: MemberView): string | undefined {
  if (claim !== undefined && !hasUsableVolume(claim)) return 'its volume is lost';
  return claim?.home?.exists === false
    ? `its volume is on node ${claim.home.node}, which is gone`
    : undefined;
}

/** Nothing is to be started on it, and nothing can be made beside it; the next learner has another name. */
function isClaimOfAnother(situation: Situation, { name }: MemberView): boolean {
  return situation.claims.some(
    claim => claim.name === name && claim.token !== undefined && isStampedOtherwise(situation, claim),
  );
}

/** The cluster as a member of which it came up, by the log that it found, before it was one of ours. */
export function otherClusterOf(
  { cluster, probes }: Pick<Situation, 'cluster' | 'probes'>,
  { name, started }: Pick<MemberView, 'name' | 'started'>,
): string | undefined {
  const probe = probes[name];
  if (started || probe?.answered !== true || probe.clusterId === cluster.status.clusterID) return undefined;
  return probe.clusterId;
}

/** It can never be given what it needs; the next learner has another name. */
function isNameTaken({ pods, claims }: Situation, { name }: MemberView): boolean {
  return [...pods, ...claims].some(object => object.name === name && !object.owned);
}

/** Whether the data of a member without a pod is lost. */
export function hasLostData(situation: Situation, view: MemberView): boolean {
  if (situation.cluster.status.storage?.kind !== 'PersistentVolumeClaim') return isPodGone(situation, view);
  if (view.claim === undefined || volumeLossOf(view) !== undefined) return true;
  return claimUidMismatch(situation, view.claim) !== undefined;
}

/** What becomes of a learner that does not start, for users. */
function fateOf(situation: Situation, learner: MemberView, pod: PodFacts): string {
  if (isStuck(learner)) return `it is removed after ${STUCK_MS / 60_000} minutes`;
  const isAwaited = lastProgress(situation, learner, pod) === situation.now;
  return isAwaited
    ? 'the operator waits until it is placed; to try with other settings, change the specification'
    : `it is removed after ${PATIENCE_MS / 60_000} minutes`;
}

/** Its container cannot be started, and nothing but a change would help. */
function isStuck({ pod, started }: MemberView): boolean {
  return !started && pod?.trouble !== undefined && !isPending(pod);
}
