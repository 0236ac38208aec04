import { onMember } from '../cluster/leader.ts';
import { observe } from '../observe/observe.ts';
import { corruptAlarms } from '../../planner/checks/corruption.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { disarmThroughAny } from './shared/disarm.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/** Takes CORRUPT back, and has a write go through every voter, each of which answers as it applied that write itself. */
export const disarmCorrupt: Perform<'disarmCorrupt'> = async (deps, ref, step) => {
  const { situation } = await stillPlanned(deps, ref, step);
  const { alarms, members } = step;
  for (const id of alarms) await disarmThroughAny(deps, situation, { members, id, alarm: 'CORRUPT' });
  const seen = await observe(deps, ref);
  if (seen === undefined) throw preconditionChanged('the resource is gone');
  const left = corruptAlarms(seen.observation);
  if (left.length > 0) throw new Error(`CORRUPT of ${left.join(', ')} still stands after it was disarmed`);
  for (const { name } of members)
    await onMember(deps, situation, { member: name, ask: asked => asked.tryWrite() });
  const names = members.map(({ name }) => name).join(', ');
  const message = `disarmed CORRUPT: all members hold the same data, and a write went through ${names}`;
  recordClusterEvent(deps, ref, { reason: 'AlarmDisarmed', message });
};
