import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { withdraw } from './admit-members.ts';
import type { Perform } from './shared/perform.ts';
import { stillPlanned } from './shared/still-planned.ts';

/** Leads clients away from these very pods (by uid), for as long as their data differs. */
export const withdrawMembers: Perform<'withdrawMembers'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  await withdraw(deps, ref, step.pods);
  const names = step.pods.map(({ name }) => name).join(', ');
  const message = `${names} does not have the data of the others: clients are led away`;
  recordClusterEvent(deps, ref, { reason: 'MemberWithdrawn', message });
};
