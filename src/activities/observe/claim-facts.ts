/** Raw claims → the facts that the planner knows. Pure translation. */
import {
  ANNOTATION_CLAIM_UID,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DATA_VERSION,
  ANNOTATION_FORMER_IMAGE,
  ANNOTATION_INCARNATION,
  ANNOTATION_KEPT_BY_RESTORE,
  ANNOTATION_KEPT_UNTIL,
  ANNOTATION_LEFT_BY,
  ANNOTATION_REMOVAL,
  ANNOTATION_STOPPED,
  ANNOTATION_STORAGE_CLASS,
  ANNOTATION_STORAGE_SIZE,
  isNameOfMember,
} from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { KubeObject, ObjectMeta } from '../../kube/port.ts';
import { ownsToken } from '../../planner/model/identity.ts';
import type { ClaimFacts } from '../../planner/model/observation.ts';

/** The cluster that asks; `object` and `status` describe one that took up another. */
type Cluster = Parameters<typeof ownsToken>[0];

/** What the planner knows of a claim. Claims have no owner reference: the token that is stamped on them says. */
export function claimFacts(claim: KubeObject, cluster: Cluster): ClaimFacts {
  const { metadata } = claim;
  const spec = (claim['spec'] ?? {}) as ClaimSpec;
  const status = (claim['status'] ?? {}) as ClaimStatus;
  const token = metadata.annotations?.[ANNOTATION_INCARNATION];
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    ...ownership(metadata, cluster),
    token,
    clusterId: metadata.annotations?.[ANNOTATION_CLUSTER_ID],
    leftBy: metadata.annotations?.[ANNOTATION_LEFT_BY],
    stampedUid: metadata.annotations?.[ANNOTATION_CLAIM_UID],
    createdAt: parseTimestamp(metadata.creationTimestamp),
    version: metadata.annotations?.[ANNOTATION_DATA_VERSION],
    formerImage: metadata.annotations?.[ANNOTATION_FORMER_IMAGE],
    phase: status.phase ?? 'Pending',
    requested: spec.resources?.requests?.storage,
    capacity: status.capacity?.storage,
    ...classOf(claim),
    resizing: resizingOf(status),
    labels: metadata.labels,
    annotations: metadata.annotations,
    deleting: metadata.deletionTimestamp !== undefined,
    stopped: metadata.annotations?.[ANNOTATION_STOPPED],
    ...removalNotes(metadata.annotations),
  };
}

/** Its classes, and the StorageClass and the size that were asked for. */
function classOf({
  metadata,
  spec,
}: KubeObject): Pick<
  ClaimFacts,
  'storageClassName' | 'requestedClass' | 'requestedSize' | 'attributesClass'
> {
  const { storageClassName, volumeAttributesClassName } = (spec ?? {}) as ClaimSpec;
  return {
    storageClassName,
    ...(volumeAttributesClassName !== undefined && { attributesClass: volumeAttributesClassName }),
    requestedClass: metadata.annotations?.[ANNOTATION_STORAGE_CLASS],
    requestedSize: metadata.annotations?.[ANNOTATION_STORAGE_SIZE],
  };
}

/** What the operator wrote on the claim of a member that goes, or went. */
function removalNotes(
  annotations: Readonly<Record<string, string>> = {},
): Pick<ClaimFacts, 'removal' | 'keptUntil'> {
  return {
    removal: annotations[ANNOTATION_REMOVAL],
    keptUntil: timeKept(annotations[ANNOTATION_KEPT_UNTIL]),
  };
}

/** The last moment that a date can express (ECMAScript, "Time Values"); milliseconds since the epoch. */
const FOR_EVER = 8.64e15;

/** A user who writes something else than a time wants it kept, and did not say for how long. */
function timeKept(note: string | undefined): number | undefined {
  if (note === undefined) return undefined;
  const until = Date.parse(note);
  return Number.isNaN(until) ? FOR_EVER : until;
}

/**
 * Claims of the incarnations before a restore are of the cluster's past: nothing is done with them, also when the status that recorded the restore was lost.
 * Nor with a copy that somebody made of a claim, with all that is noted on it, under a name that no member ever has.
 */
function ownership(
  { name, annotations = {} }: ObjectMeta,
  cluster: Cluster,
): Pick<ClaimFacts, 'owned' | 'keptByRestore'> {
  const token = annotations[ANNOTATION_INCARNATION];
  const recorded = cluster.status?.incarnation;
  const isKept = annotations[ANNOTATION_KEPT_BY_RESTORE] !== undefined;
  const isPast =
    recorded !== undefined && token !== recorded.token && (recorded.restore !== undefined || isKept);
  return {
    owned: !isPast && isNameOfMember(cluster.name, name) && ownsToken(cluster, token),
    ...(isKept && { keptByRestore: true }),
  };
}

interface ClaimSpec {
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly resources?: { readonly requests?: { readonly storage?: string } };
}
interface ClaimStatus {
  readonly phase?: string;
  readonly capacity?: { readonly storage?: string };
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
  readonly allocatedResourceStatuses?: { readonly storage?: string };
}

/** What storage driver and kubelet say of a volume that is being enlarged. */
function resizingOf({ conditions = [], allocatedResourceStatuses }: ClaimStatus): string | undefined {
  const said = conditions
    .filter(({ status }) => status === 'True')
    .map(({ type, message }) => [type, message].filter(Boolean).join(': '));
  return [allocatedResourceStatuses?.storage, ...said].filter(Boolean).join('; ') || undefined;
}
