/** What shows a cluster that is left alone: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const WATCHING_MUTATIONS: readonly Mutation[] = [
  without(
    'an edited specification is not enqueued',
    'specificationIsEditedInPeace',
    returns('isWorthEnqueueing', 'false'),
  ),
  // The monitor of members hears of it as well.
  without(
    'a pod that is gone is not enqueued',
    'podIsDeletedInPeace',
    returns('concernedBy', '[]'),
    returns('MemberMonitor.hear', 'undefined'),
  ),
  without(
    'a stamp that is gone, or a pod that is not sealed any more, is not enqueued',
    'stampsAreAlteredInPeace',
    returns('marksOf', 'undefined'),
  ),
  without(
    'what the first lists find is not enqueued',
    'finalizerIsRemovedWhileNobodyWatches',
    at(
      'ResourceWatcher.onChange',
      'keysToEnqueue(change, this.#known)',
      'isNews ? keysToEnqueue(change, this.#known) : []',
    ),
  ),
  without(
    'a member that does not answer is not reported',
    'memberIsCutOffInPeace',
    returns('MemberMonitor.hear', 'undefined'),
  ),
  without(
    'what members say is not compared with the status',
    'memberIsAddedInPeace',
    returns('differenceFrom', 'undefined'),
    at('MemberMonitor.compare', "isListChanged ? 'the member list changed' : undefined", 'undefined'),
  ),
];
