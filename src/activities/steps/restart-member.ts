import { ANNOTATION_VERSION } from '../../api/names.ts';
import { memberPod, settledIn } from '../../objects/pod.ts';
import { noteDataVersion } from '../cluster/data-version.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { CLAIM } from '../runtime/kinds.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { createOwned } from './shared/create-owned.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Gives a member its pod back, on the very claim that was planned for. The pod is configured to join a cluster of itself
 * alone: etcd ignores that when it finds its log on the volume, and refuses to start when it does not, so a volume
 * that was emptied behind our back never becomes an empty member under the old name.
 */
export const restartMember: Perform<'restartMember'> = async (deps, ref, step) => {
  const cluster = await readLivingCluster(deps.kube, ref);
  if (cluster.status?.incarnation?.token !== step.token || cluster.status.clusterID === undefined) {
    throw preconditionChanged(`incarnation ${step.token} is not the recorded incarnation`);
  }
  if (cluster.spec.hibernated === true)
    throw preconditionChanged('spec.hibernated is true: no member is started');
  const claim = await deps.kube.get({ ...CLAIM, namespace: ref.namespace, name: step.member });
  if (claim?.metadata.uid !== step.claimUid || claim.metadata.deletionTimestamp !== undefined) {
    throw preconditionChanged(`claim ${step.member} is not the claim that the member used`);
  }
  const { currentVersion } = cluster.status;
  const pod = memberPod(cluster, {
    name: step.member,
    token: step.token,
    start: { state: 'restart' },
    storage: 'PersistentVolumeClaim',
    isLearner: step.isLearner,
    // A repair never upgrades: the member comes back in the version that the cluster runs.
    version: step.version ?? currentVersion,
    image: step.image,
  });
  const noted = await authoritiesNoted(deps.kube, cluster);
  const outcome = await createOwned(deps.kube, noted(settledIn(pod, step.settledIn)), ref.uid);
  const version = pod.metadata.annotations?.[ANNOTATION_VERSION];
  await noteDataVersion(deps.kube, { namespace: ref.namespace, name: step.member }, version);
  if (outcome === 'created') {
    const isMoved = currentVersion !== undefined && version !== currentVersion;
    const reason = isMoved ? 'MemberUpgraded' : 'MemberRestarted';
    const message = `started ${step.member} again on its volume${isMoved ? ` with etcd ${version}` : ''}`;
    recordClusterEvent(deps, ref, { reason, message });
  }
};
