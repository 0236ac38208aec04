/** Claims of members that no cluster uses: left by a deletion, set aside by a restore, or kept after the removal of a member. Pure. */
import {
  ANNOTATION_BEGIN_ANEW,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_INCARNATION,
  ANNOTATION_KEPT_BY_RESTORE,
  ANNOTATION_KEPT_UNTIL,
  ANNOTATION_LEFT_BY,
  ANNOTATION_MEMBER_ID,
  ANNOTATION_TAKE_UP,
  isNameOfMember,
  LABEL_CLUSTER,
} from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { isTokenOfName } from '../../planner/model/identity.ts';
import { kubectlLine, pluginLine, type Where } from './command-lines.ts';
import type { Command } from './explain.ts';

/** Why nobody uses a claim. */
type LeftBy = 'Deletion' | 'Restore' | 'Removal';

/** One claim that nobody uses. */
export interface Leftover {
  readonly namespace: string;
  readonly claim: string;
  readonly cluster: string;
  readonly incarnation: string;
  /** etcd's ids, in hexadecimal, where they are noted. */
  readonly clusterID?: string;
  readonly memberID?: string;
  readonly size: string;
  /** When it was left (RFC 3339), as the API server remembers it. */
  readonly since?: string;
  readonly leftBy: LeftBy;
  /** The EtcdRestore that set it aside. */
  readonly restore?: string;
  /** When the operator deletes it (RFC 3339); absent: never. */
  readonly keptUntil?: string;
  /** The pod that runs on it without the operator. */
  readonly pod?: string;
}

/** The claims that one cause has left of one incarnation, and what can be done with them. */
export interface LeftGroup {
  readonly namespace: string;
  readonly cluster: string;
  readonly incarnation: string;
  readonly leftBy: LeftBy;
  readonly claims: readonly Leftover[];
  /** What is to be known first. */
  readonly notes: readonly string[];
  readonly commands: readonly Command[];
}

/** What is in the namespaces that are looked at. */
export interface Seen {
  readonly clusters: readonly EtcdCluster[];
  readonly claims: readonly KubeObject[];
  readonly pods: readonly KubeObject[];
}

/** In the order of namespaces, clusters and incarnations. */
export function leftovers(seen: Seen, where: Where): LeftGroup[] {
  const found = seen.claims.flatMap(claim => leftover(claim, seen) ?? []);
  const keyOf = ({ namespace, cluster, incarnation, leftBy, restore = '' }: Leftover) =>
    [namespace, cluster, incarnation, leftBy, restore].join('/');
  const groups = Map.groupBy(found, keyOf);
  return [...groups.entries()]
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([, claims]) => groupOf(claims, seen, where));
}

function leftover(claim: KubeObject, { clusters, pods }: Seen): Leftover | undefined {
  const { name, namespace = '', labels = {}, annotations = {}, deletionTimestamp } = claim.metadata;
  const cluster = labels[LABEL_CLUSTER] ?? '';
  const incarnation = annotations[ANNOTATION_INCARNATION];
  // Others, such as a copy that somebody made under a name of their own, are nothing of the operator's.
  if (!isNameOfMember(cluster, name) || !isTokenOfName(cluster, incarnation)) return undefined;
  if (deletionTimestamp !== undefined) return undefined;
  const living = clusterOf(clusters, namespace, cluster);
  const leftBy = causeOf(claim, incarnation, living);
  if (leftBy === undefined) return undefined;
  const pod = pods.find(each => each.metadata.namespace === namespace && mounts(each, name));
  return {
    namespace,
    claim: name,
    cluster,
    incarnation,
    size: sizeOf(claim),
    leftBy,
    ...historyOf(claim, leftBy),
    ...(pod && { pod: pod.metadata.name }),
  };
}

/** What its annotations say of the member that had it, and of since when and for how long it is left. */
function historyOf(claim: KubeObject, leftBy: LeftBy): Partial<Leftover> {
  const { annotations = {}, creationTimestamp } = claim.metadata;
  const restore = annotations[ANNOTATION_KEPT_BY_RESTORE];
  const keptUntil = annotations[ANNOTATION_KEPT_UNTIL];
  const since = writtenAt(claim, ANNOTATIONS[leftBy]) ?? creationTimestamp;
  const [clusterID, memberID] = [annotations[ANNOTATION_CLUSTER_ID], annotations[ANNOTATION_MEMBER_ID]];
  return {
    ...(clusterID !== undefined && { clusterID }),
    ...(memberID !== undefined && { memberID }),
    ...(since !== undefined && { since }),
    ...(leftBy === 'Restore' && restore !== undefined && { restore }),
    ...(leftBy === 'Removal' && keptUntil !== undefined && !isForEver(keptUntil) && { keptUntil }),
  };
}

/** The annotation that says so. */
const ANNOTATIONS: Readonly<Record<LeftBy, string>> = {
  Deletion: ANNOTATION_LEFT_BY,
  Restore: ANNOTATION_KEPT_BY_RESTORE,
  Removal: ANNOTATION_KEPT_UNTIL,
};

/** Undefined of a claim that its cluster uses, or that a cluster which nobody has looked at yet may use. */
function causeOf(
  { metadata: { annotations = {}, creationTimestamp = '' } }: KubeObject,
  incarnation: string,
  living: EtcdCluster | undefined,
): LeftBy | undefined {
  const recorded = living?.status?.incarnation?.token;
  if (annotations[ANNOTATION_KEPT_UNTIL] !== undefined) return 'Removal';
  // One that a restore set aside and that was brought back since says so still.
  if (recorded === incarnation) return undefined;
  if (annotations[ANNOTATION_KEPT_BY_RESTORE] !== undefined) return 'Restore';
  if (living === undefined || recorded !== undefined) return 'Deletion';
  return creationTimestamp < (living.metadata.creationTimestamp ?? '') ? 'Deletion' : undefined;
}

