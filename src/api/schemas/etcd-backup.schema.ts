/** EtcdBackup: the source of its CRD, of `kubectl explain`, and of its types. */
import * as z from 'zod';
import {
  conditions,
  cel,
  cronSchedule,
  int32,
  int64,
  secretName,
  statusValue,
  text,
  timeZone,
} from './parts.schema.ts';
import { pause, signalledBackup } from './user-requests.schema.ts';
import { blockRules, SECOND_STORE_RULES, secondStore, storeBlocks } from './stores.schema.ts';
import { STORE_TYPES } from '../stores.ts';

const notNegative = (schema: z.ZodInt, what: string) =>
  cel(schema, { rule: 'self >= 0', message: `must not be negative: write 0 ${what}` });

const count = (description: string) => int32(description).min(0).max(10_000).optional();

const backupPolicy = cel(
  z
    .object({
      timeoutInSecond: cel(
        int64('Seconds that a whole backup may take, 86400 at most. Absent, 0 or less: 3600.'),
        {
          rule: 'self <= 86400',
          message: 'must be at most 86400, a day: what takes longer needs a faster store or compression',
        },
      ).optional(),
      backupIntervalInSecond: notNegative(
        int64('Seconds between two backups; the first is taken at once. 0: one backup.'),
        'for a single backup, or the seconds between two',
      ).optional(),
      maxBackups: notNegative(
        int64('How many backups of this EtcdBackup are kept, the newest by time. 0: all.'),
        'to keep all backups, or how many to keep',
      ).optional(),
      schedule: cronSchedule(
        'When backups are taken, as a cron expression. After an outage exactly one missed backup is made.',
      ).optional(),
      timeZone: timeZone('The time zone of schedule. Absent: UTC.').optional(),
      jitterInSecond: cel(
        int64(
          'Seconds by which a backup may begin later than schedule says, so that those of many clusters do not begin at once. Each EtcdBackup has a delay of its own, always the same, and shorter than the time between two backups. 0: none. Absent: as the operator is configured.',
        ).min(0),
        { rule: 'self <= 86400', message: 'must be at most 86400, a day' },
      ).optional(),
      suspend: z.boolean().describe('true: no backup is begun; what is kept stays.').optional(),
      retention: z
        .object({
          hourly: count('Hours of which the newest backup is kept.'),
          daily: count('Days of which the newest backup is kept.'),
          weekly: count('Weeks of which the newest backup is kept.'),
          monthly: count('Months of which the newest backup is kept.'),
        })
        .describe(
          'Which backups are kept, grandfather-father-son. The newest backup of each verify is never deleted.',
        )
        .optional(),
    })
    .describe('When backups are taken and which are kept. Absent: one backup, kept.'),
  {
    rule: '!has(self.schedule) || !has(self.backupIntervalInSecond) || self.backupIntervalInSecond == 0',
    message: 'schedule and backupIntervalInSecond exclude each other: keep one of them',
  },
  {
    rule: '!has(self.timeZone) || has(self.schedule)',
    message: 'timeZone belongs to schedule: set schedule too, or remove timeZone',
  },
  {
    rule: '!has(self.jitterInSecond) || has(self.schedule)',
    message: 'jitterInSecond belongs to schedule: set schedule too, or remove jitterInSecond',
  },
  {
    rule: '!has(self.retention) || !has(self.maxBackups) || self.maxBackups == 0',
    message: 'retention and maxBackups exclude each other: keep one of them',
  },
);

