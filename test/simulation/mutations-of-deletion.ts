/** Guards of what a deleted cluster leaves: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const DELETION_MUTATIONS: readonly Mutation[] = [
  without('an orphan deletion is taken for any other', 'orphanIsTakenUp', returns('isOrphaned', 'false')),
  without(
    'an orphan deletion is known only while Kubernetes has not finished it',
    'orphanIsTakenUp',
    at('isOrphaned', 'shared.some(({ unowned }) => unowned === true)', 'false'),
    at('isOrphaned', 'podsOf(observation).some(pod => pod.unowned)', 'false'),
  ),
  without(
    'an empty cluster begins beside claims that were kept',
    'keptClaimsAreTakenUp',
    returns('undecided', 'undefined'),
  ),
  without(
    'members are taken up without a quorum of them',
    'keptClaimsAreTakenUp',
    returns('lackingVoters', '[]'),
  ),
];
