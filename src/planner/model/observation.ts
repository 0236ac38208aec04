/**
 * What one pass saw. Gathered once, before anything is decided; every function of the planner takes this record
 * and asks the world for nothing more. Plain JSON.
 */
import type { BackupOfCluster } from './backups-of-cluster.ts';
import type { RestoreOfCluster } from './restore-of-cluster.ts';
import type { ClusterConfig } from '../../api/defaults/etcd-cluster.ts';
import type { EtcdCluster, EtcdClusterStatus, EtcdRequest } from '../../api/schemas/types.ts';
import type { FirstStart } from '../../objects/first-start.ts';
import type { TrustedAuthorities } from '../../objects/trusted.ts';
import type { History } from '../../etcd/answers.ts';
import type { MemberProbe } from './member-probe.ts';
import type { TlsFacts } from './tls-facts.ts';

/** The custom resource as read. */
export interface ClusterFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly deleting: boolean;
  /** It is deleted with `--cascade=orphan`, and Kubernetes has not taken the owner off everything yet. */
  readonly orphaning?: true | undefined;
  /** Our finalizer is on it: nothing may be created before that, or a deletion could not be followed up. */
  readonly hasFinalizer: boolean;
  readonly object: EtcdCluster;
  /** The specification with its defaults filled in. */
  readonly config: ClusterConfig;
  readonly status: EtcdClusterStatus;
}

/** Why a pod does not start, in the words of the kubelet or the scheduler. */
export interface PodTrouble {
  readonly reason: string;
  readonly message: string;
  /** The container that the words are about, when it is none of ours: they prove nothing of etcd. */
  readonly container?: string | undefined;
}

/** Why a container of etcd ended. */
interface ContainerExit {
  /** Of the kubelet, such as OOMKilled. */
  readonly reason: string;
  readonly message: string;
  /** In milliseconds since the epoch. */
  readonly at: number | undefined;
}

/** The node of a pod that stays although it is deleted. */
export interface PodHost {
  /** Whether Kubernetes has the Node; undefined: it may not be looked at. */
  readonly exists: boolean | undefined;
  /** Its condition Ready: True, False or Unknown. */
  readonly ready?: string;
  /** It is marked as one that does not run. */
  readonly outOfService?: boolean;
}

export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  /** Controlled by this very cluster (by uid), not merely labelled like it. */
  readonly owned: boolean;
  /** No controller owns it: Kubernetes took the owner off when that was deleted as an orphan, or somebody else did. */
  readonly unowned?: true | undefined;
  /** The note of a cluster that was deleted and left it (left-behind.ts). */
  readonly leftBy?: string | undefined;
  /** The incarnation token that is stamped on it. */
  readonly token: string | undefined;
  readonly clusterId: string | undefined;
  readonly phase: string;
  readonly ready: boolean;
  /**
   * Not ready because its node is not heard of: Kubernetes says so of pods whose kubelet called them ready when it spoke last.
   */
  readonly statusStale?: true | undefined;
  /** Etcd's container is ready, and the pod is not: because of containers beside it, or a readiness gate. In words. */
  readonly notReadyBecause?: string | undefined;
  readonly deleting: boolean;
  /** Of one that is being deleted: when its grace ends, in milliseconds since the epoch. */
  readonly goneBy?: number | undefined;
  /** Of one that is being deleted: who has to agree before it goes. */
  readonly finalizers?: readonly string[] | undefined;
  /** Looked up only when it stays long after it was to be gone, or when its etcd does not run. */
  readonly host?: PodHost | undefined;
  readonly ip: string | undefined;
  readonly node: string | undefined;
  /** What its node says, and why pods are to leave it; looked up only of members with their data in their pods, and absent where nodes may not be read. */
  readonly nodeState?: { readonly left?: string } | undefined;
  /** By which the others find its member, as its command line says, which nobody can change. */
  readonly peerUrl?: string | undefined;
  /** The version of its image, without leading `v`. */
  readonly version: string | undefined;
  readonly trouble: PodTrouble | undefined;
  /** Its etcd has never run, as its kubelet says. */
  readonly unstarted?: true | undefined;
  /** How often etcd was started again in this pod, when it had ended by a fault; and why it ended last. */
  readonly restarts?: number | undefined;
  readonly lastExit?: ContainerExit | undefined;
  /** What the operator rendered into it (objects/rendered.ts); a pod that it was taken off has none. */
  readonly stamp?: string | undefined;
  /** The specification that it was made from (objects/made-from.ts). */
  readonly madeFrom?: string | undefined;
  /** The authorities that its Secrets held when it was made; undefined: not known, the note was taken off. */
  readonly authorities?: TrustedAuthorities | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** What it would do on an empty volume. */
  readonly firstStart: FirstStart;
  /** When it last became ready, or ceased to be, in milliseconds since the epoch; absent before the first time. */
  readonly readyChangedAt?: number | undefined;
  /** Whether the client Service leads to it; undefined: made by a release that knew of no such label. */
  readonly clients?: 'admitted' | 'withdrawn' | undefined;
  /** The minor that the cluster had arrived in when the pod was made for that reason. */
  readonly settledIn?: string | undefined;
  /** Labels that it was made with and does not carry: Services and the budget do not find it without them. */
  readonly labelsLacking?: Readonly<Record<string, string>> | undefined;
  /** The container that it runs, as its kubelet reported last: another one after every start. */
  readonly container?: string | undefined;
  /** When its member was last defragmented, in milliseconds since the epoch. */
  readonly defragmentedAt?: number | undefined;
  /** When a defragmentation of its member began that was not seen to end, and in which container. */
  readonly defragmentationBegun?: { readonly at: number; readonly container: string } | undefined;
  /** When a write that was tried through its member after NOSPACE was last applied, in milliseconds since the epoch. */
  readonly writeSeenAt?: number | undefined;
  /** When its image was replaced in place, in milliseconds since the epoch. */
  readonly imageReplacedAt?: number | undefined;
  /** What etcd runs from, and with which its member was ready before that was replaced. */
  readonly image?: string | undefined;
  readonly formerImage?: string | undefined;
}

