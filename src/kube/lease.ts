import type { KubeObject, ObjectRef } from './port.ts';

/** The part of a coordination.k8s.io/v1 Lease that elections use. */
export interface LeaseRecord {
  /** Empty when nobody holds it. */
  readonly holder: string;
  readonly durationSeconds: number;
  /** RFC 3339 with six decimals, as it is stored. For people: clocks differ, so nothing is computed from it. */
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  /** How often it has changed hands. */
  readonly transitions: number;
}

export interface StoredLease {
  readonly record: LeaseRecord;
  /** The Lease as it was read, so that a write keeps the labels and fields that are not ours. */
  readonly object: KubeObject;
}

/** metav1.MicroTime: the apiserver refuses a Lease whose times have fewer than six decimals. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}

/** Reads a Lease. Absent fields read as nobody, zero seconds, no time. */
export function readLease(object: KubeObject): StoredLease {
  const spec =
    typeof object['spec'] === 'object' && object['spec'] !== null
      ? (object['spec'] as Record<string, unknown>)
      : {};
  const text = (field: string): string | undefined =>
    typeof spec[field] === 'string' ? spec[field] : undefined;
  const number = (field: string): number => (typeof spec[field] === 'number' ? spec[field] : 0);
  return {
    object,
    record: {
      holder: text('holderIdentity') ?? '',
      durationSeconds: number('leaseDurationSeconds'),
      acquireTime: text('acquireTime'),
      renewTime: text('renewTime'),
      transitions: number('leaseTransitions'),
    },
  };
}

/** The Lease to write for a record: over what was read, guarded by its resourceVersion, or a new one. */
export function leaseObject(ref: ObjectRef, record: LeaseRecord, former?: StoredLease): KubeObject {
  const spec = {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
    leaseTransitions: record.transitions,
  };
  const { apiVersion, kind, name, namespace } = ref;
  if (former === undefined) {
    return { apiVersion, kind, metadata: namespace === undefined ? { name } : { name, namespace }, spec };
  }
  return { ...former.object, spec: { ...(former.object['spec'] as object | undefined), ...spec } };
}
