/** What a cluster is, and what is kept of what it was before: its incarnations. Pure. */
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import {
  ANNOTATION_CLAIM_UID,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DATA_VERSION,
  ANNOTATION_INCARNATION,
  ANNOTATION_KEPT_BY_RESTORE,
} from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { returnTo } from '../../planner/checks/kept-incarnation.ts';
import { type KeptClaim, keptIncarnations, noteOf } from '../../planner/model/kept-incarnations.ts';

/** One incarnation, as it is shown and as --output has it. */
export interface ShownIncarnation {
  readonly token: string;
  readonly runs: boolean;
  readonly clusterID?: string;
  /** The highest revision that was observed of a member, and when (RFC 3339). */
  readonly revision?: number;
  readonly seenAt?: string;
  /** When it was recorded, and when it was left. */
  readonly since?: string;
  readonly leftAt?: string;
  /** Voters, and all members. */
  readonly voters: number;
  readonly members: readonly string[];
  /** Those of members that are there, with their sizes. */
  readonly claims: readonly { readonly name: string; readonly size: string }[];
  /** Releases of etcd that last ran on them. */
  readonly versions: readonly string[];
  /** Why it cannot be gone back to; absent: it can, or it runs. */
  readonly fault?: string;
}

/** The one that runs first, then those that are kept, the one that was begun last first. */
export function incarnationsOf(object: EtcdCluster, objects: readonly KubeObject[]): ShownIncarnation[] {
  const { metadata, spec, status = {} } = object;
  const claims = objects.map(keptClaim);
  const { incarnation } = status;
  const config = withDefaults(spec, { version: status.targetVersion || status.currentVersion });
  const cluster = { name: metadata.name, uid: metadata.uid, object, status, config };
  const names = status.members?.details?.map(({ name }) => name) ?? [];
  const running =
    incarnation &&
    noteOf({ status, members: names.length > 0 ? names : incarnation.members.map(({ name }) => name) });
  const kept = keptIncarnations(cluster, claims).map(({ token, note, claims: all }): ShownIncarnation => {
    const judged = returnTo({ cluster, claims }, token);
    const shown = shownOf(note ?? { token, members: [] }, all);
    return 'fault' in judged ? { ...shown, fault: judged.fault.message } : shown;
  });
  const own = claims.filter(({ token, keptByRestore }) => token === incarnation?.token && !keptByRestore);
  return [...(running ? [{ ...shownOf(running, own), runs: true }] : []), ...kept.toReversed()];
}

function shownOf(note: ReturnType<typeof noteOf>, claims: readonly KeptClaim[]): ShownIncarnation {
  const { members, ...known } = note;
  const there = claims.filter(
    ({ name, deleting }) =>
      !deleting && (members.length === 0 || members.some(member => member.name === name)),
  );
  const versions = there.flatMap(({ version }) => version ?? []);
  return {
    ...known,
    runs: false,
    voters: members.filter(({ learner }) => learner !== true).length,
    members: members.map(({ name }) => name),
    claims: there.map(({ name, capacity, requested }) => ({ name, size: capacity ?? requested ?? '-' })),
    versions: [...new Set(versions)].sort(),
  };
}

interface ClaimObject {
  readonly spec?: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
  readonly status?: { readonly phase?: string; readonly capacity?: { readonly storage?: string } };
}

/** What the planner must know of a claim, but for the node of its volume. */
function keptClaim(object: KubeObject): KeptClaim {
  const { metadata, spec, status } = object as KubeObject & ClaimObject;
  const { annotations = {} } = metadata;
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    token: annotations[ANNOTATION_INCARNATION],
    clusterId: annotations[ANNOTATION_CLUSTER_ID],
    stampedUid: annotations[ANNOTATION_CLAIM_UID],
    version: annotations[ANNOTATION_DATA_VERSION],
    phase: status?.phase ?? 'Pending',
    deleting: metadata.deletionTimestamp !== undefined,
    keptByRestore: annotations[ANNOTATION_KEPT_BY_RESTORE] !== undefined,
    requested: spec?.resources?.requests?.storage,
    capacity: status?.capacity?.storage,
    annotations,
  };
}