/** The host that a volume is pinned to (planner/checks/node-affinity.ts). */
export interface VolumeHome {
  /** The Node, by name; where none is known what the volume's affinity asks for. */
  readonly node: string;
  /** Whether Kubernetes still has that Node. `false` is proof that the volume is gone; undefined: it is not known. */
  readonly exists: boolean | undefined;
  /** Why it is not known, for users. */
  readonly why?: string;
}

export interface ClaimFacts {
  readonly name: string;
  readonly uid: string;
  /** Made for this very cluster: its token begins with the cluster's own. */
  readonly owned: boolean;
  readonly token: string | undefined;
  readonly clusterId: string | undefined;
  /** The note of a cluster that was deleted and left it (left-behind.ts). */
  readonly leftBy?: string | undefined;
  /** The uid that is noted on it: its own, unless it is a copy of another one. Absent when it was taken off. */
  readonly stampedUid?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt?: number | undefined;
  /** The version of etcd that was last started on its data; absent on claims of a release that did not note it. */
  readonly version?: string | undefined;
  /** The image with which its member was last ready, noted when its pod was stopped for another version. */
  readonly formerImage?: string | undefined;
  /** Pending, Bound or Lost. */
  readonly phase: string;
  readonly deleting: boolean;
  /** A restore put it aside, also when it was brought back since: it holds data that nobody else has. */
  readonly keptByRestore?: boolean;
  /** Kept after its member was removed, until then (milliseconds since the epoch). */
  readonly keptUntil: number | undefined;
  /** The uid of the claim whose member the operator began to remove, nothing of it being lost; another uid than its own was copied. */
  readonly removal?: string | undefined;
  /** The uid of the pod of its member that the operator stopped and that is to be started again; absent once it was. */
  readonly stopped?: string | undefined;
  /** Where its volume lies. Looked up only while its member has no ready pod; absent for volumes that follow the pod. */
  readonly home?: VolumeHome | undefined;
  /** The size that it asks for, a quantity. */
  readonly requested?: string | undefined;
  /** The size that its volume has, once it is bound. */
  readonly capacity?: string | undefined;
  readonly storageClassName?: string | undefined;
  /** The class that the specification named when it was made; absent when it named none, and on claims of a release that did not note it. */
  readonly requestedClass?: string | undefined;
  /** The size that was asked for when it was made or enlarged; absent on claims of a release that did not note it. */
  readonly requestedSize?: string | undefined;
  /** Its VolumeAttributesClass, as it was last asked for. */
  readonly attributesClass?: string | undefined;
  /** Whether its class lets it grow; looked up only when it is smaller than the specification asks for. */
  readonly expandable?: boolean;
  /** As they are, with those that are not the template's. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** What is being done to enlarge it, or why that failed, in the words of Kubernetes. */
  readonly resizing?: string | undefined;
}

