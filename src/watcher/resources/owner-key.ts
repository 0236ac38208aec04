/** Which custom resource an object belongs to. Pure. */
import {
  APP,
  GROUP,
  type Kind,
  LABEL_APP,
  LABEL_CLUSTER,
  PLURALS,
  type ResourceRef,
} from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';

/** The owner that an object names: by uid in an owner reference, or only by name in the labels. */
export interface Owner {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** The resource that an object of one of the three kinds is; undefined for every other object. */
export function resourceOf(object: KubeObject): ResourceRef | undefined {
  const { namespace, name, uid } = object.metadata;
  if (!isOurKind(object) || namespace === undefined || uid === undefined) return undefined;
  return { kind: object.kind, namespace, name, uid };
}

/**
 * The resource that an object says it belongs to: its owner reference to one of the three kinds (the controller
 * first), else its labels `app=etcd` and `etcd_cluster`. The labels count for what outlives its owner reference,
 * such as a retained claim; they name no uid. Undefined when the object belongs to nobody here.
 */
export function ownerOf(object: KubeObject): Owner | undefined {
  const { namespace, labels = {}, ownerReferences = [] } = object.metadata;
  if (namespace === undefined) return undefined;
  const candidates = ownerReferences.filter(isOurKind);
  const reference = candidates.find(candidate => candidate.controller === true) ?? candidates[0];
  if (reference !== undefined) {
    return { kind: reference.kind, namespace, name: reference.name, uid: reference.uid };
  }
  const cluster = labels[LABEL_CLUSTER];
  if (labels[LABEL_APP] !== APP || cluster === undefined || cluster === '') return undefined;
  return { kind: 'EtcdCluster', namespace, name: cluster, uid: undefined };
}

/** One text for each resource, different for a later resource of the same name. */
export function keyOf(ref: ResourceRef): string {
  return `${ref.kind}/${ref.namespace}/${ref.name}/${ref.uid}`;
}

/** The namespace of a key's resource. */
export function namespaceOf(key: string): string {
  return refOf(key).namespace;
}

/** Any version of the API group counts: the version is only how the object was asked for. */
function isOurKind<T extends { apiVersion: string; kind: string }>(object: T): object is T & { kind: Kind } {
  return object.apiVersion.startsWith(`${GROUP}/`) && isKind(object.kind);
}

/** The resource of a key. None of the four parts can hold a slash. @throws RangeError for any other text. */
export function refOf(key: string): ResourceRef {
  const [kind, namespace, name, uid, ...rest] = key.split('/');
  const complete = namespace !== undefined && name !== undefined && uid !== undefined && rest.length === 0;
  if (!complete || kind === undefined || !isKind(kind))
    throw new RangeError(`"${key}" is not a resource's key`);
  return { kind, namespace, name, uid };
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(PLURALS, kind);
}
