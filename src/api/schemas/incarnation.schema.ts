/** The lives of a cluster, as its status keeps them: the one of today, and the one before the last restore. */
import * as z from 'zod';
import { int64, text } from './parts.schema.ts';
import { lastSeen } from './quorum-loss.schema.ts';

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);
const name = (description: string) => text(253, description);

export const incarnation = z.object({
  token: text(253, "etcd's initial cluster token; never used twice."),
  members: z
    .array(
      z.object({
        name: name('Name of the member.'),
        peerURL: text(2048, 'The URL that the other members use.'),
      }),
    )
    .max(64)
    .describe(
      'The members that bootstrap together; after a lost status, all members that have a claim or a pod.',
    ),
  createdAt: time('When it was recorded, which is before anything was created.').optional(),
  rebuilt: z
    .boolean()
    .describe(
      'true: rebuilt from claims and pods after a lost status, and no quorum has listed the members since.',
    )
    .optional(),
  restore: z
    .object({
      name: name('The EtcdRestore.'),
      uid: text(64, 'Its uid.'),
      location: text(4096, 'The backup that it comes from.').optional(),
      revision: int64('The revision that its first member has at least.').optional(),
      keys: int64(
        'The number of keys of its first member at that revision. Absent: the keys of the backup were not counted and are not compared.',
      ).optional(),
      revisionBump: int64('By how much revisions were raised.').optional(),
      returned: z
        .boolean()
        .describe(
          'true: it is one that was kept, and was gone back to. Nothing is put on its volumes, and none is deleted when this is undone.',
        )
        .optional(),
      filled: z.boolean().describe('Whether the volume of its first member contains the backup.').optional(),
      seeded: z.boolean().describe('Whether the data of its first member was made of it.').optional(),
      opened: z
        .boolean()
        .describe('Whether clients were admitted before it completed. Then it is not undone any more.')
        .optional(),
      completedAt: time('When the restore completed; clients are not admitted before.').optional(),
    })
    .describe('The restore that made it; absent: it was bootstrapped empty.')
    .optional(),
});

export const previousIncarnation = z.object({
  incarnation: incarnation.describe('What it was.').optional(),
  clusterID: text(32, 'The cluster id that it had, in hexadecimal.').optional(),
  version: text(64, 'The version of etcd that its members ran.').optional(),
  members: z.array(name('A member.')).max(64).describe('The members that it had.').optional(),
  claims: z
    .array(name('A claim.'))
    .max(64)
    .describe('Claims that hold their data; never deleted.')
    .optional(),
  lastSeen: lastSeen.optional(),
});
