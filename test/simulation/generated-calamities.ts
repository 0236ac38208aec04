/** What befalls all members of a generated observation at once: faults of each alone hardly ever meet. */
import { EMPTY_ALONE, type MemberDraw } from './generated-members.ts';

export const CALAMITIES = ['nodes', 'disks', 'pods'] as const;
export type Calamity = (typeof CALAMITIES)[number];

/** The members after it: no quorum answers any more. */
export function after(calamity: Calamity, member: MemberDraw): MemberDraw {
  const { pod, claim, probe } = member;
  const silent = { ...member, probe: { ...probe, answered: false } };
  switch (calamity) {
    // Every Node is registered again, or gone.
    case 'nodes':
      return { ...silent, pod: { ...pod, there: false }, claim: { ...claim, home: false } };
    // Machines are back before their disks, or the disks were exchanged.
    case 'disks':
      return { ...silent, pod: { ...pod, ready: false, trouble: EMPTY_ALONE } };
    default:
      return { ...silent, pod: { ...pod, there: false } };
  }
}
