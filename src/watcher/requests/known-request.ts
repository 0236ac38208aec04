/** What the watcher keeps of an EtcdRequest. Pure. */
import { REQUEST_KIND } from '../../api/names.ts';
import type { EtcdRequest, EtcdRequestSpec } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { at } from '../model/json.ts';

/** Identity, specification and status. Labels and annotations say nothing to the operator. */
export function slimRequest({ apiVersion, kind, metadata, ...object }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } =
    metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(generation !== undefined && { generation }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: object['spec'],
    status: object['status'],
  };
}

/** The object as an EtcdRequest; undefined: it is none, is being deleted, or lacks what the API server fills in. */
export function requestOf(object: KubeObject): EtcdRequest | undefined {
  const { namespace, uid, creationTimestamp, deletionTimestamp } = object.metadata;
  const isWhole =
    namespace !== undefined && uid !== undefined && parseTimestamp(creationTimestamp) !== undefined;
  if (object.kind !== REQUEST_KIND || !isWhole || deletionTimestamp !== undefined) return undefined;
  return typeof at(object, 'spec', 'action') === 'string' ? (object as unknown as EtcdRequest) : undefined;
}

/** As the CRD has them, for an object of a CRD that has no defaults. */
const EXPIRES_AFTER_SECONDS = 3_600;
const TTL_SECONDS = 86_400;

/** Until when it may be accepted, in milliseconds since the epoch. */
export function expiryOf({ metadata, spec }: EtcdRequest): number {
  const created = parseTimestamp(metadata.creationTimestamp ?? undefined) ?? 0;
  return created + (spec.expiresAfterSeconds ?? EXPIRES_AFTER_SECONDS) * 1_000;
}

/** When it may be deleted, in milliseconds since the epoch; undefined: it is not finished. */
export function removalOf({ spec, status }: EtcdRequest): number | undefined {
  const completed = parseTimestamp(status?.completedAt);
  if (completed === undefined) return undefined;
  return completed + (spec.ttlSecondsAfterFinished ?? TTL_SECONDS) * 1_000;
}

/** The kind and the name of what it is about. */
export function targetOf({ clusterRef, backupRef }: EtcdRequestSpec) {
  // Where both are named, the cluster is that which the backup must be of.
  return backupRef !== undefined
    ? ({ kind: 'EtcdBackup', name: backupRef.name } as const)
    : ({ kind: 'EtcdCluster', name: clusterRef?.name ?? '' } as const);
}
