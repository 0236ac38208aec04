/** The three kinds as they are written by people and old clients: everything that has a default may be missing. */
import type { Condition } from './conditions.ts';

export type { Condition } from './conditions.ts';

/** JSON of a user that is passed through without being understood: nothing in it is lost. */
export type RawObject = { readonly [key: string]: unknown };
/** A Kubernetes quantity: `8Gi`, `500m`, or a plain number. */
export type Quantity = string | number;

export type ObjectMeta = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
};

export type EnvVar = { readonly name: string; readonly value?: string; readonly valueFrom?: RawObject };

/** A core/v1 PersistentVolumeClaimSpec; only what the operator reads is named. */
export type ClaimSpec = {
  readonly accessModes?: readonly string[];
  readonly storageClassName?: string;
  readonly resources?: {
    readonly requests?: Readonly<Record<string, Quantity>>;
    readonly limits?: Readonly<Record<string, Quantity>>;
  };
  readonly [key: string]: unknown;
};

export type PodPolicy = {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: RawObject;
  readonly antiAffinity?: boolean;
  readonly resources?: RawObject;
  readonly tolerations?: readonly RawObject[];
  readonly etcdEnv?: readonly EnvVar[];
  readonly persistentVolumeClaimSpec?: ClaimSpec;
  readonly busyboxImage?: string;
  readonly securityContext?: RawObject;
  readonly DNSTimeoutInSecond?: number;
  readonly ClusterDomain?: string;
  readonly topologySpreadConstraints?: readonly RawObject[];
  readonly priorityClassName?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
};

export type TlsPolicy = {
  readonly static?: {
    readonly member?: { readonly peerSecret?: string; readonly serverSecret?: string };
    readonly operatorSecret?: string;
  };
  readonly auto?: RawObject;
  readonly certManager?: {
    readonly issuerRef: { readonly name: string; readonly kind?: string; readonly group?: string };
  };
};

export type VolumeClaimTemplate = {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: ClaimSpec;
};

export type Retain = 'Delete' | 'Retain';
export type Profile = 'Default' | 'Development' | 'Kubernetes';

export type EtcdClusterSpec = {
  readonly size?: number;
  readonly version?: string;
  readonly repository?: string;
  readonly paused?: boolean;
  readonly hibernated?: boolean;
  readonly pod?: PodPolicy;
  readonly TLS?: TlsPolicy;
  readonly storage?: {
    readonly volumeClaimTemplate?: VolumeClaimTemplate;
    readonly emptyDir?: { readonly medium?: '' | 'Memory'; readonly sizeLimit?: Quantity };
    readonly retain?: Retain;
    readonly retainDeadMemberFor?: string;
  };
  readonly etcd?: {
    readonly quotaBackendBytes?: Quantity;
    readonly autoCompaction?: {
      readonly mode?: 'periodic' | 'revision' | 'off';
      readonly retention?: string;
    };
    readonly snapshotCount?: number;
    readonly heartbeatIntervalMs?: number;
    readonly electionTimeoutMs?: number;
    readonly logLevel?: 'debug' | 'info' | 'warn' | 'error' | 'panic' | 'fatal';
    readonly maxRequestBytes?: Quantity;
  };
  readonly profile?: Profile;
  readonly upgrade?: {
    readonly strategy?: 'Automatic' | 'Supervised';
    readonly soakSeconds?: number;
    readonly snapshotBefore?: 'IfPossible' | 'Required' | 'Never';
    readonly allowIntermediateVersions?: boolean;
    readonly rollbackOnFailure?: boolean;
  };
  readonly repair?: { readonly replaceAfterSeconds?: number; readonly maxReplacementsPerHour?: number };
  readonly maintenance?: {
    readonly defragment?: {
      readonly schedule?: string;
      readonly fragmentation?: number;
      readonly freeBytes?: Quantity;
      readonly window?: { readonly start: string; readonly duration: string; readonly timeZone?: string };
    };
  };
  readonly recovery?: { readonly totalLoss?: 'Report' | 'RestoreLatestBackup' };
  readonly service?: {
    readonly type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly trafficDistribution?: string;
  };
};

export type ClusterPhase = '' | 'Creating' | 'Running' | 'Failed';
export type MemberRole = 'Leader' | 'Follower' | 'Learner' | 'Unstarted';
export type MemberHealth = 'Healthy' | 'Unhealthy' | 'Unknown';

export type MemberDetail = {
  readonly name: string;
  /** Lower-case hexadecimal, as etcdctl prints it. */
  readonly id?: string;
  readonly role?: MemberRole;
  readonly version?: string;
  readonly health: MemberHealth;
  readonly dbSize?: number;
  readonly dbSizeInUse?: number;
  readonly raftIndex?: number;
  readonly claim?: string;
  readonly node?: string;
};

export type OperationStatus = {
  readonly type: string;
  readonly startedAt?: string;
  readonly step?: string;
  readonly message?: string;
  readonly workflowID?: string;
  readonly remaining?: readonly string[];
};

export type LastOperation = OperationStatus & {
  readonly outcome: 'Succeeded' | 'Failed' | 'Aborted' | 'Superseded';
  readonly completedAt?: string;
};

/** One bootstrap of the cluster: written before anything is created, so that it can be carried on after any crash. */
export type Incarnation = {
  /** etcd's --initial-cluster-token; unique for ever. */
  readonly token: string;
  /** The members that bootstrap together. Their claims carry the same names. */
  readonly members: readonly { readonly name: string; readonly peerURL: string }[];
  readonly createdAt?: string;
};

/** What storage the cluster was given; decided once and then kept. */
export type StorageStatus = {
  readonly kind: 'PersistentVolumeClaim' | 'EmptyDir';
  readonly storageClassName?: string;
  readonly size?: string;
  readonly decidedBy?: 'Spec' | 'DefaultStorageClass' | 'NoDefaultStorageClass';
};

export type EtcdClusterStatus = {
  readonly phase?: ClusterPhase;
  readonly reason?: string;
  readonly controlPaused?: boolean;
  readonly conditions?: readonly Condition[];
  readonly size?: number;
  readonly serviceName?: string;
  readonly clientPort?: number;
  readonly members?: {
    readonly ready?: readonly string[];
    readonly unready?: readonly string[];
    readonly details?: readonly MemberDetail[];
  };
  readonly currentVersion?: string;
  readonly targetVersion?: string;
  readonly observedGeneration?: number;
  readonly workflowID?: string;
  readonly selector?: string;
  /** Ready members of asked members, `2/3`: the column Ready. */
  readonly ready?: string;
  readonly clusterID?: string;
  readonly incarnation?: Incarnation;
  readonly lastSerial?: number;
  readonly leader?: string;
  readonly operation?: OperationStatus;
  readonly lastOperation?: LastOperation;
  readonly storage?: StorageStatus;
  readonly lastBackup?: { readonly time?: string; readonly revision?: number; readonly location?: string };
  readonly replacements?: readonly {
    readonly time: string;
    readonly member: string;
    readonly replacedBy?: string;
    readonly reason?: string;
  }[];
};

export type EtcdCluster = {
  readonly apiVersion: string;
  readonly kind: 'EtcdCluster';
  readonly metadata: ObjectMeta;
  readonly spec: EtcdClusterSpec;
  readonly status?: EtcdClusterStatus;
};
