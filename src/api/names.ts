/** Names, labels, annotations and URLs of everything the operator owns. Pure; shared by planner, builders and watcher. */

export const GROUP = 'etcd.database.coreos.com';
export const VERSION = 'v1beta2';
export const API_VERSION = `${GROUP}/${VERSION}`;
/** The fields by which the EtcdBackups and EtcdRestores of a cluster are selected (selectableFields of their CRDs). */
export const BACKUP_CLUSTER_FIELD = 'spec.clusterRef.name';
export const RESTORE_CLUSTER_FIELD = 'spec.etcdCluster.name';
/** The fields by which the EtcdRequests of a cluster, or of a backup, are selected. */
export const REQUEST_CLUSTER_FIELD = 'spec.clusterRef.name';
export const REQUEST_BACKUP_FIELD = 'spec.backupRef.name';

export const FINALIZER = `${GROUP}/operator`;
/** Kubernetes' own, of `kubectl delete --cascade=orphan`: what the object owns is to stay. */
export const ORPHAN_FINALIZER = 'orphan';
/** The field manager that owns everything that this operator applies, and the value of LABEL_MANAGED_BY. */
export const FIELD_MANAGER = 'etcd-operator';

/** The longest name a cluster may have: `<name>-<serial>` must stay a valid host name with room for ten digits. */
export const MAX_CLUSTER_NAME_LENGTH = 52;

export const CLIENT_PORT = 2379;
export const PEER_PORT = 2380;
/** Metrics and probes, plain http. */
export const METRICS_PORT = 2381;

export const LABEL_APP = 'app';
export const LABEL_CLUSTER = 'etcd_cluster';
const LABEL_NODE = 'etcd_node';
export const LABEL_NAME = 'app.kubernetes.io/name';
export const LABEL_INSTANCE = 'app.kubernetes.io/instance';
export const LABEL_COMPONENT = 'app.kubernetes.io/component';
export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
/** Of pods: whether clients are led to them, CLIENTS_ADMITTED or CLIENTS_WITHDRAWN. Earlier releases made pods without it. */
export const LABEL_CLIENTS = `${GROUP}/clients`;
export const CLIENTS_ADMITTED = 'admitted';
export const CLIENTS_WITHDRAWN = 'withdrawn';
/** Of the selector of a client Service that keeps clients out: no pod has it. */
export const CLIENTS_KEPT_OUT = 'kept-out';
/** The value of LABEL_APP and LABEL_NAME. */
export const APP = 'etcd';

