/**
 * What is said of each operation of a cluster, one row each: the planner and its report, workflows, metrics and the catalogue of conditions
 * take it from here. What each operation does is its row in `src/planner/operations/index.ts`. The key is its name, which is the type of its
 * workflow. Pure data.
 */
import type { ConditionTable } from './conditions/table.ts';
import { OBSTACLES } from './obstacles/catalogue.ts';
import { WAIT } from './obstacles/rows.ts';

/** What users ask a cluster or a backup for, by an EtcdRequest, a command of the plugin or a message to the workflow. */
export interface ActionFacts {
  /** The command of `kubectl etcd`. */
  readonly command: string;
  /** What it is asked of. */
  readonly of: 'clusters' | 'backups' | 'both';
  /** Whether a member is named. */
  readonly member: 'none' | 'optional' | 'required';
  readonly about: string;
  /** What happens, said before it is sent. @param target such as `cluster/example`; `member` is '' when none is named */
  readonly effect: (target: string, member: string) => string;
}

/** Of which member a request is, where it can be of one. */
type OfMember =
  | { readonly member: 'none' }
  | {
      readonly member: 'optional' | 'required';
      /** The field of the messages that names the member. */
      readonly field: string;
      /** What the member is named for, and what it means when none is named. */
      readonly purpose: string;
      readonly absent?: string;
    };

/** A request that an operation of a cluster carries out. */
export type RequestFacts = Omit<ActionFacts, 'member'> &
  OfMember & {
    /** The action of an EtcdRequest. */
    readonly action: string;
    /** The name of the signal and of the update. */
    readonly kind: string;
    /** The messages for users; their fields follow. */
    readonly description: string;
  };

interface OperationFacts {
  /** The reason of the condition Progressing while it is performed, and what that means. */
  readonly progress: readonly [reason: string, meaning: string];
  /** Why it is performed when no person asked for it, as the history in status has it. */
  readonly why: string;
  /** It raises the PodDisruptionBudget before it touches a member: lowering it again is its last step. */
  readonly raisesBudget?: true;
  /** A plan of nothing but these steps takes turns with passes; every other plan goes first. */
  readonly takesTurns?: readonly string[];
  /** What users request, where it carries that out. */
  readonly request?: RequestFacts;
}

const MAINTAINING = [
  'Maintaining',
  'Leadership is being transferred, or a member is being defragmented.',
] as const;
const REPAIRING = ['Repairing', 'A member is being restarted or replaced.'] as const;

