import { ANNOTATION_CLUSTER_ID, ANNOTATION_DATA_VERSION, ANNOTATION_MEMBER_ID } from '../../api/names.ts';
import type { Step } from '../../planner/model/decision.ts';
import type { MemberIdentity } from '../../planner/model/steps/creation.ts';
import { lastSerialOf } from '../../planner/model/identity.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { observe } from '../observe/observe.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { recordStatus, stampIdentity } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';

/**
 * Records which cluster the members formed: first on their claims and pods and on the
 * resource itself, then in status. From then on no member
 * may bootstrap. Asks the quorum once more before it writes.
 */
export async function recordClusterId(
  deps: Dependencies,
  ref: ClusterRef,
  step: Extract<Step, { kind: 'recordClusterId' }>,
): Promise<void> {
  const seen = await observe(deps, ref);
  if (seen === undefined) throw preconditionChanged(`EtcdCluster ${ref.namespace}/${ref.name} is gone`);
  const { cluster, observation } = seen;
  const recorded = cluster.status?.clusterID;
  if (recorded === step.clusterId) return;
  if (recorded !== undefined || cluster.status?.incarnation?.token !== step.token) {
    throw preconditionChanged(`the recorded identity has changed since ${step.clusterId} was planned`);
  }
  const { membership, pods, claims } = observation;
  if (!membership.known || membership.clusterId !== step.clusterId) {
    throw preconditionChanged(`no quorum of cluster ${step.clusterId} answers`);
  }
  const { expectedClusterId } = observation;
  if (membership.clusterId !== expectedClusterId)
    throw preconditionChanged(
      `incarnation ${step.token} forms cluster ${expectedClusterId}, not ${step.clusterId}`,
    );
  await Promise.all(
    step.members.flatMap(member => [
      ...pods
        .filter(pod => pod.owned && pod.name === member.name)
        .map(pod => stamp(deps, { ...POD, ...ref, ...pod }, { ...step, member })),
      ...claims
        .filter(claim => claim.owned && claim.name === member.name)
        .map(claim => {
          const version = pods.find(pod => pod.owned && pod.name === member.name)?.version;
          return stamp(deps, { ...CLAIM, ...ref, ...claim }, { ...step, member, version });
        }),
    ]),
  );
  const stamped = await stampIdentity(deps.kube, cluster, {
    token: step.token,
    clusterId: step.clusterId,
    lastSerial: lastSerialOf(observation.cluster),
  });
  await recordStatus(deps.kube, stamped, { clusterID: step.clusterId });
  const message = `${step.members.map(member => member.name).join(', ')} formed cluster ${step.clusterId}`;
  recordClusterEvent(deps, ref, { reason: 'ClusterFormed', message });
}

interface Stamped {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

async function stamp(
  deps: Dependencies,
  object: Stamped,
  {
    clusterId,
    member,
    version,
  }: { readonly clusterId: string; readonly member: MemberIdentity; readonly version?: string | undefined },
): Promise<void> {
  const { apiVersion, kind, namespace, name, uid } = object;
  const annotations = {
    [ANNOTATION_CLUSTER_ID]: clusterId,
    [ANNOTATION_MEMBER_ID]: member.id,
    ...(version !== undefined && { [ANNOTATION_DATA_VERSION]: version }),
  };
  await deps.kube.patch(
    { apiVersion, kind, namespace, name },
    { metadata: { uid, annotations } },
    { type: 'merge' },
  );
}