/** Annotation of pods, claims and the resource itself: which bootstrap (or restore) of the cluster they belong to. */
export const ANNOTATION_INCARNATION = `${GROUP}/incarnation`;
/** etcd's member id, lower-case hexadecimal without prefix, as etcdctl prints it. */
export const ANNOTATION_MEMBER_ID = `${GROUP}/member-id`;
/** The number in the member's name, in decimal. */
export const ANNOTATION_SERIAL = `${GROUP}/serial`;
/** etcd's cluster id, lower-case hexadecimal without prefix. */
export const ANNOTATION_CLUSTER_ID = `${GROUP}/cluster-id`;
/** What the operator rendered into an object: a hash of each part, as JSON (objects/rendered.ts). */
export const ANNOTATION_RENDERED = `${GROUP}/rendered`;
/** Of pods: who etcd takes for the initial cluster while its volume holds no log (objects/first-start.ts). */
export const ANNOTATION_INITIAL_CLUSTER = `${GROUP}/initial-cluster`;
/** Of pods: `new` or `existing`, beside ANNOTATION_INITIAL_CLUSTER. */
export const ANNOTATION_INITIAL_CLUSTER_STATE = `${GROUP}/initial-cluster-state`;
/** Of pods: the specification that they were made from, as JSON (objects/made-from.ts). */
export const ANNOTATION_MADE_FROM = `${GROUP}/made-from`;
/** Of pods: fingerprints of the authorities that its etcd read when the pod was made (objects/trusted.ts). */
export const ANNOTATION_AUTHORITIES = `${GROUP}/authorities`;
/** Of pods beside CLIENTS_WITHDRAWN: since when clients are led away, RFC 3339 with milliseconds. */
export const ANNOTATION_WITHDRAWN = `${GROUP}/withdrawn`;
/** Of a pod whose image was replaced in place: when, RFC 3339. */
export const ANNOTATION_IMAGE_REPLACED = `${GROUP}/image-replaced`;
/** The image with which the member was ready before: on its pod, and on its claim when the pod is stopped for another one. */
export const ANNOTATION_FORMER_IMAGE = `${GROUP}/former-image`;
/** Of a pod whose image was replaced in place: the container that ran then, so that nobody takes its state for that of the next. */
export const ANNOTATION_REPLACED_CONTAINER = `${GROUP}/replaced-container`;
/** Of a pod that was made after the cluster had arrived in this minor, or begun in it, so that the member can leave it. */
export const ANNOTATION_SETTLED = `${GROUP}/settled-in`;
/** Of a claim whose member was removed: RFC 3339, after that the claim may be deleted. */
export const ANNOTATION_KEPT_UNTIL = `${GROUP}/kept-until`;
/** Of a claim that is kept as evidence, because the data of its member differed: how. The operator deletes it only together with the cluster. */
export const ANNOTATION_EVIDENCE = `${GROUP}/evidence-of-corruption`;
/** Of a claim: its own uid, from when the operator began to remove its member, of which nothing was lost. No other claim is deleted at once. */
export const ANNOTATION_REMOVAL = `${GROUP}/removal`;
/** Of a claim whose member the operator stopped and is to start again: the uid of the pod that it stopped. Taken off with the start. */
export const ANNOTATION_STOPPED = `${GROUP}/stopped`;
/** Of a claim that a restore put aside: the name of the EtcdRestore. It is never deleted by the operator. */
export const ANNOTATION_KEPT_BY_RESTORE = `${GROUP}/kept-by-restore`;
/** Beside it: what the cluster was when it was left, as JSON (planner/model/kept-incarnations.ts). */
export const ANNOTATION_KEPT_INCARNATION = `${GROUP}/kept-incarnation`;
/** Of an EtcdRestore that the operator made because every volume of the cluster was lost: the token of that incarnation. */
export const ANNOTATION_TOTAL_LOSS = `${GROUP}/total-loss`;
/** Of an EtcdRestore that was refused: another value asks for another pass. */
export const ANNOTATION_LOOK_AGAIN = `${GROUP}/look-again`;
/** Of an EtcdCluster that an EtcdRestore made: its name. Such a cluster is never bootstrapped empty. */
export const ANNOTATION_RESTORED_BY = `${GROUP}/restored-by`;
/** Of the resource: `status.lastSerial`: a copy that survives a lost status. */
export const ANNOTATION_LAST_SERIAL = `${GROUP}/last-serial`;
/** Of the resource: the members that were replaced as lost within the hour and when (RFC 3339): a copy that survives a lost status. */
export const ANNOTATION_REPLACED = `${GROUP}/replaced`;
/** Of the resource: its uid and how its traffic is secured: a copy that survives a lost status (api/derived/tls.ts). */
export const ANNOTATION_SECURITY = `${GROUP}/security`;
/** Of the resource: its uid and what the host names of its members end in: a copy that survives a lost status (api/derived/domain.ts). */
export const ANNOTATION_DOMAIN = `${GROUP}/domain`;
/** Of what an EtcdCluster left when it was deleted: whose it was and how to take it up again, as JSON (planner/model/left-behind.ts). */
export const ANNOTATION_LEFT_BY = `${GROUP}/left-by`;
/** Of an EtcdCluster, by users: the incarnation of a deleted cluster of the same name that this one is to be. */
export const ANNOTATION_TAKE_UP = `${GROUP}/take-up`;
/** Of an EtcdCluster, by users: the incarnation of a deleted cluster of the same name beside which this one is to begin empty. */
export const ANNOTATION_BEGIN_ANEW = `${GROUP}/begin-anew`;
/** Of an EtcdCluster: its uid, and what the tokens of the deleted cluster begin with whose members it took up. */
export const ANNOTATION_TAKEN_UP = `${GROUP}/taken-up`;
/** Of claims: the version of etcd that was last started on the data: a copy that survives a lost status. */
export const ANNOTATION_DATA_VERSION = `${GROUP}/data-version`;
/** Of claims: their own uid. A copy, which has another one, is not the claim that the member had. */
export const ANNOTATION_CLAIM_UID = `${GROUP}/claim-uid`;
/** Of claims: the StorageClass that was asked for when it was made; another one may have been given. */
export const ANNOTATION_STORAGE_CLASS = `${GROUP}/storage-class`;
/** Of claims: the size that was asked for when it was made or enlarged; others may have made it larger. */
export const ANNOTATION_STORAGE_SIZE = `${GROUP}/storage-size`;
/** Of pods: who does something heavy to the member now, one at a time (activities/runtime/member-slot.ts). */
export const ANNOTATION_MAINTENANCE = `${GROUP}/maintenance`;
/** Of pods: when the operator last defragmented their member, RFC 3339. */
export const ANNOTATION_DEFRAGMENTED = `${GROUP}/defragmented`;
/** Of pods: when the operator began to defragment their member, RFC 3339, and the container that ran then. Taken off when that is done. */
export const ANNOTATION_DEFRAGMENTATION_BEGUN = `${GROUP}/defragmentation-begun`;
/** Of pods: when etcd last applied a write that was tried through their member after NOSPACE, RFC 3339. */
export const ANNOTATION_WRITE_SEEN = `${GROUP}/write-seen`;
/** Of EtcdBackups: when an upgrade asked for a backup, RFC 3339. A run that began since then is the answer. */
export const ANNOTATION_BACKUP_ASKED = `${GROUP}/backup-asked`;
/** The CoreOS operator's annotation of pods: the etcd version they run, without leading `v`. */
export const ANNOTATION_VERSION = 'etcd.version';
/** Of Secrets, by users: the hosts that what it holds may be sent to, parted by commas. */
export const ANNOTATION_HOSTS = `${GROUP}/hosts`;

