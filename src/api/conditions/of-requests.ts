/** The conditions of an EtcdRequest, which the watcher writes. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

const ASK_AGAIN = 'Read the message, and create another EtcdRequest if you still want it.';

/** Reasons of the condition Accepted, beside those of an EtcdRestore. */
export const REQUEST_ACCEPTED = {
  True: { Taken: ['The workflow has accepted the request.'] },
  Unknown: {
    NotJudged: ['The workflow has the request; the next pass judges it.'],
    NotDelivered: [
      'The request has not reached the workflow; the operator tries again automatically.',
      'Read the message, and see the condition TemporalUnavailable of the cluster. After status.expiresAt it is not accepted any more.',
    ],
  },
  False: {
    RequestRefused: ['The request makes no sense now, or is not permitted.', ASK_AGAIN],
    RequestExpired: ['The request was not accepted before status.expiresAt. Nothing was done.', ASK_AGAIN],
    NoSuchResource: ['The cluster, or the backup, that the request names does not exist.', ASK_AGAIN],
  },
} as const satisfies ConditionTable[string];

export const REQUEST_CONDITIONS = {
  /** Of an EtcdRequest: has what was asked for been done? */
  Completed: {
    True: { Done: ['What was asked for is done.'] },
    False: {
      NotAccepted: ['The request is not accepted; see the condition Accepted.'],
      InProgress: ['The request is accepted, and not done yet.'],
      RequestFailed: ['The request was accepted and has failed.', ASK_AGAIN],
      RequestAborted: ['A person aborted the request before it was done.'],
      RequestLost: [
        "The workflow no longer knows the request: Temporal's database was lost. It is not repeated.",
        'See what the cluster does, and create another EtcdRequest if it is still needed.',
      ],
      ResourceGone: ['The cluster, or the backup, was deleted before the request was done.'],
    },
  },
  /** Of an EtcdRequest with the action VerifyBackup: is the stored backup good? */
  Verified: {
    True: {
      BackupVerified: ['The stored backup was read back and verified as requested.'],
      BackupPartlyVerified: [
        'The stored backup was read back, and less could be shown than was requested.',
        'Read the message, which says what was shown.',
      ],
    },
    False: {
      BackupNotVerified: [
        'The verification of the stored backup has found a fault.',
        'Read the message and do not restore this backup. Take another one, and check the store.',
      ],
    },
    Unknown: {
      NotVerifiedYet: ['The verification has not begun.'],
      VerificationRunning: [
        'The stored backup is being verified.',
        'See status.verification of the EtcdBackup.',
      ],
      NoVerdict: ['The request has ended without a verdict on the backup.', 'See the condition Completed.'],
    },
  },
} as const satisfies ConditionTable;
