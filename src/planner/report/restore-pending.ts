import { type ConditionFinding, finding } from '../../api/conditions.ts';
import type { Decision } from '../decision.ts';
import type { Observation } from '../observation.ts';
import { admission } from '../restore/admission.ts';
import { type RestoreOfCluster, restoreUnderWay } from '../restore/of-cluster.ts';

const TYPE = 'RestorePending';

/** Which EtcdRestores of this cluster have not begun, and why; nothing when there are none. */
export function restorePending(observation: Observation, decision: Decision): ConditionFinding[] {
  const { cluster, restores = [] } = observation;
  if (cluster.deleting) return [];
  const begun = [restoreUnderWay(cluster)?.uid, decision.kind === 'operate' ? decision.subject : undefined];
  const pending = restores.filter(({ uid }) => !begun.includes(uid));
  if (pending.length === 0) return [];
  const message = pending.map(restore => wordOf(observation, restore)).join('; ');
  const isRefused = pending.every(({ refusal }) => refusal !== undefined);
  return [finding(TYPE, isRefused ? 'Refused' : 'Waiting', message)];
}

function wordOf(observation: Observation, restore: RestoreOfCluster): string {
  const { name, refusal, step } = restore;
  if (refusal !== undefined) return `EtcdRestore ${name} is refused (${refusal.reason}): ${refusal.message}`;
  const wait = admission(observation, restore);
  return `EtcdRestore ${name} waits: ${wait?.message ?? step ?? 'it is looked at first'}`;
}
