import { ANNOTATION_CLUSTER_ID, ANNOTATION_DATA_VERSION, ANNOTATION_MEMBER_ID } from '../../api/names.ts';
import { memberClaim } from '../../objects/claim.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { memberPod } from '../../objects/pod.ts';
import type { Step } from '../../planner/model/decision.ts';
import { peerUrlOf, memberViews } from '../../planner/model/member-view.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { observe } from '../observe/observe.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { createOwned } from './create-owned.ts';

type CreateMember = Extract<Step, { kind: 'createMember' }>;

/** Gives a learner that was just added its claim and its pod, with the member list as it is now. */
export async function createMember(deps: Dependencies, ref: ClusterRef, step: CreateMember): Promise<void> {
  await readLivingCluster(deps.kube, ref);
  const seen = await observe(deps, ref);
  const views = seen === undefined ? [] : memberViews(seen.observation);
  const view = views.find(candidate => candidate.name === step.member);
  if (seen === undefined || view?.id !== step.id || !view.isLearner || view.started) {
    throw preconditionChanged(`${step.member} (${step.id}) is not a learner that has not started`);
  }
  const { cluster, observation } = seen;
  const storage = cluster.status?.storage;
  if (storage === undefined || cluster.status?.incarnation?.token !== step.token) {
    throw preconditionChanged(`incarnation ${step.token} is not the recorded incarnation`);
  }
  const { clusterID = '', currentVersion: version } = cluster.status;
  const identity = { [ANNOTATION_MEMBER_ID]: step.id, [ANNOTATION_CLUSTER_ID]: clusterID };
  const member = { name: step.member, token: step.token };
  if (storage.kind === 'PersistentVolumeClaim') {
    const claim = memberClaim(cluster, { ...member, storageClassName: storage.storageClassName });
    const noted = version === undefined ? {} : { [ANNOTATION_DATA_VERSION]: version };
    await createOwned(deps.kube, stamped(claim, { ...identity, ...noted }), ref.uid);
  }
  const members = views.map(({ name }) => ({ name, peerUrl: peerUrlOf(observation, name) }));
  const pod = memberPod(cluster, {
    ...member,
    start: { state: 'join', members },
    storage: storage.kind,
    version,
  });
  const noted = await authoritiesNoted(deps.kube, cluster);
  await createOwned(deps.kube, noted(stamped(pod, identity)), ref.uid);
}

function stamped(object: ManifestObject, identity: Readonly<Record<string, string>>): ManifestObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...identity } } };
}
