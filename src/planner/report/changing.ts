/**
 * Members that are away, or not there yet, because the operator is changing them as somebody asked: nothing has failed, and there is nothing
 * for anybody to see to. A member that ended by itself, does not start, or is waited for in vain is not among them. Pure.
 */
import type { Decision, Step, Work } from '../model/decision.ts';
import { isComing, isTerminationOverdue } from '../model/member-names.ts';
import { traitsOf } from '../model/step-catalogue.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';
import { OPERATIONS } from '../operations/index.ts';
import { isWaiting } from '../checks/waiting.ts';

/** What is known of the members that are being changed. */
export interface Changing {
  readonly has: (name: string) => boolean;
  /** What is being done to these, for users. */
  readonly saying: (names: readonly string[]) => string;
}

/** Which members the operator is changing. */
export function changingMembers(situation: Situation, decision: Decision): Changing {
  return {
    has: name => isChanging(situation, decision, name),
    saying(names) {
      const who = `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} being changed as planned`;
      switch (decision.kind) {
        case 'operate':
          return `${who} (${decision.operation}): ${decision.plan[0]?.summary ?? ''}`;
        case 'blocked':
          return `${who}: ${decision.message}`;
        case 'idle':
        case 'gone':
          return `${who}: started a moment ago, and not ready yet`;
      }
    },
  };
}

function isChanging(situation: Situation, decision: Decision, name: string): boolean {
  const goesOn = decision.kind === 'operate' || isWaiting(situation, decision);
  const pod = situation.pods.find(each => each.owned && each.name === name);
  if (pod !== undefined && (pod.trouble !== undefined || isTerminationOverdue(pod, situation.now)))
    return false;
  if (pod !== undefined && (answersAndIsComing(situation, pod) || isStartingFirst(situation, pod)))
    return true;
  if (!goesOn) return false;
  return (
    isJoining(situation, name, pod) ||
    isStopped(situation, name, pod) ||
    (decision.kind === 'operate' && isBrought(decision, name, pod))
  );
}

/** Its pod is young, and its etcd serves: Kubernetes asks only every few seconds whether it is ready. */
function answersAndIsComing(situation: Situation, pod: PodFacts): boolean {
  const probe = situation.probes[pod.name];
  const isWell = probe?.answered === true && probe.errors.length === 0 && (probe.read.ok || probe.isLearner);
  return isWell && isComing(situation, pod) && !pod.ready && pod.notReadyBecause === undefined;
}

/** A quorum of a new cluster forms before the last of its members has started, and answers: nothing was there that could be missed. */
function isStartingFirst(situation: Situation, pod: PodFacts): boolean {
  const isFirst = pod.firstStart === 'open' && (pod.restarts ?? 0) === 0;
  return isFirst && situation.probes[pod.name]?.answered !== true && !pod.ready && isComing(situation, pod);
}

/** A learner does not vote and is not led to: nobody misses it before it has caught up. */
function isJoining({ members }: Situation, name: string, pod: PodFacts | undefined): boolean {
  return pod !== undefined && members.some(view => view.name === name && view.isLearner);
}

/** The operator stopped it, and noted that (activities/cluster/data-version.ts). */
function isStopped({ claims }: Situation, name: string, pod: PodFacts | undefined): boolean {
  const stopped = claims.find(claim => claim.owned && claim.name === name)?.stopped;
  return stopped !== undefined && (pod === undefined || (pod.deleting && pod.uid === stopped));
}

/** The step is about it, in an operation that has taken it away. */
function isBrought({ operation, step }: Work, name: string, pod: PodFacts | undefined): boolean {
  const { takesAway } = OPERATIONS[operation];
  if (takesAway === 'everyMember') return true;
  if (pod === undefined) return step.kind === 'createMember' && step.member === name;
  if (takesAway === undefined || pod.deleting) return false;
  return traitsOf(step.kind)?.bringsMembers === true && namesIn(step).includes(name);
}

/** The members that a step names. */
function namesIn(step: Step): readonly string[] {
  const single = 'member' in step ? [step.member] : [];
  const several = 'members' in step ? step.members : 'pods' in step ? step.pods : [];
  return [...single, ...several.map(each => (typeof each === 'string' ? each : each.name))];
}
