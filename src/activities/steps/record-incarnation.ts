import { FINALIZER, serialOf } from '../../api/names.ts';
import type { Incarnation } from '../../api/schemas/types.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { lastSerialOf, stampsOf } from '../../planner/model/identity.ts';
import { clusterFacts } from '../observe/observe.ts';
import { readLivingCluster, recordStatus, stampIdentity, writeMetadata } from '../resource/etcd-cluster.ts';
import { timestamp } from '../../api/values/time.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Puts the finalizer on the resource, then records which members bootstrap together. Nothing may be created before
 * both are there: the finalizer, so that a deletion can be followed up; the incarnation, so that an attempt that continues
 * after a crash creates the same members and no others.
 *
 * A cluster id that comes along was read back from stamps or from a quorum. It is stamped on the resource before it is
 * recorded: a quorum may be gone when the status is lost once more. Of what is recorded already finalizer and stamps are put back,
 * which a client may have dropped that replaced the resource.
 */
export const recordIncarnation: Perform<'recordIncarnation'> = async (deps, ref, step) => {
  let cluster = await readLivingCluster(deps.kube, ref);
  const recorded = cluster.status?.incarnation;
  const { clusterId } = step;
  const { clusterId: stampedId } = stampsOf(clusterFacts(cluster));
  assertMayBeRecorded(step, { recorded, stampedId });
  const finalizers = cluster.metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) {
    cluster = await writeMetadata(deps.kube, cluster, { finalizers: [...finalizers, FINALIZER] });
  }
  const serials = step.incarnation.members.map(member => serialOf(member.name) ?? 0);
  const lastSerial = Math.max(lastSerialOf(clusterFacts(cluster)), ...serials);
  const isNews = recorded === undefined || isMore(step.incarnation, recorded);
  const isStamped = stampedId === clusterId;
  if (clusterId !== undefined && (isNews || !isStamped)) {
    const { token } = step.incarnation;
    cluster = await stampIdentity(deps.kube, cluster, { token, clusterId, lastSerial });
  }
  if (!isNews) return;
  await recordStatus(deps.kube, cluster, {
    incarnation: {
      ...step.incarnation,
      createdAt: recorded?.createdAt ?? timestamp(deps.now()),
    },
    storage: step.storage,
    lastSerial,
    ...(clusterId === undefined ? {} : { clusterID: clusterId }),
  });
};

/** What a step was planned upon may be long ago, as in a workflow that was reset. */
export function assertMayBeRecorded(
  { incarnation, clusterId }: StepOf<'recordIncarnation'>,
  now: { readonly recorded: Incarnation | undefined; readonly stampedId: string | undefined },
): void {
  const { recorded, stampedId } = now;
  if (recorded !== undefined && recorded.token !== incarnation.token)
    throw preconditionChanged(`incarnation ${recorded.token} is already recorded`);
  // When status and members are lost nothing else remembers them.
  if (recorded === undefined && clusterId === undefined && stampedId !== undefined)
    throw preconditionChanged(
      `cluster ${stampedId} has lived under this name: no empty one is recorded in its place`,
    );
}

/** Members that turned up after a lost status was recorded again; a bootstrap's members never change. */
function isMore(planned: Incarnation, recorded: Incarnation): boolean {
  const known = recorded.members.map(({ name }) => name);
  const isWhole = known.every(name => planned.members.some(member => member.name === name));
  return recorded.rebuilt === true && isWhole && planned.members.length > known.length;
}
