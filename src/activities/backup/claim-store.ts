/** Opens a claim as a store: through a pod beside it, since a claim can be mounted only in its own namespace. */
import {
  CLAIM_STORE,
  CLAIM_STORE_HOST,
  CLAIM_STORE_PORT,
  CLAIM_VOLUME,
  type ClaimStoreOwner,
  claimStorePod,
  IDENTITY,
  type PodPlace,
} from '../../objects/claim-store.ts';
import { containerNamed } from '../../objects/containers.ts';
import type { RawObject } from '../../api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import type { StoreMemory } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { openServedStore } from '../../store/served/client.ts';
import { ANNOTATION_INCARNATION } from '../../api/names.ts';
import { CLAIM } from '../runtime/kinds.ts';
import type { WaitTime } from '../runtime/poll.ts';
import { secretText } from '../observe/certificate-secrets.ts';
import { issueIdentity, readIdentity } from './claim-store-identity.ts';
import { BackupFailure } from './failure.ts';
import { addressOf, answering, closingWith, endPod, ensurePod, removeUnfit } from './serving-pod.ts';

export interface ClaimStoreDeps {
  readonly kube: KubeClient;
  readonly now: () => number;
  readonly time: WaitTime;
  /** The image that holds this program. */
  readonly image: () => Promise<string>;
  /** What all stores hold of their answers. */
  readonly memory: StoreMemory;
}

/**
 * The claim as a store; closing it ends the pod, and so does a failure to open it. Throws a BackupFailure that says what keeps
 * the pod from coming up.
 */
export async function openClaim(
  deps: ClaimStoreDeps,
  owner: ClaimStoreOwner,
  {
    claim,
    place = {},
    resources,
  }: { readonly claim: string; readonly place?: PodPlace; readonly resources?: RawObject | undefined },
): Promise<Store> {
  const { namespace } = owner;
  const { kube } = deps;
  const found = await kube.get({ ...CLAIM, namespace, name: claim });
  if (found === undefined) {
    throw new BackupFailure(
      'later',
      `PersistentVolumeClaim ${namespace}/${claim} does not exist: create it, or correct spec.file.claim`,
    );
  }
  // Two pods on two nodes cannot have it, and what the pod may read and write would be changed for the member as well.
  if (owner.role !== 'volume' && found.metadata.annotations?.[ANNOTATION_INCARNATION] !== undefined) {
    throw new BackupFailure(
      'later',
      `PersistentVolumeClaim ${namespace}/${claim} belongs to a member of an EtcdCluster: use another claim in spec.file.claim`,
    );
  }
  const known = await readIdentity(deps, owner);
  // A pod reads its identity when it starts: one that has another is of no use.
  const image = await deps.image();
  const isFit = (pod: KubeObject): boolean =>
    known !== undefined && claimOf(pod) === claim && containerNamed(pod, CLAIM_STORE)?.image === image;
  await removeUnfit(deps, owner, isFit);
  const secret = known ?? (await issueIdentity(deps, owner));
  const pod = await ensurePod(kube, owner, claimStorePod(owner, { image, claim, place, resources }));
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
      memory: deps.memory.share(namespace),
    });
    await answering(deps, store);
    return closingWith(store, () => endPod(kube, pod));
  } catch (error) {
    await store?.close();
    // Why it could not be opened says more than why it could not be cleaned up.
    await endPod(kube, pod).catch(() => {});
    throw error;
  }
}

function claimOf(pod: KubeObject): string | undefined {
  const { volumes = [] } = (pod['spec'] ?? {}) as {
    readonly volumes?: readonly {
      readonly name: string;
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
  return volumes.find(({ name }) => name === CLAIM_VOLUME)?.persistentVolumeClaim?.claimName;
}
