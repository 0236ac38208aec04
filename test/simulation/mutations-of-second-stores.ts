/** Guards of second stores that are taken away: see mutations.ts. */
import { readBack } from '../../src/activities/backup/copy-object.ts';
import { refuseOther } from '../../src/activities/backup/examined-object.ts';
import { lookAtSecond } from '../../src/activities/backup/looks-at-stores.ts';
import { onlyInSecond } from '../../src/activities/backup/prune.ts';
import { whyNotFirst } from '../../src/activities/restore/either-store.ts';
import { secondStoreFaults } from '../../src/api/validation/store-faults.ts';
import { copyOfObject } from '../../src/planner/restore/backup-object.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const SECOND_STORE_MUTATIONS: readonly Mutation[] = [
  without(
    'what has the name of a backup in the second store is taken for its copy',
    'copyHasTheNameOfAnotherObject',
    returns(readBack, undefined),
  ),
  without(
    'a copy is said to be there that was not read back',
    'secondStoreDamagesWhatItStores',
    returns(readBack, undefined),
  ),
  without(
    'a copy is said to be there that is there no more',
    'secondStoreLosesACopy',
    returns(lookAtSecond, undefined),
  ),
  without(
    'what only the second store has is forgotten',
    'firstStoreLosesEverything',
    returns(onlyInSecond, []),
  ),
  without(
    'copies are written among the backups of the first store',
    'secondStoreIsInTheFirst',
    returns(secondStoreFaults, []),
  ),
  without(
    'the second store is not asked when the first one is lost',
    'firstStoreIsLostAndRestored',
    returns(copyOfObject, undefined),
  ),
  without(
    'a first store that does not answer is given up at once',
    'firstStoreIsAwayForAWhile',
    instead(whyNotFirst, original => (error, attempt) => original(error, attempt) ?? 'it does not answer'),
  ),
  without(
    'a copy is restored that is not the backup that was recorded',
    'copyIsAnotherBackup',
    returns(refuseOther, undefined),
  ),
];