const backupSpec = cel(
  z
    .object({
      etcdEndpoints: z
        .array(
          cel(text(2048, 'The address of a member, such as https://example-client:2379.').min(1), {
            rule: "!self.contains('://') || self.matches('^https?://')",
            message:
              'must be the address of a member such as https://example-client:2379, with https:// or http://',
          }),
        )
        .max(64)
        .describe('Addresses of any etcd cluster. Set exactly one of etcdEndpoints and clusterRef.')
        .optional(),
      clusterRef: z
        .object({ name: text(253, 'Name of the EtcdCluster.').min(1) })
        .describe(
          'An EtcdCluster in this namespace. The operator finds its members, credentials and TLS certificates.',
        )
        .optional(),
      clientTLSSecret: secretName(
        'Secret with etcd-client.crt, etcd-client.key, etcd-client-ca.crt (or tls.crt, tls.key, ca.crt), for etcdEndpoints that require TLS.',
      ).optional(),
      authSecret: secretName(
        'Secret with username and password of a user with the role root, for an etcd cluster with authentication.',
      ).optional(),
      storageType: z
        .enum(STORE_TYPES)
        .describe('The type of the store for backups; the block of the same name contains its settings.'),
      ...storeBlocks,
      secondStore: secondStore.optional(),
      backupPolicy: backupPolicy.optional(),
      verify: z
        .enum(['Checksum', 'Structure', 'Restore'])
        .describe(
          'How a backup is verified. Structure: with etcdutl. Restore: by restoring it in a separate pod and comparing it with the cluster.',
        )
        .default('Checksum'),
      compression: z.enum(['none', 'gzip', 'zstd']).describe('How the object is compressed.').default('none'),
    })
    .describe('What is backed up, when, and where to.'),
  {
    rule: '(has(self.etcdEndpoints) && size(self.etcdEndpoints) > 0) != has(self.clusterRef)',
    message:
      'exactly one of etcdEndpoints and clusterRef must be given: clusterRef.name for a cluster of this operator, etcdEndpoints for any other',
  },
  ...blockRules('storageType'),
  ...SECOND_STORE_RULES,
);

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);

const historyEntry = z.object({
  time: time('When the snapshot was taken.'),
  location: text(4096, 'Where the object lies.'),
  endpoint: text(2048, 'The server of its store, if the specification names one.').optional(),
  region: text(64, 'The region of its bucket, if the specification names one.').optional(),
  revision: int64('The revision it holds.').optional(),
  keys: int64(
    'The number of keys in it. Absent: the cluster was written to during the snapshot, or the keys could not be counted.',
  ).optional(),
  size: int64('Bytes of the object.').optional(),
  sha256: text(64, 'Checksum of the object, in hexadecimal.').optional(),
  etcdVersion: text(64, 'The version that wrote it.').optional(),
  clusterID: text(32, "etcd's cluster id in hexadecimal.").optional(),
  member: text(253, 'The member that it was taken from.').optional(),
  verified: text(63, 'How it was verified; empty when it was not.').optional(),
  locked: z
    .literal(true)
    .describe(
      'The retention keeps it no longer, and its store lets nobody delete it yet (object lock, a retention policy or a hold). The operator tries again after the next backup.',
    )
    .optional(),
  duration: text(32, 'How long it took.').optional(),
  heldIn: statusValue(
    ['First', 'Second', 'Both'],
    'Which store has it, as they were last looked at. Absent: there is no second store.',
  ).optional(),
  secondStore: z
    .object({
      location: text(4096, 'Where the copy lies.'),
      endpoint: text(2048, 'The server of the second store, if the specification names one.').optional(),
      region: text(64, 'The region of its bucket, if the specification names one.').optional(),
      verifiedAt: time(
        'When it was read there from end to end and had the size and the SHA-256 of the backup.',
      ),
      locked: z
        .literal(true)
        .describe('The retention keeps it no longer, and the second store lets nobody delete it yet.')
        .optional(),
    })
    .describe('The copy in the second store.')
    .optional(),
});

const run = {
  startedAt: time('When it started; the names of its objects contain this time.').optional(),
  scheduledFor: time('The time of the schedule that it was begun for.').optional(),
  requestedBy: text(256, 'Who asked for it, when it is none of the schedule.').optional(),
};