/** The three kinds, with the plural that their URLs use. */
export const PLURALS = {
  EtcdCluster: 'etcdclusters',
  EtcdBackup: 'etcdbackups',
  EtcdRestore: 'etcdrestores',
} as const;

export type Kind = keyof typeof PLURALS;

/** What users ask for, as an object: it has no workflow of its own: the passes of the resource that it names judge it. */
export const REQUEST_KIND = 'EtcdRequest';
export const REQUEST_PLURAL = 'etcdrequests';

/** One custom resource of a kind that is known. The uid distinguishes a resource from a later one of the same name. */
export type ResourceId = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
};

/** One object of one of the three kinds, by the four things that never change. */
export type ResourceRef = ResourceId & { readonly kind: Kind };

/** Where a member is reached: `domain` is the cluster domain when the resource names one, with or without leading dot. */
export type MemberAddress = {
  readonly member: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly domain?: string | undefined;
  readonly tls?: boolean | undefined;
};

/** Whether an EtcdCluster can have this name: that of a Service, short enough for the names of its members. */
export function isClusterName(name: string): boolean {
  return name.length <= MAX_CLUSTER_NAME_LENGTH && /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name);
}

/** The name of a member, its pod and its claim. Serials start at 0 and are never used twice. */
export function memberName(cluster: string, serial: number): string {
  return `${cluster}-${serial}`;
}

/** The serial in a member's name; undefined when the name does not end as {@link memberName} writes it. */
export function serialOf(member: string): number | undefined {
  const match = /-(0|[1-9]\d{0,8})$/.exec(member);
  return match === null ? undefined : Number(match[1]);
}

/** The serial of the next member: above `last`, the highest that was ever recorded (-1: none), and above those of all these names. */
export function nextSerial(last: number, names: readonly string[]): number {
  return Math.max(last, ...names.map(name => serialOf(name) ?? -1)) + 1;
}

/** Sorts names of members, or tokens of incarnations, by the number in which they end. */
export function bySerial(a: string, b: string): number {
  return (serialOf(a) ?? 0) - (serialOf(b) ?? 0);
}

