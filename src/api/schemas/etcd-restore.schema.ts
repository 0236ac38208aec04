/** EtcdRestore: the source of its CRD, of `kubectl explain`, and of its types. */
import * as z from 'zod';
import { DEFAULT_REVISION_BUMP } from './default-values.ts';
import { clusterTemplate } from './etcd-cluster.schema.ts';
import { cel, conditions, hexId, int64, intOrString, statusValue, text } from './parts.schema.ts';
import { blockRules, storeBlocks } from './stores.schema.ts';
import { STORE_TYPES } from '../stores.ts';

const hasType = "(has(self.backupStorageType) && self.backupStorageType != '')";

const at = cel(
  intOrString(
    64,
    'Latest, a time such as 2026-11-21T12:00:00Z (the newest backup until then), or a revision (the newest backup up to it).',
  ),
  {
    rule: "string(self) == 'Latest' || string(self).matches('^[0-9]+$') || string(self).matches('^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$')",
    message: 'must be Latest, a revision such as 4711, or a time such as 2026-11-21T12:00:00Z',
  },
);

const survivor = z
  .object({
    member: text(253, 'The member that has the newest data of those that are left.').min(1),
    memberID: hexId('Its etcd member id, in hexadecimal.'),
    claimUID: text(64, 'The uid of the claim that contains its data.').min(1),
    revision: int64('The revision that its data has at least.').min(1),
    givenUp: z
      .array(hexId('A member id in hexadecimal.'))
      .min(1)
      .max(16)
      .describe('The ids of all other members: their data is given up.'),
  })
  .describe(
    'Recovers a lost quorum from the data of this member, instead of a backup. The operator creates such an EtcdRestore for an approved EtcdRequest with the action RecoverQuorum; it is refused as soon as one of these facts has changed.',
  );

const incarnation = z
  .object({
    token: text(
      253,
      'The incarnation, as status.previousIncarnation or the annotation etcd.database.coreos.com/incarnation of the kept claims names it.',
    ).min(1),
  })
  .describe(
    'Goes back to an incarnation of the cluster whose claims are kept, instead of a backup: its members start again on their own claims. What was written to the cluster that runs is given up, and its claims are kept in turn.',
  );

const restoreSpec = cel(
  z
    .object({
      etcdCluster: z
        .object({
          name: cel(text(253, 'Name of the EtcdCluster; with clusterTemplate, of the new one.'), {
            rule: "size(self) <= 52 && self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
            message:
              'must name an EtcdCluster of this namespace: lower-case letters, digits and dashes, a letter first, at most 52 characters',
          }),
        })
        .describe('The cluster that is restored.'),
      backupStorageType: z
        .enum(['', ...STORE_TYPES])
        .describe(
          'The type of the store that contains the backup; the block of the same name contains its settings. Not with backupRef.',
        )
        .optional(),
      ...storeBlocks,
      backupRef: z
        .object({
          name: text(253, 'Name of an EtcdBackup of this namespace.').min(1),
          at: at.default('Latest'),
          location: text(
            4096,
            'Exactly this backup, as status.history[].location of the EtcdBackup names it; no other is restored. at is then left out.',
          )
            .min(1)
            .optional(),
        })
        .describe('A backup from the history of an EtcdBackup, instead of backupStorageType.')
        .optional(),
      survivor: survivor.optional(),
      incarnation: incarnation.optional(),
      sha256: cel(
        text(
          64,
          'The SHA-256 that the object must have, in hexadecimal, as status.history[].sha256 of the EtcdBackup shows it. An object with another one is refused.',
        ),
        { rule: "self.matches('^[0-9a-f]{64}$')", message: 'must be a SHA-256 in lower-case hexadecimal' },
      ).optional(),
      by: text(
        512,
        'Who asks: your user name, as `kubectl auth whoami` prints it. The admission policy of deploy/users refuses any other. status.history of the EtcdCluster names it.',
      )
        .min(1)
        .optional(),
      clusterTemplate: clusterTemplate.optional(),
      confirmClusterID: cel(
        text(
          32,
          "etcd's cluster id, which confirms that its data may be overwritten; needed unless the data of every member is proved lost. etcdctl endpoint status -w json prints it; status.clusterID of the EtcdCluster too.",
        ),
        {
          rule: "self == '' || self.matches('^(0x)?[0-9a-f]{1,16}$')",
          message: 'must be the cluster id in hexadecimal, as status.clusterID of the EtcdCluster shows it',
        },
      ).optional(),
      saveFirst: z
        .boolean()
        .describe(
          'true: before anything is stopped, an EtcdBackup of the cluster makes a backup of the data as it is now. It is kept as long as this EtcdRestore exists, and nothing is restored without it.',
        )
        .optional(),
      revisionBump: int64(
        'The number by which revisions are raised, so that watchers notice the restore. 0: revisions are not raised. Without effect with incarnation.',
      )
        .min(0)
        .max(1_000_000_000_000)
        .default(DEFAULT_REVISION_BUMP),
    })
    .describe('Which backup is put into which cluster.'),
  {
    rule: `(has(self.survivor) ? 1 : 0) + (has(self.incarnation) ? 1 : 0) + (has(self.backupRef) ? 1 : 0) + (${hasType} ? 1 : 0) == 1`,
    message:
      'exactly one of backupRef, backupStorageType, survivor and incarnation must be given: backupRef.name for a backup that an EtcdBackup made, backupStorageType with its block for any object',
  },
  {
    rule: "!has(self.survivor) || (has(self.confirmClusterID) && self.confirmClusterID != '' && !has(self.clusterTemplate))",
    message: 'survivor needs confirmClusterID, and no clusterTemplate: a quorum is recovered in place',
    fieldPath: '.survivor',
  },
  {
    rule: "!has(self.incarnation) || (has(self.confirmClusterID) && self.confirmClusterID != '' && !has(self.clusterTemplate))",
    message:
      'incarnation needs confirmClusterID, the id of the cluster that runs and is given up, and no clusterTemplate',
    fieldPath: '.incarnation',
  },
  {
    rule: "!has(self.backupRef) || !has(self.backupRef.location) || string(self.backupRef.at) == 'Latest'",
    message: 'backupRef names a backup by location or by at: remove one of them',
    fieldPath: '.backupRef',
  },
  ...blockRules('backupStorageType'),
);

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);

