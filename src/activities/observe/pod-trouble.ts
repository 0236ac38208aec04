/** Why pods do not come up, in the words of the kubelet or the scheduler. Pure translation. */
import type { KubeObject } from '../../kube/port.ts';
import {
  type ContainerStatus,
  type ContainerStatuses,
  ETCD_CONTAINER,
  statusNamed,
} from '../../objects/containers.ts';
import type { PodTrouble } from '../../planner/model/observation.ts';
import { exitWords, type Memory, memoryOf } from './container-exit.ts';

/** What a kubelet and the scheduler write, as far as it is read. */
export interface PodStatus extends ContainerStatuses {
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
}

/**
 * Why a pod that does one piece of work does not begin it; undefined while nothing says so. It begins when this container starts,
 * before which every init container has to, also one that somebody injected; what becomes of other containers beside it does not matter.
 */
export function troubleOfHelper(pod: KubeObject, container: string): string | undefined {
  const found = troubleIn((pod['status'] ?? {}) as PodStatus, container, {
    memory: memoryOf(pod, container),
  });
  return found && `${found.reason}: ${found.message}`;
}

/** What a pod's etcd is to run. */
export interface Wanted {
  /** While it is pulled the kubelet shows the one before. */
  readonly image?: string | undefined;
  readonly memory?: Memory;
}

/** Why a member's pod does not come up, when its kubelet or the scheduler has said so. */
export function troubleOf(status: PodStatus, wanted: Wanted): PodTrouble | undefined {
  return troubleIn(status, ETCD_CONTAINER, wanted);
}

function troubleIn(status: PodStatus, container: string, wanted: Wanted): PodTrouble | undefined {
  const unscheduled = status.conditions?.find(
    ({ type, status: is }) => type === 'PodScheduled' && is === 'False',
  );
  if (unscheduled !== undefined) return trouble(unscheduled, 'Unschedulable');
  if (status.phase === 'Failed') return trouble(status, 'Failed');
  const own = statusNamed(status, container);
  return (
    (own && (waitingTrouble(own, wanted) ?? endedTrouble(own, wanted))) ??
    // While it runs it has no use for those that were to end before it.
    (own?.state?.running === undefined ? blockingTrouble(status, container) : undefined)
  );
}

/** An init container without which the pod does not continue, most often one that somebody injected. */
function blockingTrouble({ initContainerStatuses = [] }: PodStatus, own: string): PodTrouble | undefined {
  for (const status of initContainerStatuses) {
    const found = waitingTrouble(status, {}) ?? endedTrouble(status, {});
    if (found === undefined) continue;
    const { name } = status;
    return name === own
      ? found
      : { ...found, message: `init container ${name}: ${found.message}`, container: name };
  }
  return undefined;
}

/** Reasons of a waiting container that pass by themselves within moments. */
const STARTING = ['ContainerCreating', 'PodInitializing'];

/**
 * A container that ended once more after it was started again. The kubelet calls it a crash loop only when it next looks at
 * the pod, up to ten seconds later; the words are the same.
 */
function endedTrouble({ restartCount = 0, state }: ContainerStatus, wanted: Wanted): PodTrouble | undefined {
  const { terminated } = state ?? {};
  if (terminated === undefined || restartCount === 0 || terminated.exitCode === 0) return undefined;
  return trouble({ message: exitWords(terminated, wanted.memory) }, 'CrashLoopBackOff');
}

/** Reasons of the kubelet for a container that it could not make or start. */
const NOT_MADE = /^(Create|Run)Container\w*Error$/;
/** Another one with each try: the text would never stay the same. */
const CONTAINER_ID = /\b[0-9a-f]{64}\b/g;

function waitingTrouble(
  { image, state, lastState }: ContainerStatus,
  wanted: Wanted,
): PodTrouble | undefined {
  const waiting = state?.waiting;
  if (waiting?.reason === undefined || STARTING.includes(waiting.reason)) return undefined;
  // The kubelet takes turns between two reasons and several texts for the one fact.
  if (/ImagePull/.test(waiting.reason)) {
    return { reason: 'ImagePullBackOff', message: `the image ${wanted.image ?? image} cannot be pulled` };
  }
  // The last words of an etcd that exited say more than the kubelet's back-off, and nothing of why no container can be made since.
  const isNotMade = NOT_MADE.test(waiting.reason);
  const said = isNotMade
    ? { ...waiting, message: (waiting.message ?? '').replaceAll(CONTAINER_ID, '…') }
    : (lastState?.terminated ?? (waiting.reason.endsWith('Error') ? waiting : undefined));
  return trouble(
    { ...waiting, message: (said && exitWords(said, wanted.memory)) ?? waiting.message },
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
