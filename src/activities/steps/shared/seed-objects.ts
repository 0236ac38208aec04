/** The pods that give a restored cluster its first member, as they are tried and as they are made. */
import { etcdImage, withDefaults } from '../../../api/defaults/etcd-cluster.ts';
import type { EtcdCluster, EtcdRestore } from '../../../api/schemas/types.ts';
import type { ClaimStoreOwner } from '../../../objects/claim-store.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import { memberPod } from '../../../objects/pod.ts';
import { seedPod } from '../../../objects/seed-pod.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { preconditionChanged } from '../../runtime/failures.ts';
import { inspectionPod, survivorPod } from '../../../objects/survivor-pod.ts';
import { placeOf, resourcesOf } from '../../runtime/pod-placement.ts';

interface Seed {
  readonly member: string;
  readonly token: string;
}

/** Whose the pod is that lends the operator the volume of the first member. */
export function volumeOwner({ metadata }: EtcdRestore): ClaimStoreOwner {
  const { namespace, name, uid } = metadata;
  return { kind: 'EtcdRestore', namespace, name, uid, role: 'volume' };
}

/** The pod that makes the member's data of the snapshot. */
export async function seedPodOf(
  deps: Pick<Dependencies, 'ownImage'>,
  {
    cluster,
    restore,
    step,
  }: { readonly cluster: EtcdCluster; readonly restore: EtcdRestore; readonly step: Seed },
): Promise<ReturnType<typeof seedPod>> {
  const { namespace, name, uid } = restore.metadata;
  const member = cluster.status?.incarnation?.members.find(candidate => candidate.name === step.member);
  if (member === undefined)
    throw preconditionChanged(`${step.member} is not a member of incarnation ${step.token}`);
  return seedPod({
    restore: { namespace, name, uid },
    member: { name: step.member, peerUrl: member.peerURL, token: step.token },
    claim: step.member,
    ...(restore.spec.survivor !== undefined && { isDatabase: true }),
    revisionBump: cluster.status?.incarnation?.restore?.revisionBump ?? 0,
    ...(await runningAs(deps, cluster)),
  });
}

/** The pod that takes over the data of the survivor that the restore names. */
export async function survivorPodOf(
  deps: Pick<Dependencies, 'ownImage'>,
  {
    cluster,
    restore,
    step,
  }: { readonly cluster: EtcdCluster; readonly restore: EtcdRestore; readonly step: Seed },
): Promise<ReturnType<typeof survivorPod>> {
  const { namespace, name, uid } = restore.metadata;
  const { survivor } = restore.spec;
  if (survivor === undefined) throw preconditionChanged(`EtcdRestore ${name} names no survivor`);
  return survivorPod({
    restore: { namespace, name, uid },
    member: step.member,
    claim: survivor.member,
    revision: survivor.revision,
    ...(await runningAs(deps, cluster)),
  });
}

/** The pod that looks at the data of a member, where that runs. */
export async function inspectionPodOf(
  deps: Pick<Dependencies, 'ownImage'>,
  {
    cluster,
    step,
  }: { readonly cluster: EtcdCluster; readonly step: { readonly member: string; readonly node: string } },
): Promise<ReturnType<typeof inspectionPod>> {
  const { namespace, name, uid } = cluster.metadata;
  return inspectionPod({
    cluster: { namespace, name, uid },
    claim: step.member,
    node: step.node,
    ...(await runningAs(deps, cluster)),
  });
}

/** With which images, where, and with how much such a pod runs. */
export async function runningAs(deps: Pick<Dependencies, 'ownImage'>, cluster: EtcdCluster) {
  const { repository } = withDefaults(cluster.spec, { version: cluster.status?.currentVersion });
  return {
    images: { operator: await deps.ownImage(), etcd: etcdImage(repository, seedVersion(cluster)) },
    place: placeOf(cluster),
    resources: resourcesOf(cluster),
  };
}

/** The first member, on what was restored. It is sealed from the beginning: on an empty volume it refuses. */
export function startedSeed(cluster: EtcdCluster, { member, token }: Seed): ManifestObject {
  return memberPod(cluster, {
    name: member,
    token,
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    version: seedVersion(cluster),
  });
}

/** A restore never upgrades: the first member runs what the cluster ran. */
export function seedVersion(cluster: EtcdCluster): string {
  return cluster.status?.currentVersion || withDefaults(cluster.spec).version;
}
