import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { ANNOTATION_CLUSTER_ID, ANNOTATION_DATA_VERSION, ANNOTATION_MEMBER_ID } from '../../api/names.ts';
import type { KindRef } from '../../kube/port.ts';
import { sealedAnnotations } from '../../objects/first-start.ts';
import { lastSerialOf, peerUrlOf } from '../../planner/model/identity.ts';
import { memberViews, type MemberView } from '../../planner/model/member-view.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { MemberIdentity } from '../../planner/model/steps/creation.ts';
import { faultOfFormation, versionOf } from '../../planner/operations/create/formation.ts';
import { unsealed } from '../../planner/operations/stamps/seal.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { type MembersObserved, observeMembers } from '../observe/members.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import type { WaitOutcome } from '../runtime/poll.ts';
import { recordStatus, stampIdentity } from '../resource/etcd-cluster.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Records which cluster the members formed: first on their claims and pods and on the resource itself, then in status. From then on no
 * member may bootstrap. Asks the quorum once more before it writes. The pods of members that have started are sealed with the same
 * write (steps/seal-members.ts). Done only when every member has: nobody opens the client Service to one that is not sealed.
 */
export const recordClusterId: Perform<'recordClusterId', WaitOutcome> = async (deps, ref, step) => {
  const { token, elected } = step;
  const { cluster, observation } = await observeNamed(deps, ref, elected?.members ?? []);
  if (isRecorded(cluster, step)) return 'notYet';
  const clusterId = formed(observation, step);
  const views = memberViews(observation);
  const members = elected?.members ?? views;
  await Promise.all(members.flatMap(member => stamps(deps, observation, { clusterId, member })));
  const lastSerial = lastSerialOf(observation.cluster);
  const stamped = await stampIdentity(deps.kube, cluster, { token, clusterId, lastSerial });
  await recordStatus(deps.kube, stamped, { clusterID: clusterId, ...versionSeen(cluster, views) });
  const message = `${members.map(member => member.name).join(', ')} formed cluster ${clusterId}`;
  recordClusterEvent(deps, ref, { reason: 'ClusterFormed', message });
  return views.every(({ started }) => started) ? 'done' : 'notYet';
};

/** Whether another attempt has recorded it. Fails with PreconditionChanged when something else is recorded. */
function isRecorded({ status }: EtcdCluster, { token, elected }: StepOf<'recordClusterId'>): boolean {
  const recorded = status?.clusterID;
  const isSame = recorded === (elected?.clusterId ?? recorded);
  if (status?.incarnation?.token !== token || (recorded !== undefined && !isSame))
    throw preconditionChanged(
      `the recorded identity has changed since ${elected?.clusterId ?? token} was planned`,
    );
  return recorded !== undefined;
}

/** The version that is recorded with the cluster, unless there is one: without it nobody knows what its data is of. */
function versionSeen(
  { status }: EtcdCluster,
  views: readonly MemberView[],
): Pick<EtcdClusterStatus, 'currentVersion'> {
  const currentVersion = status?.currentVersion === undefined ? versionOf(views) : undefined;
  return currentVersion === undefined ? {} : { currentVersion };
}

async function observeNamed(deps: Dependencies, ref: ClusterRef, members: readonly MemberIdentity[]) {
  const names = members.map(({ name }) => name);
  const seen = await observeMembers(deps, ref, names);
  const what = `EtcdCluster ${ref.namespace}/${ref.name}`;
  if (seen === undefined) throw preconditionChanged(`${what} is gone`);
  if (seen.observation.cluster.deleting) throw preconditionChanged(`${what} is being deleted`);
  return seen;
}

/** The id of the cluster that is to be recorded. Fails with PreconditionChanged when the members do not show it. */
function formed(observation: MembersObserved, { token, elected }: StepOf<'recordClusterId'>): string {
  const { membership, expectedClusterId } = observation;
  if (!membership.known || membership.clusterId !== (elected?.clusterId ?? membership.clusterId))
    throw preconditionChanged(`no quorum of cluster ${elected?.clusterId ?? expectedClusterId} answers`);
  const { clusterId } = membership;
  if (clusterId !== expectedClusterId)
    throw preconditionChanged(`incarnation ${token} forms cluster ${expectedClusterId}, not ${clusterId}`);
  const fault = elected === undefined ? faultOfFormation(observation) : undefined;
  if (fault !== undefined) throw preconditionChanged(`cluster id ${clusterId} is not recorded: ${fault}`);
  return clusterId;
}

/** Writes on the pod and the claim of a member which member it is; the pod of one that has started is sealed. */
function stamps(
  deps: Dependencies,
  observation: MembersObserved,
  { clusterId, member: { name, id } }: { readonly clusterId: string; readonly member: MemberIdentity },
): Promise<unknown>[] {
  const { cluster, pods, claims } = observation;
  const identity = { [ANNOTATION_CLUSTER_ID]: clusterId, [ANNOTATION_MEMBER_ID]: id };
  const ofThis = (object: { readonly owned: boolean; readonly name: string }) =>
    object.owned && object.name === name;
  const started = memberViews(observation).filter(view => view.id === id && view.started);
  const open = unsealed(started).map(({ uid }) => uid);
  const sealed = sealedAnnotations({ name, peerUrl: peerUrlOf(cluster, name) });
  const stamp = (of: KindRef, uid: string, annotations: Readonly<Record<string, string>>) =>
    deps.kube.patch(
      { ...of, namespace: cluster.namespace, name },
      { metadata: { uid, annotations } },
      { type: 'merge' },
    );
  const version = pods.find(ofThis)?.version;
  return [
    ...pods
      .filter(ofThis)
      .map(({ uid }) => stamp(POD, uid, { ...identity, ...(open.includes(uid) && sealed) })),
    ...claims.filter(ofThis).map(({ uid }) =>
      stamp(CLAIM, uid, {
        ...identity,
        ...(version !== undefined && { [ANNOTATION_DATA_VERSION]: version }),
      }),
    ),
  ];
}
