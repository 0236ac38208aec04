/** Everything that a restore makes, tried before anybody is stopped for it. */
import { ApplicationFailure } from '@temporalio/activity';
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { parseQuantity } from '../../api/values/quantity.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { seedBudget } from '../../objects/budget.ts';
import { memberClaim } from '../../objects/claim.ts';
import { claimStorePod, claimStoreSecret } from '../../objects/claim-store.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { clientService, peerService } from '../../objects/services.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { podsLeft } from '../observe/cluster-objects.ts';
import { readRestore } from '../resource/etcd-restore.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { placeOf, resourcesOf } from '../runtime/pod-placement.ts';
import { seedPodOf, startedSeed, volumeOwner } from './seed-objects.ts';
import { tryObjects } from './trial.ts';

/**
 * Tries what the restore will create, by the builders that will make it. Once the first member is being stopped the restore goes on
 * whatever is said: what stands in its way then is shown, and an abort leads back.
 * @param open the client Service, which goes too
 * @throws what the API server would refuse
 */
export async function tryRestore(
  deps: Dependencies,
  ref: ClusterRef,
  {
    cluster,
    step: { pods, trial },
    open,
  }: {
    readonly cluster: EtcdCluster;
    readonly step: StepOf<'fenceMembers'>;
    readonly open: KubeObject | undefined;
  },
): Promise<void> {
  const left = await podsLeft(deps.kube, ref, pods);
  const isBegun = left.length < pods.length || left.some(({ metadata }) => metadata.deletionTimestamp);
  if (trial === undefined || pods.length === 0 || isBegun) return;
  const { incarnation, storage } = trial;
  const next = { ...cluster, status: { ...cluster.status, incarnation, storage } };
  const gone = open === undefined ? left : [...left, open];
  await tryObjects(deps.kube, { objects: await objectsOf(deps, next, trial), gone });
  await tryAllClaims(deps, next, trial);
}

type Trial = NonNullable<StepOf<'fenceMembers'>['trial']>;

async function objectsOf(deps: Dependencies, cluster: EtcdCluster, trial: Trial) {
  const { namespace } = cluster.metadata;
  const restore = await readRestore(deps.kube, { ...trial.restore, namespace });
  if (restore === undefined) throw preconditionChanged(`EtcdRestore ${trial.restore.name} is gone`);
  const member = seedName(trial);
  const step = { member, token: trial.incarnation.token };
  const owner = volumeOwner(restore);
  const volume = {
    image: await deps.ownImage(),
    claim: member,
    place: placeOf(cluster),
    resources: resourcesOf(cluster),
  };
  return [
    peerService(cluster),
    clientService(cluster),
    seedBudget(cluster),
    claimOf(cluster, trial),
    claimStoreSecret(owner, {}),
    claimStorePod(owner, volume),
    await seedPodOf(deps, { cluster, restore, step }),
    startedSeed(cluster, step),
  ];
}

/**
 * The claims of the members before are kept, so there must be room for those of all that follow: one claim as large as all together says
 * whether a quota has it. What else is said against so large a claim is of no account.
 */
async function tryAllClaims(deps: Dependencies, cluster: EtcdCluster, trial: Trial): Promise<void> {
  const claim = claimOf(cluster, trial) as ManifestObject & { readonly spec: ClaimSpec };
  const { resources } = claim.spec;
  const bytes = (parseQuantity(resources.requests.storage) ?? 0) * withDefaults(cluster.spec).size;
  const requests = { ...resources.requests, storage: String(Math.ceil(bytes)) };
  const all = { ...claim, spec: { ...claim.spec, resources: { ...resources, requests } } };
  try {
    await tryObjects(deps.kube, { objects: [all], gone: [] });
  } catch (error) {
    const isOfQuota = !(error instanceof ApplicationFailure) || error.message.includes('exceeded quota');
    if (isOfQuota) throw error;
  }
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
