/** What the status of a cluster keeps for the day on which its quorum is lost for good. */
import * as z from 'zod';
import { int64, listMap, text } from './parts.schema.ts';

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);
const name = (description: string) => text(253, description);

export const lastSeen = listMap(
  z
    .array(
      z.object({
        name: name('The member.'),
        id: text(32, "etcd's member id in hexadecimal."),
        learner: z.boolean().describe('true: it did not vote.').optional(),
        time: time('When it answered.'),
        revision: text(20, 'The revision of its store.').optional(),
        raftTerm: text(20, 'The term of raft that it was in.'),
        raftIndex: text(20, 'The index of the raft log up to which it knew entries to be committed.'),
      }),
    )
    .max(64)
    .describe(
      'What each member said when it last answered, at most once a minute. It shows what may be lost when a member does not come back.',
    ),
  'name',
);

export const survivors = listMap(
  z
    .array(
      z.object({
        name: name('The member.'),
        claimUID: text(64, 'The uid of the claim that contains the data.'),
        clusterID: text(32, "etcd's cluster id in the data, in hexadecimal."),
        revision: int64('The revision of the data.'),
        raftTerm: text(20, 'The term of raft after its log was replayed alone.'),
        raftIndex: text(20, 'The index of the last entry that it knew to be committed.'),
        hash: text(
          32,
          "etcd's hash of all keys at that revision, in hexadecimal; absent where etcd asks for a user.",
        ).optional(),
        time: time('When it was inspected.'),
      }),
    )
    .max(64)
    .describe(
      'What the data is of members that do not answer, as pods that cannot write to it found. Only while no quorum answers.',
    ),
  'name',
);

export const recovery = z
  .object({
    member: name('The survivor: the member with the newest data of those that are left.'),
    memberID: text(32, 'Its etcd member id, in hexadecimal.'),
    revision: int64('The revision of its store.'),
    raftIndex: text(20, 'The index of the raft log up to which it knows entries to be committed.').optional(),
    lastRevision: int64('The highest revision that was observed of any member; 0: none was.'),
    lastSeen: time('When that was. What was acknowledged later is not counted.').optional(),
    givenUp: z
      .array(
        z.object({
          name: name('The member.'),
          id: text(32, "etcd's member id in hexadecimal."),
          why: text(1024, 'What proves that it does not come back, or that its data is older.'),
        }),
      )
      .max(64)
      .describe('All other members.'),
  })
  .describe(
    'How a quorum that is lost for good can be recovered with an EtcdRequest; absent: it cannot, or need not.',
  );
