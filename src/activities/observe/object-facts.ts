/** Raw objects → whose they are, and the facts that the planner knows of Services and budgets. Pure translation. */
import { LABEL_CLUSTER, LABEL_MANAGED_BY } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import { firstDrift, type StoredObject } from '../../objects/drift.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import type { BudgetFacts, ObjectFacts } from '../../planner/model/observation.ts';

/** Whether a Service or budget is there, whether it is ours, and what somebody changed in it. */
export function objectFacts(
  object: KubeObject | undefined,
  ownerUid: string,
  wanted: ManifestObject,
): ObjectFacts {
  if (object === undefined) return { exists: false, owned: false };
  if (!isControlledBy(object, ownerUid))
    return { exists: true, owned: false, ...(isLeft(object, wanted) && { unowned: true }) };
  const difference = firstDrift(object as unknown as StoredObject, wanted);
  return { exists: true, owned: true, ...(difference === undefined ? {} : { difference }) };
}

/** The same of the PodDisruptionBudget, and the number that it names: which one it is to be, only the planner knows. */
export function budgetFacts(
  object: KubeObject | undefined,
  ownerUid: string,
  build: (minAvailable: number) => ManifestObject,
): BudgetFacts {
  const spec = object?.['spec'] as { readonly minAvailable?: unknown } | undefined;
  const minAvailable = typeof spec?.minAvailable === 'number' ? spec.minAvailable : undefined;
  const facts = objectFacts(object, ownerUid, build(minAvailable ?? 0));
  if (!facts.owned) return facts;
  if (minAvailable !== undefined) return { ...facts, minAvailable };
  return { ...facts, difference: 'spec.minAvailable is not a number' };
}

/** Whether the object's controlling owner has this uid. */
export function isControlledBy(object: KubeObject, ownerUid: string): boolean {
  return (
    object.metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === ownerUid) ??
    false
  );
}

/** Whether anybody controls it. */
export function hasController({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;
}

/** Nobody's, with the labels that the operator gives to the one of this cluster. */
function isLeft(object: KubeObject, { metadata }: ManifestObject): boolean {
  const keys = [LABEL_CLUSTER, LABEL_MANAGED_BY];
  const { labels = {} } = object.metadata;
  return !hasController(object) && keys.every(key => labels[key] === metadata.labels[key]);
}
