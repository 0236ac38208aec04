/**
 * What the planner answers. A decision is a value: it can be printed, stored in a workflow's history and compared.
 */
import type { Incarnation, StorageStatus } from '../../api/schemas/types.ts';
import type { Actor } from './actor.ts';

export interface MemberIdentity {
  readonly name: string;
  readonly id: string;
}

/** What a step is not taken without: the word of a person for exactly this. */
export interface Consent {
  readonly operation: Operation;
  /** Ids of members, or whatever else tells this from every other consent. */
  readonly ids: readonly string[];
}

/** What people said that a step was planned upon. The step is planned once more with it right before it is done. */
export type Word = Pick<Actor, 'approvals' | 'requests' | 'aborted' | 'failed'>;

/** A member whose pod is told that it is no beginner any more; of the pod by its uid. */
export interface SealedMember extends MemberIdentity {
  readonly uid: string;
}

/** One thing to do, naming exactly what it acts on. Each is an activity of the same name. */
export type Step = { readonly word?: Word } & Deed;

type Deed =
  | {
      readonly kind: 'recordIncarnation';
      readonly incarnation: Incarnation;
      readonly storage: StorageStatus;
      /** Given when the identity is rebuilt from stamps: then no member may bootstrap any more. */
      readonly clusterId?: string;
    }
  | {
      readonly kind: 'bootstrapMembers';
      readonly token: string;
      readonly members: readonly string[];
      /** The minor that all of them are born in: noted on pods that are made for it. */
      readonly settledIn?: string | undefined;
    }
  | { readonly kind: 'awaitQuorum'; readonly token: string; readonly members: readonly string[] }
  | {
      readonly kind: 'recordClusterId';
      readonly token: string;
      readonly clusterId: string;
      readonly members: readonly MemberIdentity[];
    }
  /** Members that have started, or a learner that is about to: on an empty volume they refuse from then on. */
  | { readonly kind: 'sealMembers'; readonly members: readonly SealedMember[] }
  /** Secrets of TLS.auto, by name: authorities and certificates. */
  | { readonly kind: 'issueCertificates'; readonly secrets: readonly string[] }
  /** Certificates of cert-manager, by name: created, or brought to what they are to say. */
  | { readonly kind: 'requestCertificates'; readonly certificates: readonly string[] }
  | { readonly kind: 'ensureObjects'; readonly objects: readonly SharedObject[] }
  | { readonly kind: 'awaitMembers'; readonly members: readonly string[] }
  | {
      readonly kind: 'restartMember';
      readonly token: string;
      readonly member: string;
      readonly claimUid: string;
      /** Absent: the one that the cluster runs. */
      readonly version?: string | undefined;
      /** The minor that the cluster has arrived in: noted on the pod. */
      readonly settledIn?: string | undefined;
    }
  | {
      readonly kind: 'addLearner';
      readonly member: string;
      readonly peerUrl: string;
      /** The ids of all members that the plan was made for. */
      readonly expected: readonly string[];
    }
  | { readonly kind: 'createMember'; readonly token: string; readonly member: string; readonly id: string }
  | { readonly kind: 'promoteLearner'; readonly member: string; readonly id: string }
  | {
      readonly kind: 'removeMember';
      readonly member: string;
      readonly id: string;
      readonly expected: readonly string[];
      /** Why: the evidence that its data is lost, or that it is not asked for any more. */
      readonly reason: string;
      /** Its data is lost: it is replaced, and counted. */
      readonly dead: boolean;
      /** It is a learner that never got going: recorded, so that the next one is not tried at once. */
      readonly givenUp?: true;
    }
  | {
      readonly kind: 'retireMember';
      readonly member: string;
      readonly pods: readonly { readonly name: string; readonly uid: string }[];
      readonly claims: readonly { readonly name: string; readonly uid: string }[];
      /** What becomes of its claims; a time is in milliseconds since the epoch. */
      readonly fate: 'Delete' | 'Retain' | { readonly keepUntil: number };
    }
  | {
      readonly kind: 'applyObjects';
      readonly objects: readonly {
        readonly object: SharedObject;
        /** The first field that is not as we apply it. */
        readonly because: string;
      }[];
    }
  | { readonly kind: 'moveLeader'; readonly from: string; readonly to: string; readonly toId: string }
  /** Nothing is wrong and it is too soon: before the next member is touched the cluster is to have been quiet. */
  | {
      readonly kind: 'awaitQuiet';
      /** The member that is next; absent after the last one, when the operation is to end. */
      readonly before?: string | undefined;
      readonly because: string;
      /** Milliseconds since the epoch. */
      readonly until: number;
    }
  /** Every member reads all its keys up to one revision; what comes of it is recorded (report/key-hashes.ts). */
  | {
      readonly kind: 'compareKeys';
      readonly members: readonly { readonly name: string; readonly uid: string }[];
    }
  | {
      readonly kind: 'stopMember';
      readonly member: string;
      /** Of its pod. */
      readonly uid: string;
      readonly claimUid: string;
      readonly purpose: 'rollout' | 'upgrade' | 'hibernation' | 'removal';
      /** The pod that is to be stopped right after this one for the same reason: clients are led away from both at once. */
      readonly alongside?: readonly { readonly name: string; readonly uid: string }[];
      readonly because: string;
    }
  /** Another version in the pod that there is: its container starts again, everything else about it stays. */
  | {
      readonly kind: 'replaceImage';
      readonly member: string;
      /** Of its pod. */
      readonly uid: string;
      readonly version: string;
      readonly because: string;
    }
  /** The EtcdBackup (by uid) is asked for a backup; the time of the question tells which run is the answer. */
  | {
      readonly kind: 'requestBackup';
      readonly backup: string;
      readonly uid: string;
      /** RFC 3339. */
      readonly asked: string;
      readonly because: string;
    }
  /** Until a run of the EtcdBackup that began since then has ended, well or not. */
  | { readonly kind: 'awaitBackup'; readonly backup: string; readonly uid: string; readonly asked: string }
  /** Until the member is ready and says itself that it runs this version. */
  | { readonly kind: 'awaitVersion'; readonly member: string; readonly version: string }
  /** Until every member says that the cluster, and from 3.6 on its data, are of this minor. */
  | { readonly kind: 'awaitAgreement'; readonly members: readonly string[]; readonly minor: string }
  | {
      readonly kind: 'expandClaim';
      readonly claim: string;
      readonly uid: string;
      /** Quantities. */
      readonly from: string;
      readonly size: string;
    }
  /** Labels and annotations that the claim lacks, or has otherwise than the template; null: one that it is not to have any more. */
  | {
      readonly kind: 'labelClaim';
      readonly claim: string;
      readonly uid: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  /** The finalizer and the annotations of the operator that the EtcdCluster lacks, by their names. */
  | { readonly kind: 'stampResource'; readonly token: string; readonly lacking: readonly string[] }
  /** Labels that pods of members were made with and lack. */
  | {
      readonly kind: 'labelPods';
      readonly pods: readonly {
        readonly name: string;
        readonly uid: string;
        readonly labels: Readonly<Record<string, string>>;
      }[];
    }
  /** Clients are led to these pods again. */
  | {
      readonly kind: 'admitMembers';
      readonly pods: readonly { readonly name: string; readonly uid: string }[];
    }
  | { readonly kind: 'deletePods'; readonly pods: readonly { readonly name: string; readonly uid: string }[] }
  /** Pods whose nodes are proved gone, or of which a person said so: taken out of Kubernetes without their nodes. */
  | {
      readonly kind: 'forceDeletePods';
      readonly pods: readonly { readonly name: string; readonly uid: string }[];
      readonly because: string;
    }
  | {
      readonly kind: 'releaseClaims';
      readonly claims: readonly { readonly name: string; readonly uid: string }[];
    }
  | { readonly kind: 'removeFinalizer' }
  /** Clients are kept out, then the pods are stopped and seen gone. */
  | {
      readonly kind: 'fenceMembers';
      readonly pods: readonly { readonly name: string; readonly uid: string }[];
    }
  /** From then on the cluster is another one. What it was is kept. */
  | {
      readonly kind: 'switchIncarnation';
      readonly restore: RestoreIdentity;
      /** The token that is recorded; absent: none. */
      readonly from?: string;
      readonly incarnation: Incarnation;
      readonly storage: StorageStatus;
      /** The members that there were, and claims that hold data. */
      readonly members: readonly string[];
      readonly keep: readonly { readonly name: string; readonly uid: string }[];
    }
  /** Brings the backup onto the volume of the first member. */
  | ({ readonly kind: 'fillVolume' } & Seeding)
  /** Makes a database of it. */
  | ({ readonly kind: 'unpackBackup' } & Seeding)
  /** Of members that are none any more: the snapshot has brought them. Ids in hexadecimal. */
  | { readonly kind: 'disarmAlarms'; readonly alarms: readonly StaleAlarm[] }
  | ({ readonly kind: 'startSeed'; readonly claimUid: string } & Seeding)
  /** Every volume is proved lost: makes an EtcdRestore of the newest verified backup, which is of this time and revision. */
  | {
      readonly kind: 'requestRestore';
      readonly name: string;
      readonly backup: string;
      readonly time: string;
      readonly revision?: number;
    }
  | { readonly kind: 'concludeRestore'; readonly restore: RestoreIdentity }
  /** It has failed, and is not begun again. */
  | { readonly kind: 'abandonRestore'; readonly restore: RestoreIdentity; readonly because: string }
  /** What was before is recorded again. The claims are those of the member that it was restored onto. */
  | {
      readonly kind: 'revertRestore';
      readonly restore: RestoreIdentity;
      readonly because: string;
      readonly claims: readonly { readonly name: string; readonly uid: string }[];
      /** Those that stayed until now because only they tell that their volumes are empty. */
      readonly pods: readonly { readonly name: string; readonly uid: string }[];
    };

/** An EtcdRestore. */
export interface RestoreIdentity {
  readonly name: string;
  readonly uid: string;
}

export interface StaleAlarm {
  readonly memberId: string;
  readonly alarm: 'NOSPACE' | 'CORRUPT';
}

interface Seeding {
  readonly restore: RestoreIdentity;
  readonly token: string;
  readonly member: string;
}

export type StepKind = Step['kind'];

/** The objects that a cluster has one of. */
export type SharedObject = 'peerService' | 'clientService' | 'disruptionBudget';

export const OPERATIONS = [
  'createCluster',
  'restoreCluster',
  'repairCluster',
  'scaleCluster',
  'replaceMember',
  'rolloutCluster',
  'moveLeader',
  'upgradeCluster',
  'hibernateCluster',
  'wakeCluster',
  'deleteCluster',
] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A later step of a plan, for people: by then it will be planned again from what is seen then. */
export interface PlannedStep {
  readonly kind: StepKind;
  readonly summary: string;
}

export type Decision =
  /** The resource is gone: its workflow ends. */
  | { readonly kind: 'gone' }
  /** Nothing to do. */
  | { readonly kind: 'idle'; readonly nextLookSeconds: number }
  /** There is work, and it must not or cannot be done now. `plan` is what would come. */
  | {
      readonly kind: 'blocked';
      readonly reason: string;
      readonly message: string;
      readonly nextLookSeconds: number;
      readonly plan: readonly PlannedStep[];
      /** It goes on when a person approves of this. */
      readonly consent?: Consent;
    }
  /** `step` is performed, then the world is looked at again; `plan` is the whole remaining plan, `step` first. */
  | {
      readonly kind: 'operate';
      readonly operation: Operation;
      readonly step: Step;
      readonly plan: readonly PlannedStep[];
      /** The approval that `step` uses up. */
      readonly approval?: number;
      /** What was asked for, where that can be asked for again: an abort holds for this one. */
      readonly subject?: string;
      /** It ends what was begun and aborted: the abort does not stop it. */
      readonly undo?: true;
    };