/** In the order of the documentation. */
export const OPERATION_FACTS = {
  createCluster: {
    progress: ['Creating', 'The cluster is being created.'],
    why: 'the cluster does not exist yet',
  },
  scaleCluster: {
    progress: ['Scaling', 'Members are being added or removed.'],
    why: 'spec.size and the number of members differ',
    raisesBudget: true,
  },
  upgradeCluster: {
    progress: ['Upgrading', 'Members are being upgraded or downgraded.'],
    why: 'spec.version asks for another version than the members run',
    raisesBudget: true,
  },
  repairCluster: {
    progress: REPAIRING,
    why: 'a pod or another object of the cluster is missing or not as it should be',
    // They touch no member, and somebody may undo them again and again, on as many clusters as there are.
    takesTurns: ['applyObjects', 'ensureObjects'],
  },
  replaceMember: {
    progress: REPAIRING,
    why: 'a member is lost, or its data differs',
    raisesBudget: true,
    request: {
      action: 'ReplaceMember',
      command: 'replace',
      kind: 'replaceMember',
      of: 'clusters',
      member: 'required',
      field: 'member',
      purpose: 'to replace',
      about: 'replace a member by a new one',
      description: 'replace a member with a new one',
      effect: (target, member) =>
        `replace the member ${member} of ${target}: a new member joins, the old one is stopped and removed, and its claim is kept or deleted as storage.retain says`,
    },
  },
  moveLeader: {
    progress: MAINTAINING,
    why: 'the pod of the leader is being deleted',
    request: {
      action: 'MoveLeader',
      command: 'move-leader',
      kind: 'moveLeader',
      of: 'clusters',
      member: 'required',
      field: 'to',
      purpose: 'to lead',
      about: 'transfer leadership to a member',
      description: 'move the leadership to a member',
      effect: (target, member) => `transfer the leadership of ${target} to ${member}`,
    },
  },
  rolloutCluster: {
    progress: ['RollingOut', 'A changed specification is being rolled out to the members.'],
    why: 'pods are not what the specification asks for',
    raisesBudget: true,
    request: {
      action: 'Restart',
      command: 'restart',
      kind: 'restart',
      of: 'clusters',
      member: 'optional',
      field: 'member',
      purpose: 'to restart',
      absent: 'all, one at a time',
      about: 'restart every member, one at a time, or only one',
      description: 'restart one member, or all members one at a time',
      effect: (target, member) =>
        member === ''
          ? `restart every member of ${target}, one at a time, the leader last`
          : `restart the member ${member} of ${target}`,
    },
  },
  restoreCluster: {
    progress: ['Restoring', 'A backup is being restored.'],
    why: 'an EtcdRestore asks for it',
  },
  recoverQuorum: {
    progress: ['RecoveringQuorum', 'A cluster whose quorum is lost for good is recovered from one member.'],
    why: 'a quorum cannot come back, and a person approved the recovery from the best member that is left',
  },
  defragmentMembers: {
    progress: MAINTAINING,
    why: 'the files of members have much free space',
    raisesBudget: true,
    request: {
      action: 'Defragment',
      command: 'defragment',
      kind: 'defragment',
      of: 'clusters',
      member: 'optional',
      field: 'member',
      purpose: 'to defragment',
      absent: 'all, one at a time',
      about: 'give free space in the files of members back to the file system',
      description: 'defragment one member, or all members one at a time',
      effect: (target, member) =>
        member === ''
          ? `defragment every member of ${target}, one at a time, the leader last`
          : `defragment the member ${member} of ${target}, which answers nothing meanwhile`,
    },
  },
  reclaimSpace: {
    progress: [
      'ReclaimingSpace',
      'A database is full, and room is made in it; writes are admitted when every member has room.',
    ],
    why: 'etcd raised NOSPACE and refuses writes',
    raisesBudget: true,
  },
  compareData: {
    progress: [
      'ComparingData',
      'The data of the members is compared; clients are led away from one that differs, and CORRUPT is disarmed when nothing differs any more.',
    ],
    why: 'the members are to hold the same data',
  },
  hibernateCluster: {
    progress: ['Hibernating', 'Pods are being stopped; volumes remain.'],
    why: 'spec.hibernated is true',
  },
  wakeCluster: {
    progress: ['Waking', 'The members of a hibernated cluster are being started.'],
    why: 'spec.hibernated is false',
  },
  deleteCluster: {
    progress: ['Deleting', 'The cluster is being deleted.'],
    why: 'the EtcdCluster is being deleted',
  },
} as const satisfies Readonly<Record<string, OperationFacts>>;

/** The name of an operation. */
export type Operation = keyof typeof OPERATION_FACTS;

/** Every operation. */
export const OPERATION_NAMES = Object.keys(OPERATION_FACTS) as Operation[];

/** What is said of an operation; undefined of one of another release. */
export function factsOf(operation: string): OperationFacts | undefined {
  return Object.hasOwn(OPERATION_FACTS, operation) ? OPERATION_FACTS[operation as Operation] : undefined;
}

/** Every way in which an operation ends. */
export const OUTCOMES = [
  'Succeeded',
  'Failed',
  'Aborted',
  'Superseded',
  'Interrupted',
  'RolledBack',
] as const;

type Progress = { readonly [Name in Operation]: (typeof OPERATION_FACTS)[Name]['progress'] }[Operation];

/** The reasons of Progressing=True. */
export const PROGRESS_REASONS = Object.assign(
  {},
  ...Object.values(OPERATION_FACTS).map(({ progress: [reason, meaning] }) => ({ [reason]: [meaning, WAIT] })),
) as { readonly [Reason in Progress[0]]: readonly [meaning: string, whatToDo: string] };

/** The conditions that are an operation's own. */
export const OPERATION_CONDITIONS = {
  /** Is the number of members changing? There only while it is. */
  Scaling: {
    True: {
      ScalingUp: ['A member is being added.', WAIT],
      ScalingDown: ['A member is being removed.', WAIT],
    },
  },
  /** Is the version changing? There only while it is. */
  Upgrading: {
    True: {
      RollingUpgrade: ['Members are being upgraded to a newer version, one at a time.', WAIT],
      RollingDowngrade: ['Members are being downgraded to an older version, one at a time.', WAIT],
      RollingBack: ['An upgrade failed; members return to the old version.', WAIT],
      AwaitingApproval: OBSTACLES.AwaitingApproval,
    },
    False: {
      Waiting: ['An upgrade waits for something that passes by itself; the message names it.', WAIT],
      Blocked: ['An upgrade is not safe now.', 'Read the message.'],
    },
  },
} as const satisfies ConditionTable;
