/** The condition about what the operator does for a resource, of every kind; the activity that fails writes it. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

export const ACTIVITY_CONDITIONS = {
  /** Has something that the operator does failed twice or more? Not there while nothing is tried again. */
  Retrying: {
    True: {
      ActivityFails: [
        'What the operator does for the resource has failed at least twice, and is tried again.',
        'Read the error in the message and remove its cause: a Secret, claim or cluster that does not exist, credentials, a closed port, a missing permission, a quota.',
      ],
    },
  },
} as const satisfies ConditionTable;
