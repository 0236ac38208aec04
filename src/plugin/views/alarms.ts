/** The alarms of members, as far as the status shows: the metrics of etcd do not name them. Pure. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { conditionOf } from '../../api/conditions/advice.ts';

/** Reasons of Healthy for which members were asked. If one answered, there was no alarm: each names those of all. */
const NO_ALARM = ['AllMembersHealthy', 'MembersUnhealthy', 'MembersMissing'];
/** As the condition words them (src/planner/model/alarms.ts), and as earlier releases did, in etcd's words with the decimal id of the member. */
const ALARM = /alarm ([A-Z]+) of member ([0-9a-f]+)|memberID:(\d+)\s+alarm:([A-Z]+)/g;

/** By the hexadecimal id of the member; undefined: the status does not say. */
export function alarmsOf({ status = {} }: EtcdCluster): ReadonlyMap<string, readonly string[]> | undefined {
  const condition = conditionOf(status, 'Healthy');
  if (condition === undefined) return undefined;
  const hasAnswered = status.members?.details?.some(({ health }) => health === 'Healthy') === true;
  if (NO_ALARM.includes(condition.reason)) return hasAnswered ? new Map() : undefined;
  if (condition.reason !== 'AlarmRaised') return undefined;
  const found = new Map<string, string[]>();
  for (const [, alarm, id, decimal = '0', before = ''] of condition.message.matchAll(ALARM)) {
    const hexadecimal = id ?? BigInt(decimal).toString(16);
    found.set(hexadecimal, [...(found.get(hexadecimal) ?? []), alarm ?? before]);
  }
  // Worded in another way, it would read as if no member had an alarm.
  return found.size === 0 ? undefined : found;
}
