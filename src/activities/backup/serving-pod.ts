/** Pods that serve a store to the operator: made, waited for, and ended. */
import type { KubeClient, KubeObject, WritableObject } from '../../kube/port.ts';
import { isAlreadyExists, isConflict } from '../../kube/errors.ts';
import { CLAIM_STORE, type ClaimStoreOwner, claimStoreName } from '../../objects/claim-store.ts';
import { statusNamed } from '../../objects/containers.ts';
import { VERIFIER } from '../../objects/verify-pod.ts';
import type { Store } from '../../store/port.ts';
import { POD } from '../runtime/kinds.ts';
import { exitWords, memoryOf } from '../observe/container-exit.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { type PodStatus, troubleOfHelper } from '../observe/pod-trouble.ts';
import { type WaitTime, waitUntil } from '../runtime/poll.ts';
import { BackupFailure } from './failure.ts';

interface Waiting {
  readonly kube: KubeClient;
  readonly time: WaitTime;
}

/** Ends the pod that an earlier opening has left, whose process was killed. To be called when nobody uses the claim. */
export async function endLeftPod(kube: KubeClient, owner: ClaimStoreOwner): Promise<void> {
  const found = await kube.get({ ...POD, namespace: owner.namespace, name: claimStoreName(owner) });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  if (isControlledBy(found, owner.uid)) await endPod(kube, found);
}

/** Ends this very pod (by uid); one that took its name meanwhile serves somebody else. */
export async function endPod(kube: KubeClient, { metadata }: KubeObject): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  try {
    await kube.delete({ ...POD, namespace, name }, { uid, gracePeriodSeconds: 1 });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** A pod that has ended, is ending, or is not made as it must be now is of no use, and in the way of the next. */
export async function removeUnfit(
  deps: Waiting,
  owner: ClaimStoreOwner,
  isFit: (pod: KubeObject) => boolean,
): Promise<void> {
  const ref = { ...POD, namespace: owner.namespace, name: claimStoreName(owner) };
  const { kube } = deps;
  const outcome = await waitUntil(deps, async () => {
    const found = await kube.get(ref);
    if (found === undefined) return 'done';
    if (!isControlledBy(found, owner.uid)) {
      throw new BackupFailure(
        'later',
        `pod ${ref.namespace}/${ref.name} is not owned by the operator: delete it`,
      );
    }
    const isGoing = found.metadata.deletionTimestamp !== undefined;
    if (!isGoing && !hasEnded(found, containerOf(owner)) && isFit(found)) return 'done';
    if (!isGoing) await endPod(kube, found);
    return 'notYet';
  });
  if (outcome !== 'done')
    throw new BackupFailure('later', `pod ${ref.namespace}/${ref.name} does not terminate`);
}

/** Makes the pod, or finds it made by an earlier try. */
export async function ensurePod(
  kube: KubeClient,
  owner: ClaimStoreOwner,
  wanted: WritableObject,
): Promise<KubeObject> {
  const ref = { ...POD, namespace: owner.namespace, name: claimStoreName(owner) };
  const found = await kube.get(ref);
  if (found !== undefined) return found;
  try {
    return await kube.create(wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return (await kube.get(ref)) ?? Promise.reject(error);
  }
}

/** The container that serves: the pod is what this one is, whatever others put beside it. */
const containerOf = ({ role }: ClaimStoreOwner): string => (role === 'verify' ? VERIFIER : CLAIM_STORE);

const statusOf = (pod: KubeObject): PodStatus => (pod['status'] ?? {}) as PodStatus;

/** Whether it will never serve again: it is never started a second time. */
function hasEnded(pod: KubeObject, container: string): boolean {
  return ['Succeeded', 'Failed'].includes(statusOf(pod).phase ?? '') || endOf(pod, container) !== undefined;
}

/** How its container ended, in words. */
function endOf(pod: KubeObject, container: string): string | undefined {
  const ended = statusNamed(statusOf(pod), container)?.state?.terminated;
  return ended && (exitWords(ended, memoryOf(pod, container)) ?? `it ended with exit code ${ended.exitCode}`);
}

/** Waits for the pod to run and answers its address. Throws a BackupFailure that says what keeps it from starting. */
export async function addressOf(deps: Waiting, owner: ClaimStoreOwner): Promise<string> {
  const ref = { ...POD, namespace: owner.namespace, name: claimStoreName(owner) };
  const container = containerOf(owner);
  let ip: string | undefined;
  let trouble: string | undefined;
  const isTime = (window: number): boolean => window < (trouble === undefined ? WINDOWS : TROUBLED_WINDOWS);
  for (let window = 0; ip === undefined && isTime(window); window += 1) {
    await waitUntil(deps, async () => {
      const found = await deps.kube.get(ref);
      if (found === undefined) {
        trouble = 'it was deleted';
        return 'trouble';
      }
      const status = statusOf(found);
      trouble = endOf(found, container) ?? troubleOfHelper(found, container);
      if (statusNamed(status, container)?.state?.running !== undefined) ip = status.podIP || undefined;
      return ip === undefined ? 'notYet' : 'done';
    });
  }
  if (ip !== undefined) return ip;
  throw new BackupFailure(
    'later',
    `the pod ${ref.namespace}/${ref.name} does not start: ${trouble ?? 'it has no address yet'}`,
  );
}

/** Of ten seconds each: a volume may have to be attached, and an image pulled. Both would begin again with another pod. */
const WINDOWS = 30;
/** For a pod that says what keeps it from starting. */
const TROUBLED_WINDOWS = 9;

/** Waits for the first answer: a container that runs need not listen yet. */
export async function answering(deps: Pick<Waiting, 'time'>, store: Store): Promise<void> {
  const outcome = await waitUntil(deps, async () => {
    await store.head('health', { deadlineMs: 2_000 });
    return 'done';
  });
  if (outcome !== 'done') throw new BackupFailure('later', `${store.location} does not answer`);
}

/** The store, whose closing ends more than its connections. */
export function closingWith(store: Store, end: () => Promise<void>): Store {
  return new Proxy(store, {
    get: (of, property) => {
      if (property === 'close') {
        return async () => {
          await of.close();
          await end();
        };
      }
      const value: unknown = Reflect.get(of, property);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(of) : value;
    },
  });
}
