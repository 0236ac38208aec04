/** Everything that a restore makes, tried before anybody is stopped for it. */
import { ApplicationFailure } from '@temporalio/activity';
import { withDefaults } from '../../../api/defaults/etcd-cluster.ts';
import { parseQuantity } from '../../../api/values/quantity.ts';
import type { EtcdCluster, EtcdRestore } from '../../../api/schemas/types.ts';
import type { KubeObject, WritableObject } from '../../../kube/port.ts';
import { seedBudget } from '../../../objects/budget.ts';
import { memberClaim } from '../../../objects/claim.ts';
import { claimStorePod, claimStoreSecret } from '../../../objects/claim-store.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import { clientService, keepsClientsOut, peerService } from '../../../objects/services.ts';
import type { StepOf } from '../../../planner/model/step-catalogue.ts';
import { podsLeft } from '../../observe/cluster-objects.ts';
import { readRestore } from '../../resource/etcd-restore.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { preconditionChanged } from '../../runtime/failures.ts';
import type { WaitOutcome } from '../../runtime/poll.ts';
import { placeOf, resourcesOf } from '../../runtime/pod-placement.ts';
import { tryImages } from './image-trial.ts';
import { seedPodOf, startedSeed, survivorPodOf, volumeOwner } from './seed-objects.ts';
import { tryObjects } from './trial.ts';

/**
 * Tries what the restore will create, by the builders that will make it. Once the first member is being stopped the restore continues
 * whatever is said: what stands in its way then is shown, and an abort leads back.
 * @param service the client Service, which stays
 * @returns notYet: an image is still being pulled
 * @throws what the API server would refuse, and images that cannot be pulled
 */
export async function tryRestore(
  deps: Dependencies,
  ref: ClusterRef,
  {
    cluster,
    step: { pods, trial },
    service,
  }: {
    readonly cluster: EtcdCluster;
    readonly step: StepOf<'fenceMembers'>;
    readonly service: KubeObject | undefined;
  },
): Promise<WaitOutcome> {
  const left = await podsLeft(deps.kube, ref, pods);
  // Clients are kept out first; a pod alone may be on its way for another reason, such as an eviction.
  const isOpen = service !== undefined && !keepsClientsOut(service);
  const isBegun = !isOpen && left.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (trial === undefined || pods.length === 0 || isBegun) return 'done';
  const { incarnation, storage, version } = trial;
  const status = { ...cluster.status, incarnation, storage, currentVersion: version };
  const next = { ...cluster, status };
  const restore = await readRestore(deps.kube, { ...trial.restore, namespace: ref.namespace });
  if (restore === undefined) throw preconditionChanged(`EtcdRestore ${trial.restore.name} is gone`);
  const of = { cluster: next, service, gone: left };
  await (incarnation.restore?.returned === true
    ? tryReturn(deps, of)
    : tryMaking(deps, { ...of, restore, trial }));
  // Where no quorum serves, nothing is taken from anybody by stopping what is left.
  if (restore.spec.survivor !== undefined) return 'done';
  return tryImages(deps, { cluster: next, restore, member: seedName(trial), gone: left });
}

interface Trying {
  /** As it is when the incarnation is recorded. */
  readonly cluster: EtcdCluster;
  readonly service: KubeObject | undefined;
  readonly gone: readonly KubeObject[];
}

/** What is made of a backup, or of a survivor. */
async function tryMaking(
  deps: Dependencies,
  {
    cluster,
    service,
    gone,
    restore,
    trial,
  }: Trying & { readonly restore: EtcdRestore; readonly trial: Trial },
): Promise<void> {
  const step = { member: seedName(trial), token: trial.incarnation.token };
  const owner = volumeOwner(restore);
  const volume =
    restore.spec.survivor === undefined
      ? claimStorePod(owner, {
          image: await deps.ownImage(),
          claim: step.member,
          place: placeOf(cluster),
          resources: resourcesOf(cluster),
        })
      : await survivorPodOf(deps, { cluster, restore, step });
  const objects = [
    peerService(cluster),
    ...(service === undefined ? [clientService(cluster)] : []),
    seedBudget(cluster),
    claimOf(cluster, trial),
    claimStoreSecret(owner, {}),
    volume,
    await seedPodOf(deps, { cluster, restore, step }),
    startedSeed(cluster, step),
  ];
  await tryObjects(deps.kube, { objects, gone });
  await tryRoom(deps, { object: allClaims(cluster, trial), gone: [] });
  // The backup is read through another pod of this kind, while this one takes it.
  if (restore.status?.source?.location.startsWith('file://') === true)
    await tryRoom(deps, { object: twice(volume), gone });
}

/** The members that start again are tried: their claims are there. */
async function tryReturn(deps: Dependencies, { cluster, service, gone }: Trying): Promise<void> {
  const { token = '', members = [] } = cluster.status?.incarnation ?? {};
  const pods = members.map(({ name }) => startedSeed(cluster, { member: name, token }));
  const objects = [peerService(cluster), ...(service === undefined ? [clientService(cluster)] : []), ...pods];
  await tryObjects(deps.kube, { objects, gone });
}

type Trial = NonNullable<StepOf<'fenceMembers'>['trial']>;

/**
 * Whether a quota has room for what exists side by side, as one object shows that is as large as all together. What else is said against so large
 * an object is of no account.
 */
async function tryRoom(
  { kube }: Dependencies,
  { object, gone }: { readonly object: WritableObject; readonly gone: readonly KubeObject[] },
): Promise<void> {
  try {
    await tryObjects(kube, { objects: [object], gone });
  } catch (error) {
    const isOfQuota = !(error instanceof ApplicationFailure) || error.message.includes('exceeded quota');
    if (isOfQuota) throw error;
  }
}

function twice(pod: {
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
}): WritableObject {
  const { containers } = pod.spec;
  const others = containers.map(container => ({ ...container, name: `${container.name}-2` }));
  return {
    ...pod,
    spec: { ...pod.spec, containers: [...containers, ...others] },
  } as unknown as WritableObject;
}

/** The claims of the members before are kept, so there must be room for those of all that follow. */
function allClaims(cluster: EtcdCluster, trial: Trial): ManifestObject {
  const claim = claimOf(cluster, trial) as ManifestObject & { readonly spec: ClaimSpec };
  const { resources } = claim.spec;
  const bytes = (parseQuantity(resources.requests.storage) ?? 0) * withDefaults(cluster.spec).size;
  const requests = { ...resources.requests, storage: String(Math.ceil(bytes)) };
  return { ...claim, spec: { ...claim.spec, resources: { ...resources, requests } } };
}

interface ClaimSpec {
  readonly resources: { readonly requests: { readonly storage: string } };
}

function claimOf(cluster: EtcdCluster, trial: Trial): ManifestObject {
  const { incarnation, storage } = trial;
  const { storageClassName } = storage;
  return memberClaim(cluster, { name: seedName(trial), token: incarnation.token, storageClassName });
}

function seedName({ incarnation }: Trial): string {
  return incarnation.members[0]?.name ?? '';
}
