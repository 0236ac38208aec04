/**
 * The kinds as they are written by users and old clients: everything that has a default may be missing.
 * All of it follows from the schemas, which describe each field; here the parts get names. Types only: zod is not loaded.
 */
import type { BackupSpecInput, BackupStatusInput } from './etcd-backup.schema.ts';
import type { ClusterSpecInput } from './etcd-cluster.schema.ts';
import type { ClusterStatusInput } from './etcd-cluster-status.schema.ts';
import type { RequestSpecInput, RequestStatusInput } from './etcd-request.schema.ts';
import type { RestoreSpecInput, RestoreStatusInput } from './etcd-restore.schema.ts';

export type { Condition } from '../conditions/catalogue.ts';

/** What the schema `T` accepts, as data that is not to be changed. JSON knows no undefined: a field is there or it is not. */
type Written<T> = unknown extends T
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Written<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Written<Exclude<T[Key], undefined>> }
      : T;

/** JSON of a user that is passed through without being understood: nothing in it is lost. */
export type RawObject = { readonly [key: string]: unknown };
/** A Kubernetes quantity: `8Gi`, `500m`, or a plain number. */
export type Quantity = string | number;

/** metav1.ObjectMeta, as far as it is read here. */
type ObjectMeta = {
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

type Resource<K extends string, Spec, Status> = {
  readonly apiVersion: string;
  readonly kind: K;
  readonly metadata: ObjectMeta;
  readonly spec: Spec;
  readonly status?: Status;
};

export type EtcdClusterSpec = Written<ClusterSpecInput>;
export type EtcdClusterStatus = Written<ClusterStatusInput>;
/** `spec`: as it is in force, once it was read by an activity; `written` is then what stands in the resource. */
export type EtcdCluster = Resource<'EtcdCluster', EtcdClusterSpec, EtcdClusterStatus> & {
  readonly written?: EtcdClusterSpec;
};

export type EtcdBackupSpec = Written<BackupSpecInput>;
export type EtcdBackupStatus = Written<BackupStatusInput>;
export type EtcdBackup = Resource<'EtcdBackup', EtcdBackupSpec, EtcdBackupStatus>;

export type EtcdRestoreSpec = Written<RestoreSpecInput>;
export type EtcdRestoreStatus = Written<RestoreStatusInput>;
export type EtcdRestore = Resource<'EtcdRestore', EtcdRestoreSpec, EtcdRestoreStatus>;

export type EtcdRequestSpec = Written<RequestSpecInput>;
export type EtcdRequestStatus = Written<RequestStatusInput>;
/** Its `by`, and whatever it asks for, never change after its creation. */
export type EtcdRequest = Resource<'EtcdRequest', EtcdRequestSpec, EtcdRequestStatus>;

export type PodPolicy = NonNullable<EtcdClusterSpec['pod']>;
export type EnvVar = NonNullable<PodPolicy['etcdEnv']>[number];
/** A core/v1 PersistentVolumeClaimSpec; only what the operator reads is named. */
export type ClaimSpec = NonNullable<PodPolicy['persistentVolumeClaimSpec']>;
export type TlsPolicy = NonNullable<EtcdClusterSpec['TLS']>;
export type StoragePolicy = NonNullable<EtcdClusterSpec['storage']>;
export type VolumeClaimTemplate = NonNullable<StoragePolicy['volumeClaimTemplate']>;
export type Retain = NonNullable<StoragePolicy['retain']>;
export type Profile = NonNullable<EtcdClusterSpec['profile']>;

export type ClusterPhase = NonNullable<EtcdClusterStatus['phase']>;
export type MemberDetail = NonNullable<NonNullable<EtcdClusterStatus['members']>['details']>[number];
export type MemberRole = NonNullable<MemberDetail['role']>;
export type MemberHealth = MemberDetail['health'];
/** What is being done. */
export type OperationStatus = NonNullable<EtcdClusterStatus['operation']>;
/** What was done last, and how it ended. */
export type LastOperation = NonNullable<EtcdClusterStatus['lastOperation']>;
/** One bootstrap of the cluster: written before anything is created, so that it can be carried on after any crash. */
export type Incarnation = NonNullable<EtcdClusterStatus['incarnation']>;
/** What the members answered when their keys were last compared. */
export type KeyHashes = NonNullable<EtcdClusterStatus['keyHashes']>;
/** An upgrade that was stopped because a member did not come up with the new version. */
export type BeforeUpgrade = NonNullable<EtcdClusterStatus['beforeUpgrade']>;
export type UpgradeFailure = NonNullable<EtcdClusterStatus['upgradeFailure']>;
/** What storage the cluster was given; decided once and then kept. */
export type StorageStatus = NonNullable<EtcdClusterStatus['storage']>;
/** A backup that was written and still exists. */
export type BackupEntry = NonNullable<EtcdBackupStatus['history']>[number];
/** The last backup that was tried. */
export type BackupRun = NonNullable<EtcdBackupStatus['lastRun']>;
