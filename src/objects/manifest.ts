/** What the builders make: Kubernetes objects as plain JSON, and the parts that all of them share. Pure. */
import { ANNOTATION_INCARNATION, ANNOTATION_SERIAL, API_VERSION, serialOf } from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type ClusterConfig, withDefaults } from '../api/defaults/etcd-cluster.ts';
import { domainOf } from '../api/derived/domain.ts';
import { securitySwitch } from '../api/derived/tls.ts';

export type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
  readonly blockOwnerDeletion: true;
};

type ManifestMetadata = {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
};

/** A Kubernetes object to be applied: only the fields that the operator wants to own. */
export type ManifestObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ManifestMetadata;
  readonly spec: Readonly<Record<string, unknown>>;
};

/**
 * The reference by which an object goes when its cluster goes. Claims never carry it: garbage collection must not
 * decide about data, `spec.storage.retain` does.
 */
export function ownerReference(cluster: EtcdCluster): OwnerReference {
  const { name, uid } = cluster.metadata;
  return {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

/**
 * The annotations from which a member is recognized when status is lost: which incarnation, which serial.
 * Throws a RangeError for a name that is not `<cluster>-<serial>`.
 */
export function memberAnnotations(member: { name: string; token: string }): Record<string, string> {
  const serial = serialOf(member.name);
  if (serial === undefined) throw new RangeError(`${member.name} is not a member name <cluster>-<serial>`);
  return { [ANNOTATION_INCARNATION]: member.token, [ANNOTATION_SERIAL]: String(serial) };
}

/**
 * The specification with its defaults, where a version that the specification leaves open is the recorded one, and the domain of
 * URLs the one that the members have.
 * Throws a RangeError for a mode of TLS that the living cluster does not have: members that do not understand each other
 * must never be made. Conditions say so to users before anything gets here.
 */
export function buildableConfig(cluster: EtcdCluster): ClusterConfig {
  const recorded = cluster.status?.targetVersion || cluster.status?.currentVersion;
  const config = withDefaults(cluster.spec, { version: recorded });
  const { namespace, name } = cluster.metadata;
  const switched = securitySwitch(cluster);
  if (switched !== undefined) throw new RangeError(`EtcdCluster ${namespace}/${name}: ${switched}`);
  return { ...config, pod: { ...config.pod, ClusterDomain: domainOf(cluster) } };
}