/** Whether a member of this cluster can be called so. */
export function isNameOfMember(cluster: string, name: string): boolean {
  return memberName(cluster, serialOf(name) ?? -1) === name;
}

/** The Service that clients use; opened only when the cluster's id is recorded. */
export function clientServiceName(cluster: string): string {
  return `${cluster}-client`;
}

/** The headless Service that gives the members their host names. */
export function peerServiceName(cluster: string): string {
  return cluster;
}

/** The claim that holds a member's data: one a member, named as the member. */
export function claimName(member: string): string {
  return member;
}

/** The PodDisruptionBudget of a cluster. */
export function disruptionBudgetName(cluster: string): string {
  return cluster;
}

/** The host name of a member: `<member>.<cluster>.<namespace>.svc[.<domain>]`. */
export function memberHost(address: MemberAddress): string {
  const domain = (address.domain ?? '').replace(/^\.+|\.+$/g, '');
  const host = `${address.member}.${peerServiceName(address.cluster)}.${address.namespace}.svc`;
  return domain === '' ? host : `${host}.${domain}`;
}

/** The URL that other members use; it is also what etcd computes the member's id from. */
export function peerUrl(address: MemberAddress): string {
  return `${scheme(address)}://${memberHost(address)}:${PEER_PORT}`;
}

/** The URL that the member advertises to clients. */
export function clientUrl(address: MemberAddress): string {
  return `${scheme(address)}://${memberHost(address)}:${CLIENT_PORT}`;
}

function scheme(address: Pick<MemberAddress, 'tls'>): string {
  return address.tls === true ? 'https' : 'http';
}

/** What selects the pods of a cluster, also in the scale subresource. Never changes for the life of a cluster. */
export function clusterSelector(cluster: string): Record<string, string> {
  return { [LABEL_APP]: APP, [LABEL_CLUSTER]: cluster };
}

/** What selects the pods that clients are led to. */
export function clientSelector(cluster: string): Record<string, string> {
  return { ...clusterSelector(cluster), [LABEL_CLIENTS]: CLIENTS_ADMITTED };
}

/** The labels of everything that a cluster owns. */
export function clusterLabels(cluster: string): Record<string, string> {
  return {
    ...clusterSelector(cluster),
    [LABEL_NAME]: APP,
    [LABEL_INSTANCE]: cluster,
    [LABEL_COMPONENT]: 'database',
    [LABEL_MANAGED_BY]: FIELD_MANAGER,
  };
}

/** The labels of what belongs to one member: its pod and its claim. */
export function memberLabels(cluster: string, member: string): Record<string, string> {
  return { ...clusterLabels(cluster), [LABEL_NODE]: member };
}

/** A label selector in the form that URLs and `status.selector` take: `a=b,c=d`. */
export function selectorText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

/** The id of a resource's entity workflow, which users can type: `etcdcluster/<namespace>/<name>/<first 8 of the uid>`. */
export function workflowId(ref: ResourceRef): string {
  return `${ref.kind.toLowerCase()}/${ref.namespace}/${ref.name}/${ref.uid.slice(0, 8)}`;
}

/** The id of what copies the backups of an EtcdBackup to its second store, beside its operation. */
export function copiesWorkflowId(entity: string): string {
  return `${entity}/copies`;
}

/** The id of the one operation of an entity workflow with this id: Temporal's uniqueness of ids is the lock. */
export function operationWorkflowId(entity: string): string {
  return `${entity}/operation`;
}

/**
 * Whether a label or annotation key is the operator's own and may not be set through `spec.pod`: `app`, `etcd_*` and
 * `etcd.version` as the CoreOS operator reserved them, and our own prefix. Not app.kubernetes.io/*: clusters that set those
 * exist, and nothing is selected by them.
 */
export function isReservedKey(key: string): boolean {
  return (
    key === LABEL_APP || key === ANNOTATION_VERSION || key.startsWith('etcd_') || key.startsWith(`${GROUP}/`)
  );
}

/** The container of the operator's own program in its pods. */
export const OPERATOR_CONTAINER = 'operator';
