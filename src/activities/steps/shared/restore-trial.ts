/** Everything that a restore makes, tried before anybody is stopped for it. */
import { ApplicationFailure } from '@temporalio/activity';
import { withDefaults } from '../../../api/defaults/etcd-cluster.ts';
import { parseQuantity } from '../../../api/values/quantity.ts';
import type { EtcdCluster } from '../../../api/schemas/types.ts';
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
import { placeOf, resourcesOf } from '../../runtime/pod-placement.ts';
import { seedPodOf, startedSeed, survivorPodOf, volumeOwner } from './seed-objects.ts';
import { tryObjects } from './trial.ts';

/**
 * Tries what the restore will create, by the builders that will make it. Once the first member is being stopped the restore continues
 * whatever is said: what stands in its way then is shown, and an abort leads back.
 * @param service the client Service, which stays
 * @throws what the API server would refuse
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
): Promise<void> {
  const left = await podsLeft(deps.kube, ref, pods);
  // Clients are kept out first; a pod alone may be on its way for another reason, such as an eviction.
  const isOpen = service !== undefined && !keepsClientsOut(service);
  const isBegun = !isOpen && left.some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (trial === undefined || pods.length === 0 || isBegun) return;
  const { incarnation, storage, version } = trial;
  const status = { ...cluster.status, incarnation, storage, currentVersion: version };
  const next = { ...cluster, status };
  if (incarnation.restore?.returned === true) return tryReturn(deps, { cluster: next, service, gone: left });
  const restore = await readRestore(deps.kube, { ...trial.restore, namespace: ref.namespace });
  if (restore === undefined) throw preconditionChanged(`EtcdRestore ${trial.restore.name} is gone`);
  const member = seedName(trial);
  const step = { member, token: incarnation.token };
  const owner = volumeOwner(restore);
  const volume =
    restore.spec.survivor === undefined
      ? claimStorePod(owner, {
          image: await deps.ownImage(),
          claim: member,
          place: placeOf(next),
          resources: resourcesOf(next),
        })
      : await survivorPodOf(deps, { cluster: next, restore, step });
  const objects = [
    peerService(next),
    ...(service === undefined ? [clientService(next)] : []),
    seedBudget(next),
    claimOf(next, trial),
    claimStoreSecret(owner, {}),
    volume,
    await seedPodOf(deps, { cluster: next, restore, step }),
    startedSeed(next, step),
  ];
  await tryObjects(deps.kube, { objects, gone: left });
  await tryRoom(deps, { object: allClaims(next, trial), gone: [] });
  // The backup is read through another pod of this kind, while this one takes it.
  if (restore.status?.source?.location.startsWith('file://') === true)
    await tryRoom(deps, { object: twice(volume), gone: left });
}

/** The members that start again are tried: their claims are there. */
async function tryReturn(
  deps: Dependencies,
  {
    cluster,
    service,
    gone,
  }: {
    readonly cluster: EtcdCluster;
    readonly service: KubeObject | undefined;
    readonly gone: readonly KubeObject[];
  },
): Promise<void> {
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
