/** Objects as an apiserver would send them. */
import { API_VERSION, type Kind, type ResourceRef } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';

let version = 0;
const nextVersion = (): string => String(++version);

/** The reference of a resource whose uid follows from its name. */
export function refTo(kind: Kind, name: string, incarnation = 1): ResourceRef {
  const text = Buffer.from(`${kind}${name}${incarnation}`).toString('hex').slice(-8).padStart(8, '0');
  return { kind, namespace: 'default', name, uid: `${text}-0000-4000-8000-000000000000` };
}

export function resource(ref: ResourceRef, more: Record<string, unknown> = {}): KubeObject {
  const { kind, ...metadata } = ref;
  const { metadata: moreMetadata, ...others } = more;
  return {
    apiVersion: API_VERSION,
    kind,
    metadata: {
      ...metadata,
      generation: 1,
      resourceVersion: nextVersion(),
      ...(moreMetadata as object | undefined),
    },
    spec: {},
    ...others,
  };
}

/** The status of a cluster for which nothing is to be done. */
export const IDLE = { observedGeneration: 1, conditions: [{ type: 'Available', status: 'True' }] } as const;

/** An object that a cluster owns, with the labels and the owner reference of what the operator makes. */
export function owned(
  kind: string,
  name: string,
  owner: ResourceRef,
  more: Record<string, unknown> = {},
): KubeObject {
  return {
    apiVersion: kind === 'PodDisruptionBudget' ? 'policy/v1' : 'v1',
    kind,
    metadata: {
      namespace: owner.namespace,
      name,
      uid: `uid-of-${kind}-${name}`,
      resourceVersion: nextVersion(),
      labels: { app: 'etcd', etcd_cluster: owner.name, etcd_node: name },
      ownerReferences: [
        { apiVersion: API_VERSION, kind: owner.kind, name: owner.name, uid: owner.uid, controller: true },
      ],
    },
    ...more,
  };
}

export function secret(name: string, more: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name, uid: `uid-of-${name}`, resourceVersion: nextVersion() },
    ...more,
  };
}

/** What somebody does to an object. */
export type Change = (object: KubeObject) => void;

/** Sets the field at this path, and makes what leads to it. */
export function edit(path: readonly string[], value: unknown): Change {
  return object => {
    const last = path.at(-1) ?? '';
    const parent = path.slice(0, -1).reduce<Record<string, unknown>>((inner, field) => {
      inner[field] ??= {};
      return inner[field] as Record<string, unknown>;
    }, object);
    parent[last] = value;
  };
}
