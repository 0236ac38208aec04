/** The claim that holds one member's data. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import { claimName, isReservedKey, memberLabels } from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { type ManifestObject, memberAnnotations } from './manifest.ts';
import { requestedSize } from './storage.ts';

/**
 * A member's PersistentVolumeClaim, named as the member. Whatever else the user's template says is passed through.
 * `storageClassName` is the recorded class (`status.storage`), for a template that names none.
 *
 * It has no owner reference, deliberately: garbage collection must never take data. Whether claims go with their
 * cluster is decided by `spec.storage.retain` and done by the operator, one named claim at a time.
 */
export function memberClaim(
  cluster: EtcdCluster,
  member: { readonly name: string; readonly token: string; readonly storageClassName?: string | undefined },
): ManifestObject {
  const template = withDefaults(cluster.spec).storage.volumeClaimTemplate;
  const spec = template?.spec;
  const storageClassName = spec?.storageClassName ?? member.storageClassName;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(member.name),
      namespace: cluster.metadata.namespace,
      labels: {
        ...notOurs(template?.metadata?.labels),
        ...memberLabels(cluster.metadata.name, member.name),
      },
      annotations: { ...notOurs(template?.metadata?.annotations), ...memberAnnotations(member) },
    },
    spec: {
      ...spec,
      accessModes: spec?.accessModes?.length ? spec.accessModes : ['ReadWriteOnce'],
      resources: {
        ...spec?.resources,
        requests: { ...spec?.resources?.requests, storage: requestedSize(spec) },
      },
      ...(storageClassName === undefined ? {} : { storageClassName }),
    },
  };
}

/** What the operator reads from claims is its own to write: a template may be copied from a claim of another member. */
function notOurs(texts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !isReservedKey(key)));
}
