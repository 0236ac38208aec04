import { ANNOTATION_CLUSTER_ID, ANNOTATION_MEMBER_ID } from '../../api/names.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { type MemberView, memberViews } from '../../planner/model/member-view.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { authoritiesNoted } from '../cluster/note-authorities.ts';
import { observeMembers } from '../observe/members.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { createOwned } from './shared/create-owned.ts';
import { joiningMember } from './shared/joining-member.ts';
import type { Perform } from './shared/perform.ts';

/** Gives a learner that was just added its claim and its pod, with the member list as it is now. */
export const createMember: Perform<'createMember'> = async (deps, ref, step) => {
  await readLivingCluster(deps.kube, ref);
  const seen = await observeMembers(deps, ref, [step.member]);
  const views = seen === undefined ? [] : memberViews(seen.observation);
  const view = views.find(candidate => candidate.name === step.member);
  if (seen === undefined || !isNewLearner(view, step)) {
    throw preconditionChanged(`${step.member} (${step.id}) is not a learner that has not started`);
  }
  const { cluster, observation } = seen;
  const storage = cluster.status?.storage;
  if (storage === undefined || cluster.status?.incarnation?.token !== step.token) {
    throw preconditionChanged(`incarnation ${step.token} is not the recorded incarnation`);
  }
  const { clusterID = '' } = cluster.status;
  const identity = { [ANNOTATION_MEMBER_ID]: step.id, [ANNOTATION_CLUSTER_ID]: clusterID };
  const { claim, pod } = joiningMember({ cluster, observation, member: step.member });
  if (claim !== undefined) await createOwned(deps.kube, stamped(claim, identity), ref.uid);
  const noted = await authoritiesNoted(deps.kube, cluster);
  await createOwned(deps.kube, noted(stamped(pod, identity)), ref.uid);
};

/** Whether it is the learner that was added, and has not started yet. */
export function isNewLearner(view: MemberView | undefined, { id }: StepOf<'createMember'>): boolean {
  return view?.id === id && view.isLearner && !view.started;
}

function stamped(object: ManifestObject, identity: Readonly<Record<string, string>>): ManifestObject {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...identity } } };
}
