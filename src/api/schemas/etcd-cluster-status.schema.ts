/** EtcdCluster.status: the CoreOS operator's fields with their meaning, and what this operator knows besides. */
import * as z from 'zod';
import { OUTCOMES } from '../operations.ts';
import { incarnation, previousIncarnation } from './incarnation.schema.ts';
import { lastSeen, recovery, survivors } from './quorum-loss.schema.ts';
import { awaitedApproval, signals, userRequests } from './user-requests.schema.ts';
import { conditions, int32, int64, listMap, rawObject, statusValue, text } from './parts.schema.ts';

const time = (description: string) => z.iso.datetime({ offset: true }).max(64).describe(description);
const name = (description: string) => text(253, description);

const memberDetail = z.object({
  name: name('Name of the member, of its pod and of its claim.'),
  id: text(32, "etcd's member id in hexadecimal, as etcdctl prints it.").optional(),
  role: statusValue(
    ['Leader', 'Follower', 'Learner', 'Unstarted'],
    'What the member is in the cluster.',
  ).optional(),
  version: text(64, 'The etcd version that the member runs, or ran when it last answered.').optional(),
  health: statusValue(
    ['Healthy', 'Unhealthy', 'Unknown'],
    'Unknown: the operator could not reach it, which does not mean that it is down.',
  ),
  claim: name('The claim that holds its data.').optional(),
  claimUID: text(64, 'Its uid: the member is never started on another claim of this name.').optional(),
  node: name('The node it runs on, or ran on last.').optional(),
  lostSince: time('Since when the loss of the data of the member is proved.').optional(),
  restarts: int32('How often etcd was started again in its pod, if it ended by a fault last.').optional(),
  lastExit: text(512, 'Why etcd ended last, unless it was asked to.').optional(),
});

const performed = z.object({
  type: text(63, 'What is being done, such as createCluster.'),
  goal: text(
    253,
    'Its goal, if the goal can change while it runs: the version of an upgrade, the EtcdRestore, or the request of a person.',
  ).optional(),
  startedAt: time('When it began.').optional(),
  workflowID: text(512, 'The Temporal workflow that performs it.').optional(),
});

const cause = z.object({
  why: text(1024, 'Why it was begun, and its first step.').optional(),
  requestedBy: text(
    512,
    'The person who requested it, if one did: by an EtcdRequest or by a message to the workflow.',
  ).optional(),
  approvedBy: text(
    512,
    'The person who approved of a step that is not taken without an approval.',
  ).optional(),
  from: text(
    64,
    'What it changes from: a version for an upgrade, a number of members for a change of the size.',
  ).optional(),
  to: text(64, 'What it changes to.').optional(),
});

const underWay = performed.extend({
  step: text(1024, 'The step that is being performed.').optional(),
  message: text(4096, 'What it waits for, or why it does not go on.').optional(),
  remaining: z
    .array(text(1024, 'A step.'))
    .max(256)
    .describe('The steps that are planned after this one, up to the next change of the membership.')
    .optional(),
});

const operation = underWay.extend({
  ...cause.shape,
  stepsDone: int32(
    'How many of its steps are behind it: taken, or not needed any more. Absent: not known, because another release began or continued it.',
  ).optional(),
});

const ended = {
  outcome: statusValue(
    OUTCOMES,
    'How it ended. Succeeded: its goal was observed. Failed: a step failed and was not tried again. Aborted: a person stopped it. Superseded: another operation took precedence. Interrupted: it is no longer planned, and its goal was not reached. RolledBack: its changes were undone.',
  ),
  completedAt: time('When it ended.').optional(),
};

const lastOperation = underWay.extend(ended);

const pastOperation = performed.extend({
  ...cause.shape,
  ...ended,
  message: text(1024, 'Why it did not succeed.').optional(),
  runID: text(
    64,
    'The run of that workflow which performed it last. Absent: the operator did not learn of it, for example because Temporal lost its database.',
  ).optional(),
});

const keyHashes = z.object({
  comparedAt: time('When the last member had answered.'),
  revision: text(32, 'The revision up to which every member hashed its keys.'),
  members: z
    .array(
      z.object({
        name: name('The member.'),
        podUID: text(64, 'Of its pod.'),
        container: text(512, 'The container that it answered from.').optional(),
        hash: text(
          32,
          "etcd's hash of its keys, in hexadecimal. Absent: the member did not report it.",
        ).optional(),
        compactRevision: text(32, 'The revision of its last compaction.').optional(),
        message: text(1024, 'Why the member did not report a hash.').optional(),
      }),
    )
    .max(64)
    .describe('What each member answered.'),
});

