/** What users requested by EtcdRequests and holds, and what waits for one, as they stand in a status. */
import * as z from 'zod';
import { int64, text } from './parts.schema.ts';

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);

/** Who made an EtcdRequest that holds. */
const asked = {
  request: text(64, 'The uid of the EtcdRequest.'),
  by: text(512, 'Who requested it.'),
  reason: text(200, 'Why.').optional(),
  at: time('When it was accepted.'),
};

export const awaitedApproval = z.object({
  operation: text(64, 'The operation that waits.'),
  ids: z
    .array(text(256, 'An id.'))
    .max(64)
    .describe('What it would do that to: ids of members, uids of pods, or versions.'),
});

/** The pause that holds. */
export const pause = z.object(asked).describe('The pause that holds.');

export const userRequests = z
  .object({
    pause: pause.optional(),
    abort: z
      .object({
        ...asked,
        operation: text(64, 'The operation that was aborted.'),
        generation: int64('The metadata.generation for which it stays aborted.'),
        subject: text(256, 'What it was about, where that can be requested again.').optional(),
      })
      .describe('The abort that holds until the specification changes, or until a Resync.')
      .optional(),
    approvals: z
      .array(
        z.object({
          ...asked,
          operation: text(256, 'The operation that was approved.'),
          ids: z.array(text(256, 'An id.')).max(16).describe('Exactly what was approved.'),
          expiresAt: time('Until when it is valid.'),
        }),
      )
      .max(16)
      .describe('Approvals that were not used yet.')
      .optional(),
  })
  .describe('What users requested by EtcdRequests and holds: it does not depend on those objects.');

/** Who asked the workflow for something. */
const sent = {
  by: text(512, 'Who requested it.').optional(),
  reason: text(200, 'Why.').optional(),
  at: time('When the workflow received it.').optional(),
};

const signalled = {
  uid: text(64, 'The uid of the resource that it is about.'),
  pause: z.object(sent).describe('The pause that holds.').optional(),
};

/** As many are remembered. */
const MOST_VERIFICATIONS = 32;

/** What an EtcdBackup was asked for by signals. */
export const signalledBackup = z
  .object({
    ...signalled,
    backup: z.object(sent).describe('The backup that has not begun.').optional(),
    verifications: z
      .array(
        z.object({
          ...sent,
          id: text(64, 'Names it in status.verification.'),
          location: text(4_096, 'Which backup; absent: the newest.').optional(),
          level: z
            .enum(['Structure', 'Restore'])
            .describe('How deeply; absent: as spec.verify says.')
            .optional(),
          cluster: text(253, 'The EtcdCluster of which it has to be.').optional(),
          expiresAt: time('Until when it may begin.'),
        }),
      )
      .max(MOST_VERIFICATIONS)
      .describe('Verifications of stored backups that have not ended.')
      .optional(),
  })
  .describe(
    'What users asked the workflow for by signals and is still open: a workflow that is started anew reads it here.',
  );

export const signals = z
  .object({
    ...signalled,
    abort: z
      .object({
        ...sent,
        operation: text(256, 'The operation that was aborted.'),
        generation: int64('The metadata.generation for which it stays aborted.'),
        subject: text(256, 'What it was about, where that can be requested again.').optional(),
      })
      .describe('The abort that holds until the specification changes, or until a resync.')
      .optional(),
    approvals: z
      .array(
        z.object({
          id: int64('The number that the workflow gave it.'),
          operation: text(256, 'The operation that was approved.'),
          ids: z.array(text(256, 'An id.')).max(16).describe('Exactly what was approved.'),
          by: text(512, 'Who approved it.'),
          reason: text(200, 'Why.').optional(),
          expiresAt: time('Until when it is valid.'),
        }),
      )
      .max(16)
      .describe('Approvals that were not used yet.')
      .optional(),
    requests: z
      .array(
        z.object({
          ...sent,
          by: text(512, 'Who requested it.'),
          kind: text(64, 'The signal.'),
          target: text(256, 'The member that was named; absent: all of them.').optional(),
          ids: z
            .array(text(256, 'An id.'))
            .max(64)
            .describe('Exactly what it is about, since it was accepted.')
            .optional(),
        }),
      )
      .max(16)
      .describe('Requests that are not done yet, such as a restart.')
      .optional(),
  })
  .describe(
    'What users asked the workflow for by signals and is still open: a workflow that is started anew reads it here.',
  );
