/** The steps that fence a cluster, make it another one, and end or take back a restore. */
import {
  ANNOTATION_KEPT_BY_RESTORE,
  ANNOTATION_KEPT_INCARNATION,
  FINALIZER,
  clientServiceName,
  serialOf,
} from '../../api/names.ts';
import { closedClientService, keepsClientsOut } from '../../objects/services.ts';
import { timestamp } from '../../api/values/time.ts';
import type { EtcdCluster, EtcdClusterStatus } from '../../api/schemas/types.ts';
import { keptNote, keptNoteText } from '../../planner/model/kept-incarnations.ts';
import type { Situation } from '../../planner/model/situation.ts';
import type { Recorded } from '../../planner/model/steps/restore.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { NamedObject } from '../../planner/model/steps/row.ts';
import { lastSerialOf } from '../../planner/model/identity.ts';
import { podsLeft } from '../observe/cluster-objects.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { clusterFacts } from '../observe/observe.ts';
import { CLAIM, POD, SERVICE } from '../runtime/kinds.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';
import { recordStatus, stampIdentity, writeMetadata } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { tryRestore } from './shared/restore-trial.ts';
import { stillPlanned } from './shared/still-planned.ts';
import { endRestorePods } from './shared/restore-pods.ts';
import { recordFailure } from '../resource/etcd-restore.ts';
import type { Perform } from './shared/perform.ts';

/** Tries what is to be made then, keeps clients out, deletes these very pods (by uid), and waits until their nodes say that they are gone. */
export const fenceMembers: Perform<'fenceMembers', WaitOutcome> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const { kube } = deps;
  const { namespace } = ref;
  const service = await kube.get({ ...SERVICE, namespace, name: clientServiceName(ref.name) });
  if ((await tryRestore(deps, ref, { cluster, step, service })) !== 'done') return 'notYet';
  if (service !== undefined && isControlledBy(service, ref.uid) && !keepsClientsOut(service)) {
    const { metadata, ...closed } = closedClientService(cluster);
    // Under its uid: one that was deleted and created again by somebody is not touched.
    await kube.apply({ ...closed, metadata: { ...metadata, uid: service.metadata.uid } });
  }
  await Promise.all(step.pods.map(({ name, uid }) => kube.delete({ ...POD, namespace, name }, { uid })));
  return waitUntil(deps, async () => {
    const left = await podsLeft(kube, ref, step.pods);
    return left.length === 0 ? 'done' : 'notYet';
  });
};

/**
 * Records the new incarnation in the place of the old one, which is kept beside it, in one write. Claims are marked first: an attempt that
 * looks at one sees that it is no leftover.
 */
export const switchIncarnation: Perform<'switchIncarnation'> = async (deps, ref, step) => {
  const seen = await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  const { back, keep } = step;
  await keepClaims(deps, { namespace, claims: keep, restore: step.restore.name, situation: seen.situation });
  // What they are is still to be known when this is cut short.
  await annotateClaims(
    deps,
    { namespace, claims: back?.claims ?? [] },
    { [ANNOTATION_KEPT_BY_RESTORE]: null },
  );
  let { cluster } = seen;
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) {
    cluster = await writeMetadata(deps.kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  }
  const serials = step.incarnation.members.map(({ name }) => serialOf(name) ?? 0);
  const lastSerial = Math.max(lastSerialOf(clusterFacts(cluster)), ...serials);
  const { token } = step.incarnation;
  if (back !== undefined)
    cluster = await stampIdentity(deps.kube, cluster, { token, clusterId: back.clusterId, lastSerial });
  const { currentVersion } = cluster.status ?? {};
  await recordStatus(deps.kube, cluster, {
    incarnation: { createdAt: timestamp(deps.now()), ...step.incarnation },
    storage: step.storage,
    // A first cluster takes the version from the specification until a member has formed it: the version may still be corrected.
    ...((currentVersion !== undefined || back !== undefined) && { currentVersion: step.version }),
    lastSerial,
    previousIncarnation: putAside(cluster, step),
    ...FORGOTTEN,
    ...(back !== undefined && recordedAgain(back)),
  });
  const message =
    back === undefined
      ? `${step.restore.name} restores ${step.incarnation.restore?.location ?? 'a backup'} as ${token}`
      : `${step.restore.name} goes back to incarnation ${token}; incarnation ${step.from} is kept`;
  recordClusterEvent(deps, ref, { reason: 'RestoreBegun', message });
};

/** What the status keeps of the incarnation that another takes the place of; null: there was none. */
function putAside(
  { status = {} }: EtcdCluster,
  { members, keep }: StepOf<'switchIncarnation'>,
): NonNullable<EtcdClusterStatus['previousIncarnation']> | null {
  const { incarnation, clusterID, currentVersion, lastSeen } = status;
  if (incarnation === undefined) return null;
  return {
    incarnation,
    ...(clusterID !== undefined && { clusterID }),
    ...(currentVersion !== undefined && { version: currentVersion }),
    members,
    claims: keep.map(({ name }) => name).slice(-MOST_CLAIMS),
    ...(lastSeen !== undefined && { lastSeen }),
  };
}

/** As many names as the status takes, the newest: all are marked. */
const MOST_CLAIMS = 64;

/** What was observed of the members before, and would be taken for the new ones'. */
const FORGOTTEN = {
  lastSeen: null,
  recovery: null,
  survivors: null,
  clusterID: null,
  members: null,
  leader: null,
  targetVersion: null,
  upgradeFailure: null,
} as const;