const dataComparison = z.object({
  comparedAt: time('When the members were last compared.'),
  revision: text(32, 'The revision up to which they were compared.'),
  members: z
    .array(
      z.object({
        name: name('The member.'),
        id: text(32, "etcd's member id in hexadecimal."),
        hash: text(32, 'The hash of its keys, in hexadecimal.').optional(),
        compactRevision: text(
          32,
          'The revision of its last compaction: only hashes with the same one can be compared.',
        ).optional(),
        refuses: z
          .boolean()
          .describe('true: etcd refuses to start, because its data is not that of a peer.')
          .optional(),
        message: text(1024, 'Why it was not compared.').optional(),
      }),
    )
    .max(64)
    .describe('The voters, and what each answered.'),
  triedAt: time(
    'When that was last tried, if it did not come about since and what was found before still holds.',
  ).optional(),
  lastEqual: z
    .object({
      time: time('When.'),
      revision: text(32, 'At which revision.'),
    })
    .describe('When all members last held the same data. Absent: not seen yet.')
    .optional(),
  alarms: z
    .array(text(32, 'An id in hexadecimal; 0: etcd does not say which.'))
    .max(64)
    .describe('The members of which etcd had raised CORRUPT then.')
    .optional(),
  suspects: z
    .array(text(32, 'An id in hexadecimal.'))
    .max(64)
    .describe(
      'The members that were found to differ since all last held the same, or that hold different data without a majority.',
    )
    .optional(),
});

const storage = z.object({
  kind: statusValue(['PersistentVolumeClaim', 'EmptyDir'], 'Where members keep their data.'),
  storageClassName: name('StorageClass of the claims.').optional(),
  size: text(32, 'The size that the volume of every member has.').optional(),
  decidedBy: statusValue(
    ['Spec', 'DefaultStorageClass', 'NoDefaultStorageClass'],
    'What decided the kind: the specification, or whether there was a default StorageClass.',
  ).optional(),
});

const tls = z.object({
  mode: statusValue(['static', 'auto', 'certManager'], 'The way that spec.TLS chose.'),
  peer: z.boolean().describe('Whether members talk TLS to each other; decided once.'),
  client: z.boolean().describe('Whether clients talk TLS to members; decided once.'),
  certificates: listMap(
    z
      .array(
        z.object({
          role: statusValue(['peer', 'server', 'operator'], 'What the certificate is for.'),
          secret: name('The Secret that holds it.'),
          keys: statusValue(
            ['CoreOS', 'Standard'],
            'The names of the keys of the Secret: CoreOS for peer.crt and similar names, Standard for tls.crt, tls.key and ca.crt.',
          ),
          notAfter: time('When it expires.').optional(),
        }),
      )
      .max(8)
      .describe('The certificates in use, and when they expire.'),
    'role',
  ).optional(),
});

const replacement = z.object({
  time: time('When.'),
  member: name('The member that was removed.'),
  replacedBy: name('The member that took its place.').optional(),
  notNeeded: z
    .boolean()
    .describe('true: no member is to take its place any more, because spec.size was lowered.')
    .optional(),
  reason: text(4096, 'The evidence that it was lost.').optional(),
});

const givenUp = z.object({
  time: time('When.'),
  generation: int64('The metadata.generation that it was made from.'),
  member: name('The member that was removed again.'),
  reason: text(4096, 'Why it never became a voter.'),
});

const upgradeFailure = z.object({
  version: text(64, 'The version that a member failed with.'),
  member: name('The member, which was rolled back to the previous version.'),
  message: text(4096, 'How it failed.'),
  time: time('When.'),
  generation: int64('The specification that it was; another one is tried.'),
});

const beforeUpgrade = z.object({
  version: text(64, 'The version that the members ran.'),
  to: text(64, 'The version that was asked for.'),
  backup: z
    .object({
      name: name('The EtcdBackup that has it.'),
      location: text(4096, 'Where it is.'),
      time: time('When it was taken.'),
      revision: int64('The revision it holds.').optional(),
    })
    .describe('The newest verified backup when the first member was upgraded; absent: there was none.')
    .optional(),
});

const members = z.object({
  ready: z.array(name('A pod.')).max(64).describe('Members whose pod is ready.').optional(),
  unready: z.array(name('A pod.')).max(64).describe('Members whose pod is not ready.').optional(),
  details: listMap(
    z.array(memberDetail).max(64).describe('What was observed of each member.'),
    'name',
  ).optional(),
});

