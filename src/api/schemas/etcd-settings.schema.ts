/** spec.etcd, spec.upgrade, spec.repair, spec.maintenance, spec.recovery, spec.service: how the cluster is run. */
import * as z from 'zod';
import {
  DEFAULT_COMPARE_DATA_EVERY,
  RECOVERY_DEFAULTS,
  REPAIR_DEFAULTS,
  UPGRADE_DEFAULTS,
} from './default-values.ts';
import {
  cel,
  cronSchedule,
  duration,
  int32,
  intOrString,
  kept,
  quantityBetween,
  text,
  textMap,
  timeZone,
} from './parts.schema.ts';

const autoCompaction = cel(
  z
    .object({
      mode: z
        .enum(['periodic', 'revision', 'off'])
        .describe(
          'periodic: keep the history of some time. revision: keep a number of revisions. off: clients compact. Absent: periodic, or off with the profile Kubernetes.',
        )
        .optional(),
      retention: intOrString(
        32,
        'periodic: a duration such as 1h. revision: a number such as 1000. Absent: these.',
      ).optional(),
    })
    .describe('What history of keys etcd keeps.'),
  {
    rule: "!has(self.retention) || !has(self.mode) || self.mode != 'revision' || string(self.retention).matches('^[0-9]+$')",
    message: 'with mode revision, retention is a number of revisions such as 1000',
  },
  {
    rule: "!has(self.retention) || (has(self.mode) && self.mode != 'periodic') || string(self.retention).matches('^([0-9]+|([0-9]+(\\\\.[0-9]+)?(ms|s|m|h))+)$')",
    message: 'with mode periodic, retention is a duration such as 1h or 30m',
  },
);

export const etcdSettings = cel(
  z
    .object({
      quotaBackendBytes: quantityBetween(
        '16Mi',
        '64Gi',
        'The maximum size of the database, in bytes or as a size. Absent: 2Gi, or 8Gi with the profile Kubernetes. The volume should have three times this size plus 2Gi.',
      ).optional(),
      autoCompaction: autoCompaction.optional(),
      snapshotCount: int32(
        'Transactions between two snapshots of the log on disk. 0: the default of etcd, also of a new cluster.',
      )
        .min(0)
        .max(100_000_000)
        .optional(),
      heartbeatIntervalMs: int32('Milliseconds between two heartbeats of the leader. Absent: 100.')
        .min(10)
        .max(5_000)
        .optional(),
      electionTimeoutMs: int32(
        'Milliseconds without a heartbeat after which members elect another leader; at least five heartbeats. Absent: ten heartbeats.',
      )
        .min(50)
        .max(50_000)
        .optional(),
      logLevel: z
        .enum(['debug', 'info', 'warn', 'error', 'panic', 'fatal'])
        .describe('What etcd logs. Absent: info.')
        .optional(),
      maxRequestBytes: quantityBetween(
        '1Ki',
        '100Mi',
        'The largest request of a client, in bytes or as a size. Absent: 1.5Mi.',
      ).optional(),
    })
    .describe('Settings of etcd. A change is applied to one member at a time.'),
  {
    rule: '!has(self.electionTimeoutMs) || self.electionTimeoutMs >= 5 * (has(self.heartbeatIntervalMs) ? self.heartbeatIntervalMs : 100)',
    message:
      'electionTimeoutMs must be at least five times heartbeatIntervalMs (100 when absent), or members elect leaders for no reason',
  },
);

export const upgrade = z
  .object({
    strategy: kept(
      z
        .enum(['Automatic', 'Supervised'])
        .describe('Supervised: the upgrade waits for approval before the first and before the last member.'),
      UPGRADE_DEFAULTS.strategy,
    ),
    soakSeconds: kept(
      int32('How long each upgraded member must be healthy before the next.').min(0).max(86_400),
      UPGRADE_DEFAULTS.soakSeconds,
    ),
    snapshotBefore: kept(
      z
        .enum(['IfPossible', 'Required', 'Never'])
        .describe(
          'Before its first member an upgrade asks an EtcdBackup of this cluster for a backup, unless a verified one is less than an hour old; if the backup fails, no member is changed. IfPossible: without an EtcdBackup the upgrade continues. Required: it waits for one. Never: no backup is requested.',
        ),
      UPGRADE_DEFAULTS.snapshotBefore,
    ),
    allowIntermediateVersions: kept(
      z
        .boolean()
        .describe(
          'true: an upgrade over several minors is planned through each of them instead of being refused.',
        ),
      UPGRADE_DEFAULTS.allowIntermediateVersions,
    ),
    rollbackOnFailure: kept(
      z
        .boolean()
        .describe(
          'true: a member that fails with the new version goes back to the old one while that is possible.',
        ),
      UPGRADE_DEFAULTS.rollbackOnFailure,
    ),
  })
  .describe('How etcd is upgraded.');

