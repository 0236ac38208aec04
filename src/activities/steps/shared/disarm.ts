/** An alarm of etcd, taken back through whichever member answers. */
import { messageOf } from '../../../api/values/message-of.ts';
import { type Alarm, alarmsIn } from '../../../planner/model/alarms.ts';
import type { Situation } from '../../../planner/model/situation.ts';
import type { NamedObject } from '../../../planner/model/steps/row.ts';
import { onMember } from '../../cluster/leader.ts';
import type { Dependencies } from '../../runtime/dependencies.ts';

/** Each takes its time when it does not answer. */
const MOST_ASKED = 3;

interface Disarming {
  /** Through whom. */
  readonly members: readonly NamedObject[];
  /** Whose alarm, in hexadecimal. */
  readonly id: string;
  readonly alarm: Alarm['alarm'];
}

/**
 * Through the leader, and through another member where that does not answer: etcd 3.5.3 was seen not to (etcd 17318). It may have taken effect
 * all the same, which is looked at before another one is asked.
 */
export async function disarmThroughAny(
  deps: Dependencies,
  situation: Situation,
  { members, id, alarm }: Disarming,
): Promise<void> {
  const leader = situation.leader?.name;
  const names = members
    .map(({ name }) => name)
    .toSorted((a, b) => Number(b === leader) - Number(a === leader))
    .slice(0, MOST_ASKED);
  const failures: string[] = [];
  for (const member of names) {
    try {
      return await onMember(deps, situation, { member, ask: asked => asked.disarm(id, alarm) });
    } catch (error) {
      failures.push(messageOf(error));
      const isGone = await onMember(deps, situation, {
        member,
        ask: async asked => !lists((await asked.status()).errors, { id, alarm }),
      }).catch(() => false);
      if (isGone) return;
    }
  }
  throw new Error(
    `${alarm} of member ${id} could not be disarmed through any member; etcd 3.5.3 is known for it, restart the leader if it stays: ${failures.join('; ')}`,
  );
}

function lists(errors: readonly string[], { id, alarm }: Pick<Disarming, 'id' | 'alarm'>): boolean {
  return alarmsIn(errors).some(each => each.memberId === id && each.alarm === alarm);
}
