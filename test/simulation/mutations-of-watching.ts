/** What shows a cluster that is left alone: see mutations.ts. */
import { differenceFrom } from '../../src/watcher/members/agreement.ts';
import { isNews, isOtherList } from '../../src/watcher/members/monitor.ts';
import { isWorthEnqueueing } from '../../src/watcher/resources/event-filter.ts';
import { marksOf } from '../../src/watcher/resources/slim.ts';
import { concernedBy, keysToEnqueue } from '../../src/watcher/resources/watched-kinds.ts';
import { instead, type Mutation, returns, without } from './mutation.ts';

export const WATCHING_MUTATIONS: readonly Mutation[] = [
  without(
    'an edited specification is not enqueued',
    'specificationIsEditedInPeace',
    returns(isWorthEnqueueing, false),
  ),
  // The monitor of members hears of it as well.
  without(
    'a pod that is gone is not enqueued',
    'podIsDeletedInPeace',
    returns(concernedBy, []),
    returns(isNews, false),
  ),
  without(
    'a stamp that is gone, or a pod that is not sealed any more, is not enqueued',
    'stampsAreAlteredInPeace',
    returns(marksOf, undefined),
  ),
  // All but resources that nobody has looked at yet.
  without(
    'what the first lists find is not enqueued',
    'finalizerIsRemovedWhileNobodyWatches',
    instead(
      keysToEnqueue,
      original => (change, known) =>
        original(change, known).filter(key => change.type !== 'added' || known.get(key)?.isNew === true),
    ),
  ),
  without('a member that does not answer is not reported', 'memberIsCutOffInPeace', returns(isNews, false)),
  without(
    'what members say is not compared with the status',
    'memberIsAddedInPeace',
    returns(differenceFrom, undefined),
    returns(isOtherList, false),
  ),
];
