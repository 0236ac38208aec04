import { applicationSecret, authoritySecret, securityOf } from '../../api/derived/tls.ts';
import {
  ANNOTATION_LEFT_BY,
  FIELD_MANAGER,
  FINALIZER,
  LABEL_CLUSTER,
  LABEL_MANAGED_BY,
} from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient, ObjectRef } from '../../kube/port.ts';
import { refTo } from '../../kube/resources.ts';
import { certificates } from '../../objects/certificate.ts';
import { ownerReference } from '../../objects/manifest.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { POD, SECRET } from '../runtime/kinds.ts';
import { stampIdentity, writeMetadata } from '../resource/etcd-cluster.ts';
import { SHARED_OBJECTS } from './ensure-objects.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/**
 * Makes this EtcdCluster the owner of what a deleted one of its name has left. First it is stamped on the resource whose members it has:
 * from then on they are its own, and the attempt after a crash finds what has no owner yet. Claims are not written at all.
 * Doing it twice changes nothing.
 */
export const takeUpMembers: Perform<'takeUpMembers'> = async (deps, ref, step) => {
  let { cluster } = await stillPlanned(deps, ref, step);
  const { kube } = deps;
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER))
    cluster = await writeMetadata(kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  const { token, clusterId, lastSerial } = step;
  cluster = await stampIdentity(kube, cluster, { token, clusterId, lastSerial });
  // Certificates first: what is found without an owner later says that these may have none either.
  await Promise.all(ofCertificates(cluster).map(object => adopt(kube, cluster, object)));
  const { namespace } = ref;
  await Promise.all(step.pods.map(({ name, uid }) => adopt(kube, cluster, { ...POD, namespace, name, uid })));
  const shared = step.objects.map(object => refTo(SHARED_OBJECTS[object](cluster, {})));
  await Promise.all(shared.map(object => adopt(kube, cluster, object)));
  const claims = step.claims.map(({ name }) => name).join(', ');
  const pods = step.pods.map(({ name }) => name).join(', ');
  const what = [
    ...(claims === '' ? [] : [`claims ${claims}`]),
    ...(pods === '' ? [] : [`running pods ${pods}`]),
  ];
  const message = `took up ${what.join(' and ') || 'the Services'} of incarnation ${token}, cluster ${clusterId}`;
  recordClusterEvent(deps, ref, { reason: 'MembersTakenUp', message });
};

/** What holds the certificates that the operator had made; those of users have no owner. */
function ofCertificates(cluster: EtcdCluster): ObjectRef[] {
  const { namespace, name } = cluster.metadata;
  const security = securityOf(cluster);
  if (security === undefined || security.mode === 'static') return [];
  if (security.mode === 'certManager') return certificates(cluster).map(refTo);
  const secrets = [
    authoritySecret(name, 'peer'),
    authoritySecret(name, 'client'),
    ...security.certificates.map(({ secret }) => secret),
    applicationSecret(name),
  ];
  return secrets.map(secret => ({ ...SECRET, namespace, name: secret }));
}

/** One that somebody owns, or that is not of this operator, is left alone. */
async function adopt(
  kube: KubeClient,
  cluster: EtcdCluster,
  { uid, ...object }: ObjectRef & { readonly uid?: string },
): Promise<void> {
  const found = await kube.get(object);
  if (found === undefined || found.metadata.uid !== (uid ?? found.metadata.uid)) return;
  const { labels = {}, ownerReferences = [], annotations = {} } = found.metadata;
  const isOurs =
    labels[LABEL_CLUSTER] === cluster.metadata.name && labels[LABEL_MANAGED_BY] === FIELD_MANAGER;
  if (!isOurs || ownerReferences.some(({ controller }) => controller === true)) return;
  const metadata = {
    uid: found.metadata.uid,
    ownerReferences: [...ownerReferences, ownerReference(cluster)],
    ...(annotations[ANNOTATION_LEFT_BY] !== undefined && { annotations: { [ANNOTATION_LEFT_BY]: null } }),
  };
  await kube.patch(object, { metadata }, { type: 'merge' });
}