export const repair = z
  .object({
    replaceAfterSeconds: kept(
      int32(
        'Grace period after the proof that a node is gone or a volume is empty, before its member is replaced. A claim that is gone has none.',
      )
        .min(0)
        .max(604_800),
      REPAIR_DEFAULTS.replaceAfterSeconds,
    ),
    maxReplacementsPerHour: kept(
      int32('The number of members that may be replaced in an hour before approval is needed.')
        .min(0)
        .max(100),
      REPAIR_DEFAULTS.maxReplacementsPerHour,
    ),
    corruption: kept(
      z
        .enum(['Ask', 'Replace'])
        .describe(
          'What to do with a member whose data differs from that of a majority. Ask: its replacement waits for an approval. Replace: it is replaced when all others are healthy. Its volume is kept in both cases; without a majority a person is always asked.',
        ),
      REPAIR_DEFAULTS.corruption,
    ),
  })
  .describe('How lost members, and members whose data differs, are replaced.');

const defragment = z
  .object({
    schedule: cronSchedule(
      'When members that need it are defragmented, within an hour. Absent: when a request asks for it, and near the quota.',
    ).optional(),
    fragmentation: int32(
      'Per cent of the file that must be free for a member to be defragmented without a request. Absent: 50.',
    )
      .min(1)
      .max(99)
      .optional(),
    freeBytes: quantityBetween(
      '1Mi',
      '64Gi',
      'Free space in the file that the schedule needs besides. Absent: 100Mi.',
    ).optional(),
    window: z
      .object({
        start: cel(text(5, 'When the window opens, such as 01:30.'), {
          rule: "self.matches('^([01][0-9]|2[0-3]):[0-5][0-9]$')",
          message: 'must be a time of day from 00:00 to 23:59, such as 01:30',
        }),
        duration: duration('How long it stays open, such as 4h.'),
        timeZone: timeZone('The time zone of start and of the schedule. Absent: UTC.').optional(),
      })
      .describe('The time of day in which the schedule may begin a defragmentation. Absent: any.')
      .optional(),
  })
  .describe(
    'Gives free space in the files back to the file system: one member at a time, the leader last, never beside a snapshot. A member whose database is at 80 % of its quota or more is defragmented without a schedule when enough of it is free.',
  );

export const maintenance = z
  .object({
    defragment: defragment.optional(),
    compareDataEvery: duration(
      `How often the data of all members is compared (HashKV at one revision), counted from the creation of the cluster. 0s: only when etcd raises CORRUPT, and before members are touched. Absent: ${DEFAULT_COMPARE_DATA_EVERY}.`,
    ).optional(),
  })
  .describe('Work that keeps members small and finds out whether they hold the same data.');

export const recovery = z
  .object({
    totalLoss: kept(
      z
        .enum(['Report', 'RestoreLatestBackup'])
        .describe(
          'What to do when the loss of all volumes is proved and an EtcdBackup of this cluster has a verified object. A lost cluster is never replaced with an empty one.',
        ),
      RECOVERY_DEFAULTS.totalLoss,
    ),
  })
  .describe('What to do when everything is lost.');

export const service = z
  .object({
    type: kept(
      z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).describe('Type of the Service that clients use.'),
      'ClusterIP',
    ),
    annotations: textMap(64, 65536, 'Annotations of the Service.').optional(),
    labels: textMap(64, 63, 'Labels of the Service.').optional(),
    trafficDistribution: text(
      63,
      'Which members a client reaches first, such as PreferSameZone (core/v1 ServiceSpec).',
    ).optional(),
  })
  .describe('The Service <cluster>-client.');
