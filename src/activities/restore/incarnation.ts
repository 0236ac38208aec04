/** The steps that fence a cluster, make it another one, and end or take back a restore. */
import {
  ANNOTATION_KEPT_BY_RESTORE,
  FINALIZER,
  LABEL_CLUSTER,
  clientServiceName,
  serialOf,
} from '../../api/names.ts';
import { timestamp } from '../../api/time.ts';
import type { EtcdCluster } from '../../api/types.ts';
import type { Step } from '../../planner/decision.ts';
import { lastSerialOf } from '../../planner/identity.ts';
import type { Dependencies } from '../dependencies.ts';
import { preconditionChanged } from '../failures.ts';
import { CLAIM, clusterFacts, POD, SERVICE } from '../observe.ts';
import { isControlledBy } from '../pod-facts.ts';
import { type WaitOutcome, waitUntil } from '../poll.ts';
import { type ClusterRef, recordStatus, writeMetadata } from '../resource.ts';
import { stillPlanned } from '../steps/still-planned.ts';
import { recordFailure } from './resource.ts';

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Keeps clients out, deletes these very pods (by uid), and waits until their nodes say that they are gone. */
export async function fenceMembers(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<'fenceMembers'>,
): Promise<WaitOutcome> {
  await stillPlanned(deps, ref, step);
  const { kube } = deps;
  const { namespace } = ref;
  const service = { ...SERVICE, namespace, name: clientServiceName(ref.name) };
  const open = await kube.get(service);
  if (open?.metadata.uid !== undefined && isControlledBy(open, ref.uid)) {
    await kube.delete(service, { uid: open.metadata.uid });
  }
  await Promise.all(step.pods.map(({ name, uid }) => kube.delete({ ...POD, namespace, name }, { uid })));
  return waitUntil(async () => {
    const { items } = await kube.list(POD, { namespace, labelSelector: `${LABEL_CLUSTER}=${ref.name}` });
    const left = items.filter(item => step.pods.some(({ uid }) => uid === item.metadata.uid));
    return left.length === 0 ? 'done' : 'notYet';
  });
}

/**
 * Records the new incarnation in the place of the old one, which is kept beside it, in one write. Claims are marked first: whoever
 * looks at one sees that it is no leftover.
 */
export async function switchIncarnation(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<'switchIncarnation'>,
): Promise<void> {
  const seen = await stillPlanned(deps, ref, step);
  await Promise.all(step.keep.map(name => mark(deps, ref, { name, restore: step.restore.name })));
  let { cluster } = seen;
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) {
    cluster = await writeMetadata(deps.kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  }
  const { incarnation, clusterID } = cluster.status ?? {};
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
            claims: step.keep,
          },
    ...FORGOTTEN,
  });
  const message = `${step.restore.name} restores ${step.incarnation.restore?.location ?? 'a backup'} as ${step.incarnation.token}`;
  deps.recordEvent({ kind: 'EtcdCluster', ...ref }, { type: 'Normal', reason: 'RestoreBegun', message });
}

/** What was observed of the members before, and would be taken for the new ones'. */
const FORGOTTEN = {
  clusterID: null,
  members: null,
  leader: null,
  targetVersion: null,
  upgradeFailure: null,
} as const;

async function mark(
  { kube }: Dependencies,
  { namespace }: ClusterRef,
  { name, restore }: { readonly name: string; readonly restore: string },
): Promise<void> {
  const annotations = { [ANNOTATION_KEPT_BY_RESTORE]: restore };
  await kube.patch({ ...CLAIM, namespace, name }, { metadata: { annotations } }, { type: 'merge' });
}

/** From now on the cluster is one like any other. */
export async function concludeRestore(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<'concludeRestore'>,
): Promise<void> {
  const { cluster } = await stillPlanned(deps, ref, step);
  const { incarnation } = cluster.status ?? {};
  if (incarnation?.restore?.uid !== step.restore.uid)
    throw preconditionChanged('another restore is recorded');
  const restore = { ...incarnation.restore, completedAt: timestamp(deps.now()) };
  await recordStatus(deps.kube, cluster, { incarnation: { ...incarnation, restore } });
  const message = `${restore.name} restored ${restore.location ?? 'a backup'}`;
  deps.recordEvent({ kind: 'EtcdCluster', ...ref }, { type: 'Normal', reason: 'RestoreSucceeded', message });
}

/** Ends a restore that was aborted or deleted: first it is not to begin again, then what was before is recorded again. */
export async function abandonRestore(
  deps: Dependencies,
  ref: ClusterRef,
  step: StepOf<'abandonRestore'>,
): Promise<void> {
  const { cluster } = await stillPlanned(deps, ref, step);
  if (step.revert) await revert(deps, cluster);
  const target = { ...step.restore, namespace: ref.namespace };
  const what = step.revert ? 'what was before is brought back' : 'nothing was changed';
  await recordFailure(deps, target, `aborted by a person; ${what}`);
  const message = `${step.restore.name} was given up; ${what}`;
  deps.recordEvent({ kind: 'EtcdCluster', ...ref }, { type: 'Warning', reason: 'RestoreAbandoned', message });
}

async function revert({ kube }: Dependencies, cluster: EtcdCluster): Promise<void> {
  const { incarnation, clusterID, members = [] } = cluster.status?.previousIncarnation ?? {};
  await recordStatus(kube, cluster, {
    incarnation: incarnation ?? null,
    clusterID: clusterID ?? null,
    members: { details: members.map(name => ({ name, health: 'Unknown' })) },
    previousIncarnation: null,
  });
}
