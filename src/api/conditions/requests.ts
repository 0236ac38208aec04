/** The conditions of an EtcdRequest, which the passes of its resource write. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

const ASK_AGAIN = 'Read the message, and create another EtcdRequest if you still want it.';

/** Reasons of the condition Accepted, beside those of an EtcdRestore. */
export const REQUEST_ACCEPTED = {
  True: { Taken: ['A pass has accepted the request.'] },
  Unknown: {
    NotJudged: ['The request waits for its turn, and is accepted when it begins.'],
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
