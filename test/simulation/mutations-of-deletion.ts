/** Guards of what a deleted cluster leaves: see mutations.ts. */
import { lackingVoters, undecided } from '../../src/planner/checks/former-cluster.ts';
import { isOrphaned } from '../../src/planner/model/left-behind.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const DELETION_MUTATIONS: readonly Mutation[] = [
  without('an orphan deletion is taken for any other', 'orphanIsTakenUp', returns(isOrphaned, false)),
  without(
    'an orphan deletion is known only while Kubernetes has not finished it',
    'orphanIsTakenUp',
    instead(
      isOrphaned,
      () =>
        ({ cluster }) =>
          cluster.deleting && cluster.orphaning === true,
    ),
  ),
  without(
    'an empty cluster begins beside claims that were kept',
    'keptClaimsAreTakenUp',
    returns(undecided, undefined),
  ),
  without(
    'members are taken up without a quorum of them',
    'keptClaimsAreTakenUp',
    returns(lackingVoters, []),
  ),
];
