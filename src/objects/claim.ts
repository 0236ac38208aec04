/** The claim that holds one member's data. Pure. */
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import {
  ANNOTATION_DATA_VERSION,
  ANNOTATION_STORAGE_CLASS,
  ANNOTATION_STORAGE_SIZE,
  claimName,
  isReservedKey,
  memberLabels,
} from '../api/names.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { withoutUndefined } from '../api/values/without-undefined.ts';
import { type ManifestObject, memberAnnotations } from './manifest.ts';
import { requestedSize } from './storage.ts';

export interface ClaimMember {
  readonly name: string;
  readonly token: string;
  /** The recorded class (`status.storage`), for a template that names none. */
  readonly storageClassName?: string | undefined;
  /** The release of etcd that is about to be started on it: noted where a lost status does not take it along. */
  readonly version?: string | undefined;
}

/**
 * A member's PersistentVolumeClaim, named as the member. Whatever else the user's template says is passed through.
 *
 * It has no owner reference, deliberately: garbage collection must never take data. Whether claims go with their
 * cluster is decided by `spec.storage.retain` and done by the operator, one named claim at a time.
 */
export function memberClaim(cluster: EtcdCluster, member: ClaimMember): ManifestObject {
  const { name, token, version } = member;
  const { metadata, spec } = withDefaults(cluster.spec).storage.volumeClaimTemplate ?? {};
  const storageClassName = spec?.storageClassName ?? member.storageClassName;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(name),
      namespace: cluster.metadata.namespace,
      labels: {
        ...notOurs(metadata?.labels),
        ...memberLabels(cluster.metadata.name, name),
      },
      annotations: {
        ...notOurs(metadata?.annotations),
        ...memberAnnotations({ name, token }),
        ...withoutUndefined({
          [ANNOTATION_DATA_VERSION]: version,
          [ANNOTATION_STORAGE_CLASS]: spec?.storageClassName,
          [ANNOTATION_STORAGE_SIZE]: requestedSize(spec),
        }),
      },
    },
    spec: {
      ...spec,
      accessModes: spec?.accessModes?.length ? spec.accessModes : ['ReadWriteOnce'],
      resources: {
        ...spec?.resources,
        requests: { ...spec?.resources?.requests, storage: requestedSize(spec) },
      },
      ...withoutUndefined({ storageClassName }),
    },
  };
}

/** What the operator reads from claims is its own to write: a template may be copied from a claim of another member. */
function notOurs(texts: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => !isReservedKey(key)));
}