export const clusterStatus = z
  .object({
    phase: statusValue(
      ['', 'Creating', 'Running', 'Failed'],
      'The phase of the cluster. Failed is not final: it ends when its cause is corrected.',
    ).optional(),
    reason: text(4096, 'Why the phase is Failed.').optional(),
    attention: text(64, 'Reason of the condition that needs attention; absent: none.').optional(),
    controlPaused: z.boolean().describe('Whether the operator takes no steps.').optional(),
    conditions: conditions.optional(),
    size: int32('Members of the etcd cluster, learners included.').optional(),
    ready: text(16, 'Ready members of asked members, such as 2/3.').optional(),
    serviceName: name('The Service that clients use.').optional(),
    clientPort: int32('The port of that Service.').optional(),
    members: members.describe('The members, by name.').optional(),
    currentVersion: text(
      64,
      'The version that every member runs, or ran before the current upgrade.',
    ).optional(),
    targetVersion: text(64, 'The target version of the current upgrade; empty otherwise.').optional(),
    downgradeVersion: text(
      64,
      "The version, such as 3.6.0, for which the operator enabled etcd's downgrade; empty while it is not enabled.",
    ).optional(),
    upgradeFailure: upgradeFailure.describe('The upgrade that was stopped last.').optional(),
    beforeUpgrade: beforeUpgrade
      .describe(
        'What there was before the last upgrade to another minor version, for a way back after its point of no return.',
      )
      .optional(),
    observedGeneration: int64('The metadata.generation that this status was written for.').optional(),
    workflowID: text(512, 'The Temporal workflow of this cluster.').optional(),
    selector: text(1024, 'Label selector of the pods, for the scale subresource.').optional(),
    clusterID: text(
      32,
      "etcd's cluster id in hexadecimal, as etcdctl prints it. Empty until the cluster bootstrapped.",
    ).optional(),
    incarnation: incarnation.describe('The bootstrap or restore that this cluster comes from.').optional(),
    previousIncarnation: previousIncarnation
      .describe('The incarnation before the last restore; an abort returns to it.')
      .optional(),
    lastSerial: int32('The highest number that a member of this cluster ever had.').optional(),
    leader: name('The member that leads.').optional(),
    raftTerm: text(32, 'The term that it leads in.').optional(),
    leaderSince: time('Since when it was seen to lead in that term.').optional(),
    operation: operation.describe('What is being done now.').optional(),
    awaitedApproval: awaitedApproval
      .describe(
        'What the operator does only after an approval, with an EtcdRequest or a signal that names the same operation and ids.',
      )
      .optional(),
    userRequests: userRequests.optional(),
    signals: signals.optional(),
    keyHashes: keyHashes
      .describe('The result of the last comparison of the data of the members; kept for some minutes.')
      .optional(),
    dataComparison: dataComparison
      .describe('Whether the members hold the same data, as they were last compared.')
      .optional(),
    lastOperation: lastOperation.describe('What was done last.').optional(),
    history: z
      .array(pastOperation)
      .max(10)
      .describe('The last ten operations that have ended, newest first.')
      .optional(),
    settings: rawObject(
      'The last value of each field of the specification; it stays in force when the field is omitted.',
    ).optional(),
    storage: storage
      .describe(
        'Where members keep their data. The kind is decided once; class and size are those that every volume has.',
      )
      .optional(),
    tls: tls.describe('How traffic is secured; absent: plain text.').optional(),
    lastBackup: z
      .object({
        time: time('When it was taken.').optional(),
        revision: int64('The revision it holds.').optional(),
        location: text(4096, 'Where it is.').optional(),
      })
      .describe('The newest verified backup of this cluster.')
      .optional(),
    lastSeen: lastSeen.optional(),
    survivors: survivors.optional(),
    recovery: recovery.optional(),
    learner: z
      .object({
        id: text(32, "etcd's member id in hexadecimal."),
        name: text(253, 'Its name, which etcd does not know before it has started.').optional(),
        since: time(
          'When it last made progress, to a minute: it is removed when it makes none for ten minutes.',
        ),
        applied: text(20, 'The index of the raft log up to which it had applied entries then.').optional(),
      })
      .describe('The member that is being added and does not vote yet.')
      .optional(),
    givenUp: givenUp.describe('The last new member that did not start and was removed again.').optional(),
    replacements: z.array(replacement).max(64).describe('Members that were replaced lately.').optional(),
  })
  .describe('What was observed; written by the operator only.');

export type ClusterStatusInput = z.input<typeof clusterStatus>;
