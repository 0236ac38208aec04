/** EtcdRequest: the source of its CRD, of `kubectl explain`, and of its types. */
import * as z from 'zod';
import { type Action, ACTIONS } from '../actions.ts';
import { cel, conditions, hexId, int32, int64, statusValue, text } from './parts.schema.ts';

/** Those of these actions, as a list of CEL. */
const listed = (rows: typeof ACTIONS) => `[${rows.map(({ action }) => `'${action}'`).join(', ')}]`;

/** Actions that have to name a member, and those that may. */
const OF_A_MEMBER = listed(ACTIONS.filter(({ member }) => member === 'required'));
const MEMBER_ACTIONS = ACTIONS.filter(({ member }) => member !== 'none');
/** Actions that only clusters, or only backups, understand. */
const OF_CLUSTERS = listed(ACTIONS.filter(({ of }) => of === 'clusters'));
const OF_BACKUPS = listed(ACTIONS.filter(({ of }) => of === 'backups'));
/** Items as users read them, the last one after `last`. */
function inWords(items: readonly string[], last: string): string {
  return [items.slice(0, -1).join(', '), ...items.slice(-1)].join(last);
}

/** A stored backup may be named together with the cluster that it must be of. */
const OF_BOTH = "self.action == 'VerifyBackup' && has(self.backupRef)";

const name = (description: string) =>
  cel(text(253, description).min(1), {
    rule: "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
    message: 'must be the name of an object in the namespace of the EtcdRequest',
  });

const recovery = z
  .object({
    clusterID: hexId('status.clusterID of the EtcdCluster.'),
    revision: int64('The revision of the survivor. What was written above it is lost.').min(1),
    lastRevision: int64(
      'The highest revision that was observed of the cluster before its quorum was lost, as status.recovery names it. 0: none was.',
    )
      .min(0)
      .default(0),
    givenUp: z
      .array(hexId('A member id in hexadecimal.'))
      .min(1)
      .max(16)
      .describe('The ids of all members but the survivor: they never come back.'),
  })
  .describe(
    'Of RecoverQuorum: exactly what is approved, as `kubectl etcd recover` shows it. A fact that has changed voids the request.',
  );

