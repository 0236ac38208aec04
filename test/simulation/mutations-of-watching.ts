/** What tells of a cluster that is left alone: see mutations.ts. */
import { at, type Mutation, returns, without } from './mutation.ts';

export const WATCHING_MUTATIONS: readonly Mutation[] = [
  without(
    'nobody is told of an edited specification',
    'specificationIsEditedInPeace',
    returns('worthTelling', 'false'),
  ),
  // The monitor of members hears of it as well.
  without(
    'nobody is told of a pod that is gone',
    'podIsDeletedInPeace',
    returns('concernedBy', '[]'),
    returns('MemberMonitor.hear', 'undefined'),
  ),
  without(
    'nobody is told of a stamp that is gone, or of a pod that is not sealed any more',
    'stampsAreAlteredInPeace',
    returns('sameStamps', 'true'),
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
    'nobody is told of a member that does not answer',
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