const source = z.object({
  location: text(4096, 'Where the object is.'),
  size: int64('Bytes of the object.'),
  sha256: text(64, 'Of the object, in hexadecimal.'),
  snapshotSize: int64('Bytes of the snapshot in it.'),
  compression: statusValue(['none', 'gzip', 'zstd'], 'How the object is compressed.'),
  revision: int64('The lowest revision that the snapshot must have. Absent: it was not recorded.').optional(),
  keys: int64(
    'The number of keys of the snapshot at that revision. Absent: it was not recorded, and the keys are not compared.',
  ).optional(),
  etcdVersion: text(64, 'The version of the etcd that it comes from, if known.').optional(),
  storageVersion: text(
    64,
    'The format of the data in it, such as 3.6.0: no earlier minor of etcd reads it. Absent before 3.6.',
  ).optional(),
  authEnabled: z
    .boolean()
    .describe('true: authentication is enabled in it. Not known for compressed objects.')
    .optional(),
  clusterID: text(32, 'The cluster that it comes from, in hexadecimal, if known.').optional(),
  time: time('When it was taken, where that is known.').optional(),
  store: statusValue(
    ['First', 'Second'],
    'For spec.backupRef to an EtcdBackup with a second store: which of its stores it is read from.',
  ).optional(),
  because: text(
    4096,
    'Why another store was read than the first one, or than the one in which it was examined.',
  ).optional(),
});

const chosen = z.object({
  name: text(253, 'spec.backupRef.name.'),
  at: text(64, 'spec.backupRef.at.'),
  location: text(4096, 'The object that was chosen.'),
  sha256: text(64, 'Its SHA-256 as status.history of the EtcdBackup recorded it.').optional(),
  copy: text(4096, 'Its copy in the second store, if there is one.').optional(),
});

const saved = z.object({
  backup: text(253, 'The EtcdBackup that has it.'),
  location: text(4096, 'Where it is.'),
  time: time('When it was taken.'),
  revision: int64('The revision that it holds.').optional(),
  sha256: text(64, 'Of the object, in hexadecimal.').optional(),
});

const refusal = z.object({
  generation: int64('The metadata.generation that is refused.'),
  reason: text(64, 'As the reason of the condition Accepted.'),
  message: text(4096, 'What is wrong, and what to do.'),
  time: time('When it was first refused for this reason.').optional(),
  lookAgain: text(256, 'The value of the annotation look-again when it was refused.').optional(),
});

const givenUp = z.object({
  token: text(253, 'The incarnation.'),
  clusterID: text(32, 'Its cluster id, in hexadecimal.'),
  since: time('When it was recorded.').optional(),
  revision: int64('Its revision, at least: it is written to until clients are kept out.').optional(),
  time: time('When it was looked at.'),
});

const restoreStatus = z
  .object({
    succeeded: z
      .boolean()
      .describe('Whether the cluster has its quorum, size and revision again, as read through every member.')
      .optional(),
    reason: text(4096, 'Why it failed, or is refused.').optional(),
    phase: statusValue(
      ['', 'Pending', 'Validating', 'Fencing', 'Seeding', 'Growing', 'Succeeded', 'Failed', 'Refused'],
      'How far the restore is.',
    ).optional(),
    conditions: conditions.optional(),
    observedGeneration: int64('The metadata.generation that this status was written for.').optional(),
    workflowID: text(512, 'The Temporal workflow that performs the restore.').optional(),
    step: text(1024, 'The step that is being performed.').optional(),
    generation: int64('The metadata.generation that source was found for.').optional(),
    refusal: refusal
      .describe(
        'Why it is refused. The refusal holds for this generation, whatever happens to the cluster, until spec changes, the annotation etcd.database.coreos.com/look-again changes, or the workflow receives the signal resync.',
      )
      .optional(),
    chosen: chosen
      .describe('What spec.backupRef meant when it was first looked at; nothing else is restored for it.')
      .optional(),
    saved: saved
      .describe(
        'For spec.saveFirst: the backup of what the cluster held before. It is not pruned as long as this EtcdRestore exists.',
      )
      .optional(),
    source: source.describe('The backup, after it was read completely and verified.').optional(),
    givenUp: givenUp
      .describe('With spec.incarnation: the cluster that ran, as it was when it was last looked at.')
      .optional(),
    clusterID: text(32, 'The cluster id after the restore, in hexadecimal.').optional(),
    revision: int64('The revision after the restore.').optional(),
    previousIncarnation: z
      .object({
        claims: z
          .array(text(253, 'A claim.'))
          .max(64)
          .describe('Claims of the members before the restore; their data is kept.')
          .optional(),
      })
      .describe('What the cluster was before.')
      .optional(),
    startedAt: time('When it began.').optional(),
    completedAt: time('When it ended.').optional(),
  })
  .describe('What was done; written by the operator only.');

export const etcdRestoreSchema = z
  .object({ spec: restoreSpec, status: restoreStatus.optional() })
  .describe('Restores a backup into an existing cluster or a new one.');

export type RestoreSpecInput = z.input<typeof restoreSpec>;
export type RestoreStatusInput = z.input<typeof restoreStatus>;
