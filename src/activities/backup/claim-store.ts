/** Opens a claim as a store: through a pod beside it, since a claim can be mounted only in its own namespace. */
import {
  CLAIM_STORE_HOST,
  CLAIM_STORE_PORT,
  type ClaimStoreOwner,
  claimStoreName,
  claimStorePod,
  IDENTITY,
  type PodPlace,
} from '../../objects/claim-store.ts';
import { isAlreadyExists, isConflict } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { Store } from '../../store/port.ts';
import { openServedStore } from '../../store/served/client.ts';
import { CLAIM, POD } from '../observe.ts';
import { isControlledBy, podFacts } from '../pod-facts.ts';
import { waitUntil } from '../poll.ts';
import { secretText } from '../tls-secrets.ts';
import { issueIdentity, readIdentity } from './claim-store-identity.ts';
import { BackupFailure } from './failure.ts';

export interface ClaimStoreDeps {
  readonly kube: KubeClient;
  readonly now: () => number;
  /** The image that holds this program. */
  readonly image: () => Promise<string>;
}

/**
 * The claim as a store; closing it ends the pod, and so does a failure to open it. Throws a BackupFailure that says what keeps
 * the pod from coming up.
 */
export async function openClaim(
  deps: ClaimStoreDeps,
  owner: ClaimStoreOwner,
  { claim, place = {} }: { readonly claim: string; readonly place?: PodPlace },
): Promise<Store> {
  const { namespace } = owner;
  const { kube } = deps;
  if ((await kube.get({ ...CLAIM, namespace, name: claim })) === undefined) {
    throw new BackupFailure(
      'later',
      `there is no PersistentVolumeClaim ${namespace}/${claim}: create it, or correct spec.file.claim`,
    );
  }
  const known = await readIdentity(deps, owner);
  // A pod reads its identity when it starts: one that has another is of no use.
  const image = await deps.image();
  const isFit = (pod: KubeObject): boolean =>
    known !== undefined && claimOf(pod) === claim && imageOf(pod) === image;
  await removeUnfit(deps, owner, isFit);
  const secret = known ?? (await issueIdentity(deps, owner));
  const pod = await ensurePod(kube, owner, claimStorePod(owner, { image, claim, place }));
  let store: Store | undefined;
  try {
    const host = await addressOf(deps, owner);
    store = openServedStore({
      location: `file://${claim}`,
      host,
      port: CLAIM_STORE_PORT,
      serverName: CLAIM_STORE_HOST,
      ca: secretText(secret, IDENTITY.ca) ?? '',
      token: secretText(secret, IDENTITY.token) ?? '',
    });
    await answering(store);
    return closingWith(store, () => endPod(kube, pod));
  } catch (error) {
    await store?.close();
    // Why it could not be opened says more than why it could not be tidied.
    await endPod(kube, pod).catch(() => {});
    throw error;
  }
}

/** Ends the pod that an earlier opening has left, whose process was killed. To be called when nobody uses the claim. */
export async function endLeftPod(kube: KubeClient, owner: ClaimStoreOwner): Promise<void> {
  const found = await kube.get({ ...POD, namespace: owner.namespace, name: claimStoreName(owner) });
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return;
  if (isControlledBy(found, owner.uid)) await endPod(kube, found);
}

/** Ends this very pod (by uid); one that took its name meanwhile serves somebody else. */
async function endPod(kube: KubeClient, { metadata }: KubeObject): Promise<void> {
  const { namespace = '', name, uid } = metadata;
  try {
    await kube.delete({ ...POD, namespace, name }, { uid, gracePeriodSeconds: 1 });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}

/** A pod that has ended, is ending, or is not made as it must be now is of no use, and in the way of the next. */
async function removeUnfit(
  { kube }: ClaimStoreDeps,
  owner: ClaimStoreOwner,
  isFit: (pod: KubeObject) => boolean,
): Promise<void> {
  const ref = { ...POD, namespace: owner.namespace, name: claimStoreName(owner) };
  const outcome = await waitUntil(async () => {
    const found = await kube.get(ref);
    if (found === undefined) return 'done';
    if (!isControlledBy(found, owner.uid)) {
      throw new BackupFailure(
        'later',
        `pod ${ref.namespace}/${ref.name} belongs to something else: remove it`,
      );
    }
    const { phase, deleting } = podFacts(found, owner.uid);
    if (!deleting && ['Pending', 'Running'].includes(phase) && isFit(found)) return 'done';
    if (!deleting) await endPod(kube, found);
    return 'notYet';
  });
  if (outcome !== 'done')
    throw new BackupFailure('later', `pod ${ref.namespace}/${ref.name} does not go away`);
}

function claimOf(pod: KubeObject): string | undefined {
  const { volumes = [] } = (pod['spec'] ?? {}) as {
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName: string } }[];
  };
  return volumes.find(volume => volume.persistentVolumeClaim !== undefined)?.persistentVolumeClaim?.claimName;
}

function imageOf(pod: KubeObject): string | undefined {
  const { containers = [] } = (pod['spec'] ?? {}) as {
    readonly containers?: readonly { readonly image?: string }[];
  };
  return containers[0]?.image;
}

async function ensurePod(
  kube: KubeClient,
  owner: ClaimStoreOwner,
  wanted: ReturnType<typeof claimStorePod>,
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

/** Waits for the pod to run. */
async function addressOf({ kube }: ClaimStoreDeps, owner: ClaimStoreOwner): Promise<string> {
  const ref = { ...POD, namespace: owner.namespace, name: claimStoreName(owner) };
  let ip: string | undefined;
  let trouble: string | undefined;
  const isTime = (window: number): boolean => window < (trouble === undefined ? WINDOWS : TROUBLED_WINDOWS);
  for (let window = 0; ip === undefined && isTime(window); window += 1) {
    await waitUntil(async () => {
      const found = await kube.get(ref);
      if (found === undefined) {
        trouble = 'it was taken away';
        return 'trouble';
      }
      const facts = podFacts(found, owner.uid);
      trouble = facts.trouble?.message;
      if (facts.phase === 'Running') ({ ip } = facts);
      return ip === undefined ? 'notYet' : 'done';
    });
  }
  if (ip !== undefined) return ip;
  throw new BackupFailure(
    'later',
    `the pod ${ref.namespace}/${ref.name}, which mounts the claim, does not start: ${trouble ?? 'it has no address yet'}`,
  );
}

/** Of ten seconds each: a volume may have to be attached, and an image pulled. Both would begin anew with another pod. */
const WINDOWS = 30;
/** For a pod that says what keeps it from starting. */
const TROUBLED_WINDOWS = 9;

/** A container that runs need not listen yet. */
async function answering(store: Store): Promise<void> {
  const outcome = await waitUntil(async () => {
    await store.head('health', { deadlineMs: 2_000 });
    return 'done';
  });
  if (outcome !== 'done') throw new BackupFailure('later', `${store.location} does not answer`);
}

function closingWith(store: Store, end: () => Promise<void>): Store {
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
