/**
 * The stamps that the operator puts on a pod, a claim and the EtcdCluster when a cluster forms or a member joins: distinguished from what
 * users and controllers mark an object with. Pure.
 */
import {
  ANNOTATION_CLAIM_UID,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DATA_VERSION,
  ANNOTATION_DOMAIN,
  ANNOTATION_INCARNATION,
  ANNOTATION_INITIAL_CLUSTER,
  ANNOTATION_INITIAL_CLUSTER_STATE,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_MEMBER_ID,
  ANNOTATION_SECURITY,
} from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import { fingerprint } from '../model/fingerprint.ts';

/** By kind: what is stamped once, on an object that has no such stamp. */
const STAMPS: Readonly<Record<string, readonly string[]>> = {
  EtcdCluster: [
    ANNOTATION_INCARNATION,
    ANNOTATION_CLUSTER_ID,
    ANNOTATION_LAST_SERIAL,
    ANNOTATION_SECURITY,
    ANNOTATION_DOMAIN,
  ],
  PersistentVolumeClaim: [
    ANNOTATION_CLAIM_UID,
    ANNOTATION_CLUSTER_ID,
    ANNOTATION_MEMBER_ID,
    ANNOTATION_DATA_VERSION,
  ],
  Pod: [ANNOTATION_CLUSTER_ID, ANNOTATION_MEMBER_ID],
};
/** What a pod does on an empty volume: replaced when the pod is sealed. */
const FIRST_START: readonly string[] = [ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE];

interface Stamps {
  /** Fingerprints, by key. */
  readonly stamps: Readonly<Record<string, string>>;
  /** Of a pod: a fingerprint of what it does on an empty volume, and whether that is to refuse. */
  readonly firstStart?: string | undefined;
  readonly isSealed?: boolean;
}

/** What is kept of the stamps of an object: nothing of their length, since anybody may write them. */
export function stampsOf({ kind, metadata }: KubeObject): Stamps {
  const { annotations = {}, name } = metadata;
  const own = STAMPS[kind] ?? [];
  const stamps = Object.fromEntries(
    own.flatMap(key => (annotations[key] === undefined ? [] : [[key, fingerprint(annotations[key])]])),
  );
  if (kind !== 'Pod') return { stamps };
  const [members, state] = FIRST_START.map(key => annotations[key]);
  const isAlone = members?.startsWith(`${name}=`) === true && !members.includes(',');
  return {
    stamps,
    firstStart: fingerprint([members ?? null, state ?? null]),
    isSealed: isAlone && state === 'existing',
  };
}

/** Whether an annotation is one of the stamps of objects of this kind. */
export function isStamp(kind: string, key: string): boolean {
  return STAMPS[kind]?.includes(key) === true || (kind === 'Pod' && FIRST_START.includes(key));
}

/** Whether two objects, as they are kept, have the same stamps. */
export function sameStamps(object: KubeObject, previous: KubeObject): boolean {
  const [after, before] = [keptOf(object), keptOf(previous)];
  const keys = new Set([...Object.keys(after.stamps), ...Object.keys(before.stamps)]);
  return (
    after.firstStart === before.firstStart && [...keys].every(key => after.stamps[key] === before.stamps[key])
  );
}

/**
 * Whether stamps were at most added, and a pod sealed: what operations do. None that was there is gone or says something else, and nothing
 * was configured to start a member on an empty volume.
 */
export function onlyStamped(object: KubeObject, previous: KubeObject): boolean {
  const [after, before] = [keptOf(object), keptOf(previous)];
  const isSealing = after.isSealed === true && before.isSealed === false;
  if (after.firstStart !== before.firstStart && !isSealing) return false;
  return Object.entries(before.stamps).every(([key, value]) => after.stamps[key] === value);
}

/** The same object with the stamps of another. */
export function withStampsOf(object: KubeObject, { stamps, firstStart, isSealed }: KubeObject): KubeObject {
  return { ...object, stamps, firstStart, isSealed };
}

function keptOf(object: KubeObject): Stamps {
  const { stamps = {}, firstStart, isSealed } = object as Partial<Stamps>;
  return { stamps, firstStart, ...(isSealed !== undefined && { isSealed }) };
}