/** What the status says of an incarnation that runs again. */
function recordedAgain({ clusterId, members }: Recorded): Partial<EtcdClusterStatus> {
  return {
    clusterID: clusterId,
    members: {
      details: members.map(({ name, id, learner, node }) => ({
        name,
        health: 'Unknown',
        ...(id !== undefined && { id }),
        ...(learner === true && { role: 'Learner' as const }),
        ...(node !== undefined && { node }),
      })),
    },
  };
}

interface OfClaims {
  readonly namespace: string;
  readonly claims: readonly NamedObject[];
}

/** Notes on claims that they are kept, for which EtcdRestore, and what their cluster was. */
async function keepClaims(
  deps: Dependencies,
  {
    namespace,
    claims,
    restore,
    situation,
  }: OfClaims & { readonly restore: string; readonly situation: Situation },
): Promise<void> {
  const note = keptNote(situation, timestamp(deps.now()));
  await annotateClaims(
    deps,
    { namespace, claims },
    {
      [ANNOTATION_KEPT_BY_RESTORE]: restore,
      [ANNOTATION_KEPT_INCARNATION]: note === undefined ? null : keptNoteText(note),
    },
  );
}

/** Claims that are of members again. */
async function releaseClaims(deps: Dependencies, of: OfClaims): Promise<void> {
  await annotateClaims(deps, of, {
    [ANNOTATION_KEPT_BY_RESTORE]: null,
    [ANNOTATION_KEPT_INCARNATION]: null,
  });
}

async function annotateClaims(
  { kube }: Dependencies,
  { namespace, claims }: OfClaims,
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  await Promise.all(
    claims.map(({ name, uid }) =>
      kube.patch({ ...CLAIM, namespace, name }, { metadata: { uid, annotations } }, { type: 'merge' }),
    ),
  );
}

/** From now on the cluster is one like any other. */
export const concludeRestore: Perform<'concludeRestore'> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const { incarnation } = cluster.status ?? {};
  if (incarnation?.restore?.uid !== step.restore.uid)
    throw preconditionChanged('another restore is recorded');
  const restore = { ...incarnation.restore, completedAt: timestamp(deps.now()) };
  await releaseClaims(deps, { namespace: ref.namespace, claims: step.release ?? [] });
  await recordStatus(deps.kube, cluster, { incarnation: { ...incarnation, restore } });
  const message =
    restore.returned === true
      ? `${restore.name} went back to incarnation ${incarnation.token}`
      : `${restore.name} restored ${restore.location ?? 'a backup'}`;
  recordClusterEvent(deps, ref, { reason: 'RestoreSucceeded', message });
};

/** Ends a restore that was aborted: it is not to begin again. What it has begun is undone by the steps that follow. */
export const abandonRestore: Perform<'abandonRestore'> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const isUnder = cluster.status?.incarnation?.restore?.uid === step.restore.uid;
  const what = isUnder ? 'the previous state is restored' : 'nothing was changed';
  const message = `${step.because}; ${what}`;
  await recordFailure(deps, { ...step.restore, namespace: ref.namespace }, { message });
  if (!isUnder) recordAbandoned(deps, ref, step);
};

/** Records again what was before a restore that was aborted or deleted, and clears away what it has made. */
export const revertRestore: Perform<'revertRestore'> = async (deps, ref, step) => {
  const { cluster, situation } = await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  const { again } = step;
  await endRestorePods(deps, { ...step.restore, namespace });
  if (again !== undefined)
    await keepClaims(deps, { namespace, claims: again.keep, restore: step.restore.name, situation });
  // The claims first: without the pods nothing else would prove that they are empty, should this be cut short.
  for (const { name, uid } of step.claims) await deps.kube.delete({ ...CLAIM, namespace, name }, { uid });
  for (const { name, uid } of step.pods) await deps.kube.delete({ ...POD, namespace, name }, { uid });
  // Marked as kept, they would be no part of the cluster when that is deleted and applied again.
  await releaseClaims(deps, { namespace, claims: step.kept ?? [] });
  await revert(deps, again === undefined ? cluster : await stampedAsBefore(deps, cluster));
  recordAbandoned(deps, ref, step);
};

function recordAbandoned(
  deps: Dependencies,
  ref: ClusterRef,
  { kind, restore, because }: StepOf<'abandonRestore' | 'revertRestore'>,
): void {
  const what = kind === 'revertRestore' ? 'the previous state is restored' : 'nothing was changed';
  const message = `${restore.name} was abandoned, ${because}; ${what}`;
  recordClusterEvent(deps, ref, { reason: 'RestoreAbandoned', message });
}

/** The resource says again which cluster it was before one that was kept was gone back to. */
async function stampedAsBefore({ kube }: Dependencies, cluster: EtcdCluster): Promise<EtcdCluster> {
  const { incarnation, clusterID: clusterId } = cluster.status?.previousIncarnation ?? {};
  // v8 ignore next -- nobody goes back from a cluster that has no id
  if (incarnation === undefined || clusterId === undefined) return cluster;
  const lastSerial = lastSerialOf(clusterFacts(cluster));
  return stampIdentity(kube, cluster, { token: incarnation.token, clusterId, lastSerial });
}

async function revert({ kube }: Dependencies, cluster: EtcdCluster): Promise<void> {
  const { previousIncarnation = {} } = cluster.status ?? {};
  const { incarnation, clusterID, version, members = [], lastSeen } = previousIncarnation;
  await recordStatus(kube, cluster, {
    incarnation: incarnation ?? null,
    clusterID: clusterID ?? null,
    members: { details: members.map(name => ({ name, health: 'Unknown' })) },
    lastSeen: lastSeen ?? null,
    previousIncarnation: null,
    ...(version !== undefined && { currentVersion: version }),
  });
}
