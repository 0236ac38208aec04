import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { disruptionBudget, minAvailableOf } from '../../objects/budget.ts';
import { memberClaim } from '../../objects/claim.ts';
import { memberPod, settledIn } from '../../objects/pod.ts';
import { peerService } from '../../objects/services.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { noteDataVersion } from '../cluster/data-version.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { createOwned } from './shared/create-owned.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Creates what the first members need and then the members, all at once: they elect a leader together. Each is asked
 * of all initial members, also when only some are missing. They may
 * bootstrap only while no cluster id is recorded; two emptied members that bootstrap beside a stopped third would
 * form a quorum without its data (etcd docs, "Clustering guide: Bootstrapping a new cluster").
 */
export const bootstrapMembers: Perform<'bootstrapMembers'> = async (deps, ref, step) => {
  const cluster = await readLivingCluster(deps.kube, ref);
  assertMayBootstrap(cluster.status ?? {});
  const { incarnation, storage } = cluster.status ?? {};
  if (incarnation?.token !== step.token || storage === undefined) {
    throw preconditionChanged(`incarnation ${step.token} is not the recorded incarnation`);
  }
  const initial = incarnation.members.map(member => member.name);
  const stranger = step.members.find(name => !initial.includes(name));
  if (stranger !== undefined)
    throw preconditionChanged(`${stranger} is not a member of incarnation ${step.token}`);
  const { kind, storageClassName } = storage;
  const { token, version } = step;
  const voters = incarnation.members.length;
  const minAvailable = minAvailableOf({ voters, learners: 0, wanted: voters });
  await createAll(deps, cluster, [peerService(cluster), disruptionBudget(cluster, minAvailable)]);
  if (kind === 'PersistentVolumeClaim') {
    await Promise.all(
      step.members.map(async name => {
        const claim = memberClaim(cluster, { name, token, storageClassName, version });
        const outcome = await createOwned(deps.kube, claim, ref.uid);
        if (outcome === 'found') await noteDataVersion(deps.kube, { ...ref, name }, version);
      }),
    );
  }
  const start = { state: 'new', members: initial } as const;
  const noted = await authoritiesNoted(deps.kube, cluster);
  const pods = step.members.map(name =>
    noted(settledIn(memberPod(cluster, { name, token, start, storage: kind, version }), step.settledIn)),
  );
  const created = await createAll(deps, cluster, pods);
  if (created > 0) {
    recordClusterEvent(deps, ref, {
      reason: 'MembersCreated',
      message: `created ${step.members.join(', ')}`,
    });
  }
};

/** Refuses to bootstrap where a cluster has lived. */
export function assertMayBootstrap({ clusterID }: Pick<EtcdClusterStatus, 'clusterID'>): void {
  if (clusterID !== undefined)
    throw preconditionChanged(`cluster id ${clusterID} is already recorded: no member is bootstrapped`);
}

async function createAll(
  deps: Dependencies,
  cluster: EtcdCluster,
  objects: readonly Parameters<typeof createOwned>[1][],
): Promise<number> {
  const outcomes = await Promise.all(
    objects.map(object => createOwned(deps.kube, object, cluster.metadata.uid)),
  );
  return outcomes.filter(outcome => outcome === 'created').length;
}