const backupStatus = z
  .object({
    succeeded: z.boolean().describe('Whether the last backup succeeded.').optional(),
    Reason: text(4096, 'Why it did not.').optional(),
    etcdVersion: text(64, 'The version of the etcd that was backed up.').optional(),
    etcdRevision: int64('The revision of the last backup.').optional(),
    // The Go client of old writes a time that is not set as null.
    lastSuccessDate: time('When the last backup succeeded.').nullable().optional(),
    lastVerifiedRestore: time(
      'When a backup was last restored in a separate pod and found equal to the cluster.',
    ).optional(),
    phase: statusValue(
      ['', 'Pending', 'Running', 'Retrying', 'Scheduled', 'Suspended', 'Succeeded', 'Failed'],
      'What the backup does. Retrying: a run is under way that has failed at least twice and is tried again; see the condition Retrying.',
    ).optional(),
    conditions: conditions.optional(),
    observedGeneration: int64('The metadata.generation that this status was written for.').optional(),
    workflowID: text(512, 'The Temporal workflow of this backup.').optional(),
    history: z
      .array(historyEntry)
      .max(256)
      .describe('Backups that this EtcdBackup wrote and that still exist, newest first.')
      .optional(),
    progress: z
      .object({
        ...run,
        bytes: int64('Bytes written.').optional(),
        total: int64('Bytes expected.').optional(),
        message: text(
          4096,
          'What it waits for, or why it does not get on when it is being tried again.',
        ).optional(),
        waiting: z
          .boolean()
          .describe('true: it waits for its turn at the store. Its time does not run meanwhile.')
          .optional(),
        turnAt: time(
          'When its turn at the store came, if it had to wait; its time counts from then.',
        ).optional(),
        nodeTurnAt: time(
          'When its turn at the node of the member that it is read from came, if it had to wait.',
        ).optional(),
        written: z.boolean().describe('true: the object is in the store, and is being verified.').optional(),
      })
      .describe('How far the backup under way is.')
      .optional(),
    lastRun: z
      .object({
        ...run,
        completedAt: time('When it ended.').optional(),
        outcome: statusValue(['Succeeded', 'Failed', 'Aborted'], 'How it ended.').optional(),
        message: text(4096, 'Why it did not succeed.').optional(),
        generation: int64('The metadata.generation that it was made for.').optional(),
      })
      .describe('The last backup that was tried, and how it ended.')
      .optional(),
    schedule: z
      .object({
        rule: text(256, 'The schedule that is followed.').optional(),
        since: time('Since when. Earlier times are not made up for.').optional(),
        lastTime: time('The last time of the schedule for which a backup was started.').optional(),
        failures: int64('How many backups of the schedule failed in a row.').optional(),
        retryAt: time('When the one that failed is tried again.').optional(),
        dueBy: time('By when the backup that is awaited should be finished. Later it is late.').optional(),
      })
      .describe('The state of the schedule, so that exactly one missed backup is made later.')
      .optional(),
    verification: z
      .object({
        request: text(64, 'The uid of the EtcdRequest that asked for it.'),
        location: text(4096, 'The backup that is verified.'),
        level: statusValue(['Structure', 'Restore'], 'How it is to be verified.'),
        requestedBy: text(512, 'Who asked for it.').optional(),
        startedAt: time('When it started.'),
        completedAt: time('When there was a verdict. Absent: there is none.').optional(),
        outcome: statusValue(
          ['Verified', 'PartlyVerified', 'NotVerified'],
          'The verdict. PartlyVerified: less was shown than was asked for.',
        ).optional(),
        message: text(4096, 'What was found, or why there is no verdict yet.').optional(),
      })
      .describe('The last verification of a stored backup that an EtcdRequest asked for.')
      .optional(),
    secondStore: z
      .object({
        location: text(4096, 'Where copies are written: the path of the second store.'),
        since: time('Since when the second store is this one.'),
        behind: int64('How many backups that are kept are not in the second store.'),
        behindSince: time('Since when at least one of them is missing there.').optional(),
        lookedAt: time('When the second store last answered what it has.').optional(),
        reason: text(64, 'As the reason of the condition Copied: why copies are behind.').optional(),
        message: text(4096, 'What keeps a copy from being made.').optional(),
        failures: int64('How many attempts failed in a row.').optional(),
        retryAt: time('When the next attempt is made.').optional(),
        generation: int64('The metadata.generation that the last attempt was made for.').optional(),
      })
      .describe('The state of the copies in the second store.')
      .optional(),
    userRequests: z
      .object({ pause: pause.optional() })
      .describe('What users requested by EtcdRequests and holds: it does not depend on those objects.')
      .optional(),
    signals: signalledBackup.optional(),
    nextRun: time('When the next backup is due, or the failed one is tried again.').optional(),
  })
  .describe('What was done; written by the operator only.');

export const etcdBackupSchema = z
  .object({ spec: backupSpec, status: backupStatus.optional() })
  .describe('A backup of an etcd, once or by schedule, into an object store.');

export type BackupSpecInput = z.input<typeof backupSpec>;
export type BackupStatusInput = z.input<typeof backupStatus>;