const requestSpec = cel(
  z
    .object({
      clusterRef: z
        .object({ name: name('Name of an EtcdCluster of this namespace.') })
        .describe(
          'The cluster that the request is about. Exactly one of clusterRef and backupRef is given; with VerifyBackup both may be: the cluster that the backup must be of.',
        )
        .optional(),
      backupRef: z
        .object({ name: name('Name of an EtcdBackup of this namespace.') })
        .describe('The backup that the request is about, instead of a cluster.')
        .optional(),
      action: z
        .enum(ACTIONS.map(({ action }) => action) as [Action, ...Action[]])
        .describe('What is asked for; docs/operations/requests.md says what each of them does.'),
      by: text(
        512,
        'Who asks: your user name, as `kubectl auth whoami` prints it. The admission policy of deploy/users refuses any other.',
      ).min(1),
      reason: text(200, 'Why; it appears in status, events and the history of the workflow.').optional(),
      member: text(
        253,
        `The member: ${inWords(
          MEMBER_ACTIONS.map(
            ({ purpose, action, absent }) =>
              `${purpose} (${action}${absent === undefined ? '' : `; absent: ${absent}`})`,
          ),
          ', or ',
        )}.`,
      )
        .min(1)
        .optional(),
      operation: text(256, 'Of Approve: the operation that waits, as the condition Progressing names it.')
        .min(1)
        .optional(),
      ids: z
        .array(text(256, 'An id.').min(1))
        .min(1)
        .max(16)
        .describe('Of Approve: exactly what is approved, as the condition Progressing names it.')
        .optional(),
      location: text(
        4096,
        'Of VerifyBackup: the stored backup, as status.history[].location of the EtcdBackup names it. Absent: the newest.',
      )
        .min(1)
        .optional(),
      verify: z
        .enum(['Structure', 'Restore'])
        .describe(
          'Of VerifyBackup: how the backup is verified, as spec.verify of an EtcdBackup. Absent: as the EtcdBackup says, and at least Structure.',
        )
        .optional(),
      recovery: recovery.optional(),
      expiresAfterSeconds: int32(
        'Seconds after its creation until which the request may be accepted, and until which an approval is valid.',
      )
        .min(10)
        .max(86_400)
        .default(3_600),
      ttlSecondsAfterFinished: int32('Seconds after which a finished request is deleted.')
        .min(0)
        .max(2_592_000)
        .default(86_400),
    })
    .describe('What is asked for. It cannot be changed.'),
  {
    rule: 'self == oldSelf',
    message: 'must stay as it was created: delete this EtcdRequest and create another one',
  },
  {
    rule: `has(self.clusterRef) != has(self.backupRef) || (${OF_BOTH})`,
    message: 'needs exactly one of clusterRef and backupRef: set one of them',
  },
  {
    rule: `has(self.clusterRef) || !(self.action in ${OF_CLUSTERS})`,
    message: 'this action needs clusterRef: set the name of the EtcdCluster',
    fieldPath: '.clusterRef',
  },
  {
    rule: `has(self.backupRef) || !(self.action in ${OF_BACKUPS})`,
    message:
      'this action needs backupRef: set the name of the EtcdBackup that says where the backup goes, or where it is',
    fieldPath: '.backupRef',
  },
  {
    rule: `has(self.member) || !(self.action in ${OF_A_MEMBER})`,
    message: 'this action needs member: set the name of a member such as example-1',
    fieldPath: '.member',
  },
  {
    rule: `!has(self.member) || self.action in ${listed(MEMBER_ACTIONS)}`,
    message: `only ${inWords(
      MEMBER_ACTIONS.map(({ action }) => action),
      ' and ',
    )} name a member: remove member`,
    fieldPath: '.member',
  },
  {
    rule: "(self.action == 'Approve') == (has(self.operation) && has(self.ids))",
    message: 'Approve needs operation and ids, and no other action has both: set or remove them',
    fieldPath: '.operation',
  },
  {
    rule: "self.action == 'Approve' || !(has(self.operation) || has(self.ids))",
    message: 'operation and ids belong to Approve: remove them',
    fieldPath: '.operation',
  },
  {
    rule: "(self.action == 'RecoverQuorum') == has(self.recovery)",
    message: 'RecoverQuorum needs recovery, and no other action has it: set or remove it',
    fieldPath: '.recovery',
  },
  {
    rule: "self.action == 'VerifyBackup' || !(has(self.location) || has(self.verify))",
    message: 'location and verify belong to VerifyBackup: remove them',
    fieldPath: '.location',
  },
);

const requestStatus = z
  .object({
    phase: statusValue(
      ['', 'Pending', 'Accepted', 'Completed', 'Refused', 'Failed', 'Aborted', 'Expired'],
      'How far the request is. All but Pending and Accepted are final.',
    ).optional(),
    message: text(4096, 'The outcome in plain text.').optional(),
    conditions: conditions.optional(),
    observedGeneration: int64('The metadata.generation that this status was written for.').optional(),
    workflowID: text(512, 'The Temporal workflow of the resource that the request is about.').optional(),
    runID: text(64, 'The run whose pass judged it last; its history contains that pass.').optional(),
    operation: text(256, 'The operation that carries it out, or that is approved.').optional(),
    ids: z
      .array(text(512, 'An id.'))
      .max(64)
      .describe(
        'What it is about, fixed when it was accepted: ids of members, uids of pods, the start of a run, or what it ends.',
      )
      .optional(),
    expiresAt: z.iso.datetime().max(64).describe('Until when it may be accepted.').optional(),
    completedAt: z.iso
      .datetime()
      .max(64)
      .describe('When it was finished; it is deleted ttlSecondsAfterFinished later.')
      .optional(),
  })
  .describe('What became of the request; written by the operator only.');

export const etcdRequestSchema = z
  .object({ spec: requestSpec, status: requestStatus.optional() })
  .describe(
    'Asks the operator to do something with a cluster or a backup now. Its creator is the person who asks.',
  );

export type RequestSpecInput = z.input<typeof requestSpec>;
export type RequestStatusInput = z.input<typeof requestStatus>;