function clusterOf(clusters: readonly EtcdCluster[], namespace: string, name: string) {
  return clusters.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

function mounts(pod: KubeObject, claim: string): boolean {
  const { volumes = [] } = (pod['spec'] ?? {}) as {
    readonly volumes?: readonly { readonly persistentVolumeClaim?: { readonly claimName?: string } }[];
  };
  return volumes.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim);
}

/** What it has, or asks for until it has something. */
function sizeOf(claim: KubeObject): string {
  const { status = {}, spec = {} } = claim as {
    readonly status?: { readonly capacity?: { readonly storage?: string } };
    readonly spec?: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
  };
  return status.capacity?.storage ?? spec.resources?.requests?.storage ?? '-';
}

/** When the annotation was written: managed fields say so (Kubernetes, "Server-Side Apply"). */
function writtenAt({ metadata }: KubeObject, annotation: string): string | undefined {
  const managed = (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
  return managed.find(
    ({ fieldsV1 }) => fieldsV1?.['f:metadata']?.['f:annotations']?.[`f:${annotation}`] !== undefined,
  )?.time;
}

interface ManagedFields {
  readonly time?: string;
  readonly fieldsV1?: {
    readonly 'f:metadata'?: { readonly 'f:annotations'?: Readonly<Record<string, unknown>> };
  };
}

/** As the operator notes it of what it never deletes. */
const isForEver = (time: string): boolean => time.startsWith('9999');

function groupOf(claims: readonly Leftover[], { clusters }: Seen, where: Where): LeftGroup {
  const [{ namespace, cluster, incarnation, leftBy }] = claims as readonly [Leftover];
  const living = clusterOf(clusters, namespace, cluster);
  const there = { ...where, namespace };
  const names = claims.map(({ claim }) => claim);
  const running = claims.flatMap(({ pod }) => pod ?? []);
  const erase = {
    purpose: 'delete them, with the data',
    line: kubectlLine(there, 'delete', 'pvc', ...names),
  };
  const about = { namespace, cluster, incarnation, leftBy, claims };
  switch (leftBy) {
    case 'Deletion':
      return { ...about, ...afterDeletion({ cluster, incarnation, living, running }, there, erase) };
    case 'Restore':
      return { ...about, ...afterRestore(living, { incarnation, erase, where }) };
    case 'Removal':
      return { ...about, notes: [], commands: [erase] };
  }
}

interface Deleted {
  readonly cluster: string;
  readonly incarnation: string;
  readonly living: EtcdCluster | undefined;
  readonly running: readonly string[];
}

function afterDeletion(
  { cluster, incarnation, living, running }: Deleted,
  where: Where,
  erase: Command,
): Pick<LeftGroup, 'notes' | 'commands'> {
  const runs =
    running.length === 0 ? [] : [`these pods run on them without the operator: ${running.join(', ')}`];
  const takeUp = `${ANNOTATION_TAKE_UP}=${incarnation}`;
  const commands = running.length === 0 ? [erase] : [];
  if (living === undefined) {
    const annotated = ['annotate', '--local', '-f', `${cluster}.yaml`, takeUp, '-o', 'yaml'];
    const line = `${kubectlLine(where, ...annotated)} | ${kubectlLine(where, 'apply', '-f', '-')}`;
    const purpose = `take them up, with ${cluster}.yaml as the manifest of the EtcdCluster`;
    return { notes: runs, commands: [{ purpose, line }, ...commands] };
  }
  if (living.status?.incarnation !== undefined) {
    const used = `EtcdCluster ${cluster} exists with other members, so they cannot be taken up`;
    return { notes: [...runs, used], commands };
  }
  const annotate = (annotation: string) =>
    kubectlLine(where, 'annotate', '--overwrite', 'etcd', cluster, annotation);
  return {
    notes: [...runs, `EtcdCluster ${cluster} exists and waits until somebody decides`],
    commands: [
      { purpose: 'take them up', line: annotate(takeUp) },
      {
        purpose: 'begin with an empty cluster, and leave them as they are',
        line: annotate(`${ANNOTATION_BEGIN_ANEW}=${incarnation}`),
      },
      ...commands,
    ],
  };
}

function afterRestore(
  living: EtcdCluster | undefined,
  {
    incarnation,
    erase,
    where,
  }: { readonly incarnation: string; readonly erase: Command; readonly where: Where },
): Pick<LeftGroup, 'notes' | 'commands'> {
  const { restore } = living?.status?.incarnation ?? {};
  const isUnderWay = restore !== undefined && restore.completedAt === undefined;
  if (isUnderWay && living?.status?.previousIncarnation?.incarnation?.token === incarnation)
    return {
      notes: ['the restore has not ended: an abort takes them up again, so do not delete them'],
      commands: [],
    };
  if (living === undefined)
    return {
      notes: ['they cannot be taken up; docs/operations/restore.md says how their data is read'],
      commands: [erase],
    };
  const purpose = `see whether EtcdCluster ${living.metadata.name} can go back to them`;
  return {
    notes: ['they are kept until somebody deletes them'],
    commands: [{ purpose, line: pluginLine(where, 'incarnations', living.metadata.name) }, erase],
  };
}
