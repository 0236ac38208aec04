/** Whether the client Service leads to a member. */
import { clientServiceName } from '../../api/names.ts';
import type { PodFacts } from '../model/observation.ts';
import type { Situation } from '../model/situation.ts';

/**
 * Why the client Service gets no endpoint, though pods are ready; undefined when it does. Kubernetes makes endpoints of ready pods that a
 * Service selects, as it stands, and that are not being deleted (docs/decisions/0131-conditions-report-faults-not-plans.md).
 */
export function withoutEndpoint({ cluster, pods, clientService }: Situation): string | undefined {
  const { leadsTo, difference } = clientService;
  const ready = pods.filter(pod => pod.owned && pod.ready && !pod.deleting);
  const hasLabels = (pod: PodFacts) => pod.clients === 'admitted' && pod.labelsLacking === undefined;
  const isSelected = (pod: PodFacts) => leadsTo?.includes(pod.name) ?? hasLabels(pod);
  if (ready.some(isSelected)) return undefined;
  const edited = difference === undefined ? '' : `; ${difference}`;
  if (ready.length === 0) return `every ready pod is being deleted${edited}`;
  const names = `${ready.map(({ name }) => name).join(', ')} ${ready.length === 1 ? 'is' : 'are'} ready, but`;
  return ready.some(hasLabels)
    ? `${names} Service ${clientServiceName(cluster.name)} does not select them as it stands${edited}`
    : `${names} without the labels that the client Service selects: clients are led away${edited}`;
}
