/** What must hold when the operator takes back NOSPACE: from what is really so, but for what came after its last look. */
import type { Attempt } from './sim-calls.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { newestMembers, type Process } from './sim-raft.ts';

/** Of the quota. The operator wants a little less. */
const ROOM = 0.95;

/** Why the alarm that this member raised must stay; undefined when it may go, or is none. */
export function faultOfDisarm(
  { processes, space, endedAt, membersAt }: SimEtcd,
  { leader, id, attempt }: { readonly leader: Process; readonly id: string; readonly attempt: Attempt },
): string | undefined {
  const { lookedAt: since } = attempt;
  if (!space.alarmsOf(leader.clusterId).includes(id) || membersAt >= since) return undefined;
  const all = [...processes.values()];
  if (all.some(({ alarm = '', changedAt }) => alarm.includes('CORRUPT') && changedAt < since))
    return 'CORRUPT stands beside it';
  for (const { id: memberId, name } of newestMembers(leader.disk).rows) {
    const process = all.find(each => each.memberId === memberId);
    if (process === undefined) {
      if ((endedAt.get(memberId) ?? 0) < since)
        return `${name} does not run, so nobody knows whether it has room`;
      continue;
    }
    const { bytes = 0, filledAt = 0 } = process.disk;
    if (bytes > ROOM * process.quota && filledAt < since) return `${name} has no room`;
  }
  return undefined;
}
