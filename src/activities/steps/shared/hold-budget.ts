/**
 * Keeps all members from eviction before the operator itself takes one down. The disruption controller hears of a pod that is gone
 * only later, and the Eviction API goes by what it counted last; of a budget whose number was changed since, it lets nobody go before that is
 * counted again (kubernetes, pkg/registry/core/pod/storage/eviction.go, `observedGeneration`). The planner lowers the number when all
 * are ready (planner/operations/repair/budget.ts).
 */
import { clusterSelector, disruptionBudgetName, selectorText } from '../../../api/names.ts';
import type { EtcdCluster } from '../../../api/schemas/types.ts';
import { disruptionBudget } from '../../../objects/budget.ts';
import type { PodFacts } from '../../../planner/model/observation.ts';
import { messageOf } from '../../../api/values/message-of.ts';
import type { KubeObject } from '../../../kube/port.ts';
import { isConflict, isNotFound } from '../../../kube/errors.ts';
import type { ClusterRef } from '../../runtime/cluster-reference.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';
import { isRefusal, preconditionChanged } from '../../runtime/failures.ts';
import { BUDGET, POD } from '../../runtime/kinds.ts';
import { isControlledBy } from '../../observe/object-facts.ts';

/** The cluster and its pods as last observed, and the member that is taken down. */
interface Holding {
  readonly member: string;
  readonly cluster: EtcdCluster;
  readonly seen: readonly PodFacts[];
}

/**
 * To be called right before a member is taken down, and after the last observation of all of them: no member may be evicted from then on, and none
 * was since then. A cluster whose budget is missing, somebody else's, or may not be written continues without.
 * @throws ApplicationFailure PreconditionChanged when another pod is being evicted or is gone
 */
export async function holdBudget(
  deps: Dependencies,
  ref: ClusterRef,
  { member, cluster, seen }: Holding,
): Promise<void> {
  const { kube } = deps;
  const { namespace } = ref;
  const at = { ...BUDGET, namespace, name: disruptionBudgetName(ref.name) };
  const budget = await kube.get(at);
  if (budget === undefined || !isControlledBy(budget, ref.uid)) return;
  const labelSelector = selectorText(clusterSelector(ref.name));
  const { items } = await kube.list(POD, { namespace, labelSelector });
  // An eviction is noted in the status first and deletes its pod then.
  const { disruptedPods = {} } = (budget['status'] ?? {}) as { readonly disruptedPods?: object };
  const staying = new Set(items.filter(isStaying).map(({ metadata }) => metadata.uid));
  const leaving = seen.filter(({ owned, deleting, name, uid }) => {
    if (!owned || deleting || name === member) return false;
    return !staying.has(uid) || name in disruptedPods;
  });
  if (leaving.length > 0)
    throw preconditionChanged(`pod ${leaving.map(({ name }) => name).join(', ')} is being evicted`);
  const { minAvailable } = budget['spec'] as { readonly minAvailable?: number };
  if (items.length < 2 || (minAvailable !== undefined && minAvailable >= items.length)) return;
  const wanted = disruptionBudget(cluster, items.length);
  const { uid, resourceVersion } = budget.metadata;
  try {
    // With its version: an eviction that is allowed at this moment changes it.
    await kube.apply({ ...wanted, metadata: { ...wanted.metadata, uid, resourceVersion } });
  } catch (error) {
    if (isConflict(error) || isNotFound(error))
      throw preconditionChanged(`PodDisruptionBudget ${at.name} has changed`);
    if (!isRefusal(error)) throw error;
    deps.logger.warn('the budget could not be raised before a member is stopped', {
      error: messageOf(error),
    });
  }
}

function isStaying({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp === undefined;
}
