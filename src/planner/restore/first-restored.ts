import { memberName, serialOf } from '../../api/names.ts';
import { lastSerialOf } from '../model/identity.ts';
import type { Situation } from '../model/situation.ts';

/** The first member of a restored cluster: numbered above everything that has, or had, a name like a member's. */
export function firstRestored({ cluster, pods, claims, namesSeen }: Situation): string {
  const seen = [...pods, ...claims].map(({ name }) => name);
  const serials = [...seen, ...namesSeen].map(name => serialOf(name) ?? -1);
  return memberName(cluster.name, Math.max(lastSerialOf(cluster), ...serials) + 1);
}
