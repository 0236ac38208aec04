/** Guards of incarnations that are gone back to, taken away: see mutations.ts. */
import { isOlderMinor } from '../../src/api/versions/compare.ts';
import { canElect } from '../../src/planner/checks/kept-incarnation.ts';
import { judgeConfirmation } from '../../src/planner/checks/restore-confirmation.ts';
import { stampedToken } from '../../src/planner/model/identity.ts';
import { keptAgain } from '../../src/planner/operations/restore/going-back.ts';
import { abandoning } from '../../src/planner/operations/restore/index.ts';
import { hopsBetween } from '../../src/planner/operations/upgrade/path.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const INCARNATION_MUTATIONS: readonly Mutation[] = [
  without(
    'what runs is given up though another cluster was named',
    'goingBackIsNotConfirmed',
    returns(judgeConfirmation, undefined),
  ),
  without('too few claims for a quorum are gone back to', 'tooLittleIsKept', returns(canElect, true)),
  without(
    'data of a newer minor is gone back to',
    'whatIsKeptIsOfANewerMinor',
    returns(isOlderMinor, false),
    instead(hopsBetween, original => (from, target) => original(from, target) ?? [target]),
  ),
  without(
    'the claims of what was gone back to are deleted when that is undone',
    'goingBackIsAborted',
    instead(keptAgain, () => () => undefined as never),
  ),
  without('going back goes on though it was aborted', 'goingBackIsAborted', returns(abandoning, undefined)),
  without(
    'the highest number is taken for what runs when the status is lost',
    'statusIsLostAfterGoingBack',
    instead(
      stampedToken,
      original => seen =>
        original({ ...seen, claims: seen.claims.map(claim => ({ ...claim, keptByRestore: false })) }),
    ),
  ),
];
