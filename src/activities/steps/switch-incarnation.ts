/** The steps that fence a cluster, make it another one, and end or take back a restore. */
import { ANNOTATION_KEPT_BY_RESTORE, FINALIZER, clientServiceName, serialOf } from '../../api/names.ts';
import { closedClientService, keepsClientsOut } from '../../objects/services.ts';
import { timestamp } from '../../api/values/time.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
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
import { recordStatus, writeMetadata } from '../resource/etcd-cluster.ts';
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
  await tryRestore(deps, ref, { cluster, step, service });
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
  await Promise.all(
    step.keep.map(claim => mark(deps, { ...claim, namespace: ref.namespace }, step.restore.name)),
  );
  let { cluster } = seen;
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) {
    cluster = await writeMetadata(deps.kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  }
  const { incarnation, clusterID, lastSeen } = cluster.status ?? {};
  const serials = step.incarnation.members.map(({ name }) => serialOf(name) ?? 0);
  await recordStatus(deps.kube, cluster, {
    incarnation: { ...step.incarnation, createdAt: timestamp(deps.now()) },
    storage: step.storage,
    lastSerial: Math.max(lastSerialOf(clusterFacts(cluster)), ...serials),
    previousIncarnation:
      incarnation === undefined
        ? null
        : {
            incarnation,
            ...(clusterID !== undefined && { clusterID }),
            members: step.members,
            claims: step.keep.map(({ name }) => name).slice(-MOST_CLAIMS),
            ...(lastSeen !== undefined && { lastSeen }),
          },
    ...FORGOTTEN,
  });
  const message = `${step.restore.name} restores ${step.incarnation.restore?.location ?? 'a backup'} as ${step.incarnation.token}`;
  recordClusterEvent(deps, ref, { reason: 'RestoreBegun', message });
};

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

/** @param restore the name of the EtcdRestore that keeps the claim; null: none does any more */
async function mark(
  { kube }: Dependencies,
  { name, uid, namespace }: NamedObject & { readonly namespace: string },
  restore: string | null,
): Promise<void> {
  const annotations = { [ANNOTATION_KEPT_BY_RESTORE]: restore };
  await kube.patch({ ...CLAIM, namespace, name }, { metadata: { uid, annotations } }, { type: 'merge' });
}

/** From now on the cluster is one like any other. */
export const concludeRestore: Perform<'concludeRestore'> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const { incarnation } = cluster.status ?? {};
  if (incarnation?.restore?.uid !== step.restore.uid)
    throw preconditionChanged('another restore is recorded');
  const restore = { ...incarnation.restore, completedAt: timestamp(deps.now()) };
  await recordStatus(deps.kube, cluster, { incarnation: { ...incarnation, restore } });
  const message = `${restore.name} restored ${restore.location ?? 'a backup'}`;
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
  const { cluster } = await stillPlanned(deps, ref, step);
  const { namespace } = ref;
  await endRestorePods(deps, { ...step.restore, namespace });
  // The claims first: without the pods nothing else would prove that they are empty, should this be cut short.
  for (const { name, uid } of step.claims) await deps.kube.delete({ ...CLAIM, namespace, name }, { uid });
  for (const { name, uid } of step.pods) await deps.kube.delete({ ...POD, namespace, name }, { uid });
  // Marked as kept, they would be no part of the cluster when that is deleted and applied again.
  await Promise.all((step.kept ?? []).map(claim => mark(deps, { ...claim, namespace }, null)));
  await revert(deps, cluster);
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

async function revert({ kube }: Dependencies, cluster: EtcdCluster): Promise<void> {
  const { incarnation, clusterID, members = [], lastSeen } = cluster.status?.previousIncarnation ?? {};
  await recordStatus(kube, cluster, {
    incarnation: incarnation ?? null,
    clusterID: clusterID ?? null,
    members: { details: members.map(name => ({ name, health: 'Unknown' })) },
    lastSeen: lastSeen ?? null,
    previousIncarnation: null,
  });
}