/** A Service or budget of a name that this cluster needs. */
export interface ObjectFacts {
  readonly exists: boolean;
  readonly owned: boolean;
  /** It has the labels that the operator gives, and no controller: a cluster of this name was deleted as an orphan. */
  readonly unowned?: true | undefined;
  /** The first field that is not as we apply it; absent when all are. */
  readonly difference?: string | undefined;
}

/** The client Service. One that keeps clients out for a restore counts as if it were not there, but for whose it is. */
export interface ServiceFacts extends ObjectFacts {
  /** Names of the pods that its selector selects, as both are now; absent when that was not looked at. */
  readonly leadsTo?: readonly string[] | undefined;
}

export interface BudgetFacts extends ObjectFacts {
  /** The number of pods that it keeps from eviction; absent where it names none. */
  readonly minAvailable?: number | undefined;
}

/** The digest of a member's keys up to one revision that all were asked for, or why there is none. */
export type HashFact =
  | { readonly ok: true; readonly hash: string; readonly compactRevision: string }
  | { readonly ok: false; readonly message: string };

/** How many keys a member has at the revision that it was asked for, or why it does not say. */
export type KeysFact =
  | { readonly ok: true; readonly keys: number }
  | { readonly ok: false; readonly message: string };

/** What is kept of the past, as one member says it, or why that is not known. */
export type HistoryFact =
  | ({ readonly ok: true } & History)
  | { readonly ok: false; readonly message: string };

/** The member list as a quorum knows it (a linearizable list), or why it is not known. */
export type Membership =
  | {
      readonly known: true;
      readonly clusterId: string;
      readonly members: readonly {
        readonly id: string;
        /** Empty while the member was added and has never started. */
        readonly name: string;
        readonly isLearner: boolean;
        readonly peerUrls: readonly string[];
        /** It has published its client URLs, which a member does when it first sees a leader. */
        readonly started: boolean;
      }[];
    }
  | { readonly known: false; readonly message: string };

export interface Observation {
  /** When it was looked at, in milliseconds since the epoch. */
  readonly now: number;
  readonly cluster: ClusterFacts;
  readonly pods: readonly PodFacts[];
  readonly claims: readonly ClaimFacts[];
  readonly peerService: ObjectFacts;
  readonly clientService: ServiceFacts;
  readonly disruptionBudget: BudgetFacts;
  /** The name of the default StorageClass, when the Kubernetes cluster has one. */
  readonly defaultStorageClass: string | undefined;
  /** Whether the StorageClass that the specification names exists; looked up only while a claim is of another one. */
  readonly storageClassExists?: boolean | undefined;
  /**
   * Names of all pods and claims of the namespace that look like members of this cluster, whatever created them.
   * Looked up while no incarnation is recorded, for serials are chosen above all of them, and while the recorded one was
   * read back from stamps, for there may be members that nobody remembers.
   */
  readonly namesSeen: readonly string[];
  /** By pod name; only pods that have an address are asked. */
  readonly probes: Readonly<Record<string, MemberProbe>>;
  readonly membership: Membership;
  /** Names of learners that do not answer because they receive the database of the leader. */
  readonly receiving?: readonly string[] | undefined;
  /**
   * While no cluster id is recorded: the one that etcd derives from the token and the URLs of the members that were asked to
   * bootstrap. Members with another one have found the log of another cluster on their volumes.
   */
  readonly expectedClusterId?: string | undefined;
  /** By pod name: what step compareKeys recorded, while it is still about the members as they are (report/key-hashes.ts). */
  readonly hashes?: Readonly<Record<string, HashFact>> | undefined;
  /** Of the first member of a restore, at the revision that it opened with; asked only when its backup says how many there must be. */
  readonly seedKeys?: KeysFact | undefined;
  /** Asked only while NOSPACE stands. */
  readonly history?: HistoryFact | undefined;
  /** Absent: the specification asks for plain text. */
  readonly tls?: TlsFacts | undefined;
  /** The EtcdBackups that are about this cluster. */
  readonly backups?: readonly BackupOfCluster[] | undefined;
  /** The EtcdRestores of this cluster that have not ended. */
  readonly restores?: readonly RestoreOfCluster[] | undefined;
  /** Names of the EtcdRestores of this cluster that have ended, well or not. */
  readonly restoresEnded?: readonly string[] | undefined;
  /** The EtcdRequests about this cluster, finished ones included. */
  readonly requests?: readonly EtcdRequest[] | undefined;
}
