/**
 * Pods that are being deleted and stay, because their node does not say that they have ended. Their containers may continue: nobody
 * takes such a pod away without proof that its node is gone, or a person who says so. Pure.
 */
import { blocked, type Decision, operate, type Operation, type Step } from '../model/decision.ts';
import { consentTo } from './consent.ts';
import { isTerminationOverdue } from '../model/member-names.ts';
import { identify } from '../model/steps/row.ts';
import type { Observation, PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';

/** How often it is checked again: a pod that goes is reported at once, a Node is not. */
const CHECK_MS = 30_000;

/** The owned pods, those that stay although they were to be gone long ago apart. */
export function podsToEnd({ pods, now }: Pick<Observation, 'pods' | 'now'>): {
  readonly ending: readonly PodFacts[];
  readonly stuck: readonly PodFacts[];
} {
  const owned = pods.filter(pod => pod.owned);
  return {
    ending: owned.filter(pod => !isTerminationOverdue(pod, now)),
    stuck: owned.filter(pod => isTerminationOverdue(pod, now)),
  };
}

/**
 * What becomes of stuck pods once nobody else is waited for; undefined when there are none. Those whose node is proved gone are
 * taken away, the others when a person approves. `rest`: what follows.
 */
export function planStuckPods(
  observation: Pick<Situation, 'workflowState' | 'now' | 'pods'>,
  operation: Operation,
  rest: readonly Step[],
): Decision | undefined {
  const { stuck } = podsToEnd(observation);
  if (stuck.length === 0) return undefined;
  const gone = stuck.filter(isProvedGone);
  const step = (pods: readonly PodFacts[]): Step => ({
    kind: 'forceDeletePods',
    pods: identify(pods),
    because: pods.map(whyStuck).join('; '),
  });
  if (gone.length > 0) return operate(operation, [step(gone), ...rest]);
  const message = `waiting until these pods are deleted: ${stuck.map(pod => `${whyStuck(pod)}; ${cureOf(pod)}`).join('. ')}`;
  const why = { reason: 'PodTerminating', message } as const;
  // Taking the object away does not take away what holds it.
  if (stuck.some(({ finalizers = [] }) => finalizers.length > 0))
    return blocked({ ...why, waitMs: CHECK_MS }, rest);
  const answer = consentTo(observation, { operation, ids: stuck.map(({ uid }) => uid) }, why);
  return 'obstacle' in answer
    ? blocked({ ...answer.obstacle, waitMs: CHECK_MS }, [step(stuck), ...rest])
    : operate(operation, [step(stuck), ...rest], answer.approval);
}

/** Its Node was deleted, or somebody marked it as out of service (Kubernetes, "Non-graceful node shutdown"). */
function isProvedGone({ host, finalizers = [] }: PodFacts): boolean {
  return finalizers.length === 0 && (host?.exists === false || host?.outOfService === true);
}

/** What is known of a pod that stays, for users. */
export function whyStuck({ name, node, host, finalizers = [] }: PodFacts): string {
  if (finalizers.length > 0) return `${name} has the finalizers ${finalizers.join(', ')}`;
  if (node === undefined || host === undefined) return `${name} has not terminated`;
  if (host.exists === false) return `${name} was on Node ${node}, which is gone`;
  if (host.outOfService === true) return `${name} is on Node ${node}, which has the out-of-service taint`;
  if (host.ready === 'True') return `${name} is on Node ${node}, which is ready but has not terminated it`;
  return `${name} is on Node ${node}, which is not ready`;
}

function cureOf({ name, node, host, finalizers = [] }: PodFacts): string {
  if (finalizers.length > 0) return 'the controller that added them must remove them';
  if (host?.ready === 'True') return `check the events of pod ${name} and the log of the kubelet`;
  return `start the Node again, or delete it if the machine is permanently gone (kubectl delete node ${node ?? ''}), or add the out-of-service taint if it is powered off (kubectl taint node ${node ?? ''} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute)`;
}
