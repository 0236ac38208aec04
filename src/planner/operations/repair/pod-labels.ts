/**
 * Labels of members' pods: the Services, the budget and everybody else find a member by them, so that one without is not found by
 * the other members either. Whatever somebody took off or changed is put back; nothing is restarted for it.
 */
import { type Decision, operate } from '../../model/decision.ts';
import type { Observation } from '../../model/observation.ts';

/** Undefined when every pod that is ours carries its labels. Before anything waits for members that nobody finds. */
export function planPodLabels({ pods }: Observation): Decision | undefined {
  const stripped = pods.flatMap(({ name, uid, owned, deleting, labelsLacking: labels }) =>
    owned && !deleting && labels !== undefined ? [{ name, uid, labels }] : [],
  );
  return stripped.length === 0
    ? undefined
    : operate('repairCluster', [{ kind: 'labelPods', pods: stripped }]);
}
