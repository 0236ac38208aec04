/** Why pods do not come up, in the words of the kubelet or the scheduler. Pure translation. */
import type { KubeObject } from '../../kube/port.ts';
import type { PodTrouble } from '../../planner/model/observation.ts';
import { terminationReason } from './termination-message.ts';

interface ContainerStatus {
  readonly containerID?: string;
  readonly ready?: boolean;
  readonly image?: string;
  readonly restartCount?: number;
  readonly state?: { readonly waiting?: StateReason; readonly terminated?: StateReason };
  readonly lastState?: { readonly terminated?: StateReason };
}
interface StateReason {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
}
/** What a kubelet and the scheduler write, as far as it is read. */
export interface PodStatus {
  readonly phase?: string;
  readonly podIP?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
    readonly lastTransitionTime?: string;
  }[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
}

/** Why a pod that is to run to its end does not begin, whichever of its containers it is; undefined while nothing says so. */
export function troubleOfHelper(pod: KubeObject): string | undefined {
  const status = (pod['status'] ?? {}) as PodStatus;
  const { initContainerStatuses = [], containerStatuses = [] } = status;
  const found =
    troubleOf({ ...status, containerStatuses: [] }, undefined) ??
    [...initContainerStatuses, ...containerStatuses]
      .map(container => waitingTrouble(container, undefined))
      .find(each => each !== undefined);
  return found && `${found.reason}: ${found.message}`;
}

/** Reasons of a waiting container that pass by themselves within moments. */
const STARTING = ['ContainerCreating', 'PodInitializing'];

/**
 * Why a pod does not come up, when its kubelet or the scheduler has said so.
 * @param wanted the image that the pod is to run; while it is pulled the kubelet shows the one before
 */
export function troubleOf(status: PodStatus, wanted: string | undefined): PodTrouble | undefined {
  const unscheduled = status.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  if (unscheduled !== undefined) return trouble(unscheduled, 'Unschedulable');
  if (status.phase === 'Failed') return trouble(status, 'Failed');
  const container = status.containerStatuses?.[0];
  return container && (waitingTrouble(container, wanted) ?? endedTrouble(container));
}

/**
 * A container that ended once more after it was started again. The kubelet calls it a crash loop only when it next looks at
 * the pod, up to ten seconds later; the words are the same.
 */
function endedTrouble({ restartCount = 0, state }: ContainerStatus): PodTrouble | undefined {
  const { terminated } = state ?? {};
  if (terminated === undefined || restartCount === 0 || terminated.exitCode === 0) return undefined;
  return trouble({ message: terminationReason(terminated.message) }, 'CrashLoopBackOff');
}

function waitingTrouble(
  { image, state, lastState }: ContainerStatus,
  wanted: string | undefined,
): PodTrouble | undefined {
  const waiting = state?.waiting;
  if (waiting?.reason === undefined || STARTING.includes(waiting.reason)) return undefined;
  // The kubelet takes turns between two reasons and several texts for the one fact.
  if (/ImagePull/.test(waiting.reason)) {
    return { reason: 'ImagePullBackOff', message: `the image ${wanted ?? image} cannot be pulled` };
  }
  // The last words of an etcd that exited say more than the kubelet's back-off.
  return trouble(
    { ...waiting, message: terminationReason(lastState?.terminated?.message) ?? waiting.message },
    waiting.reason,
  );
}

const MAX_MESSAGE = 400;

function trouble(
  said: { readonly reason?: string | undefined; readonly message?: string | undefined },
  otherwise: string,
): PodTrouble {
  const message = (said.message ?? '').trim();
  return {
    reason: said.reason ?? otherwise,
    message: message.length <= MAX_MESSAGE ? message : `…${message.slice(-MAX_MESSAGE)}`,
  };
}
