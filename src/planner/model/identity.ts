/**
 * What makes a cluster this one and no other: its incarnation (token and initial members) and its cluster id. They
 * are recorded in status and stamped on claims, pods and the resource itself, so that each of these can be lost.
 */
import {
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_INCARNATION,
  ANNOTATION_LAST_SERIAL,
  ANNOTATION_TAKEN_UP,
  LABEL_CLUSTER,
  bySerial,
  isNameOfMember,
  memberName,
  nextSerial,
  peerUrl,
  serialOf,
} from '../../api/names.ts';
import { securityOf } from '../../api/derived/tls.ts';
import type { EtcdClusterStatus, Incarnation, StorageStatus } from '../../api/schemas/types.ts';
import { readLeftNote } from './left-note.ts';
import type { ClaimFacts, ClusterFacts, Observation } from './observation.ts';

/** What every token of one cluster begins with: a resource made later under the same name has another uid. */
export function tokenPrefix(cluster: { readonly name: string; readonly uid: string }): string {
  return `${cluster.name}-${cluster.uid.slice(0, 8)}-`;
}

type Owning = {
  readonly name: string;
  readonly uid: string;
  readonly object?:
    | { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined } }
    | undefined;
  readonly status?: EtcdClusterStatus | undefined;
};

/** Whether a token is one of a cluster of this name, whatever the uid of that was. */
export function isTokenOfName(name: string, token: string | undefined): token is string {
  return token?.startsWith(`${name}-`) === true && /^[0-9a-f]{8}-\d+$/.test(token.slice(name.length + 1));
}

/** What the tokens of the cluster of this token begin with. */
export function prefixOf(token: string): string {
  return token.slice(0, token.lastIndexOf('-') + 1);
}

/**
 * What the tokens of the deleted cluster begin with whose members this one took up: as it is stamped on the resource, with its uid, which
 * a copy of the resource does not have, or else as its status records it.
 */
export function takenUpPrefix({ name, uid, object, status }: Owning): string | undefined {
  const [of, prefix] = object?.metadata.annotations?.[ANNOTATION_TAKEN_UP]?.split(' ') ?? [];
  if (of !== undefined && of === uid && prefix !== undefined && prefix !== '') return prefix;
  const recorded = [status?.incarnation?.token, status?.previousIncarnation?.incarnation?.token];
  const foreign = recorded.find(
    token => isTokenOfName(name, token) && !token.startsWith(tokenPrefix({ name, uid })),
  );
  return foreign === undefined ? undefined : prefixOf(foreign);
}

/** Whether a token is one of this cluster, or of the one that it took up. */
export function ownsToken(cluster: Owning, token: string | undefined): boolean {
  if (token === undefined) return false;
  const prefix = takenUpPrefix(cluster);
  return token.startsWith(tokenPrefix(cluster)) || (prefix !== undefined && token.startsWith(prefix));
}

/**
 * The first incarnation of a cluster. Serials begin above every name that was ever seen, so that a claim which was
 * kept from an earlier cluster of this name is never taken for one of ours.
 */
export function firstIncarnation(observation: Observation): Incarnation {
  const { cluster, namesSeen } = observation;
  const first = nextSerial(lastSerialOf(cluster), namesSeen);
  const names = Array.from({ length: cluster.config.size }, (_, index) =>
    memberName(cluster.name, first + index),
  );
  return { token: `${tokenPrefix(cluster)}1`, members: names.map(name => memberOf(cluster, name)) };
}

/** What is stamped on the resource itself. A copy of it, which has another uid, has no part in that. */
export function stampsOf(cluster: ClusterFacts): {
  readonly token?: string | undefined;
  readonly clusterId?: string | undefined;
  readonly lastSerial?: number;
} {
  const annotations = cluster.object.metadata.annotations ?? {};
  const token = annotations[ANNOTATION_INCARNATION];
  if (!ownsToken(cluster, token)) return {};
  const lastSerial = Number(annotations[ANNOTATION_LAST_SERIAL] ?? Number.NaN);
  const clusterId = annotations[ANNOTATION_CLUSTER_ID];
  return { token, clusterId, ...(Number.isSafeInteger(lastSerial) && { lastSerial }) };
}

/** The highest serial that a member of this cluster is known to have had; -1 when none is. */
export function lastSerialOf(cluster: ClusterFacts): number {
  return Math.max(cluster.status.lastSerial ?? -1, stampsOf(cluster).lastSerial ?? -1);
}

/** An identity that was read back from stamps, after status was lost. */
export interface RebuiltIdentity {
  readonly incarnation: Incarnation;
  readonly clusterId: string | undefined;
}

/**
 * The identity that the stamps contain, or undefined when there are none. The cluster id comes from
 * the stamps or, before it was stamped, from a quorum of members that answer; without either it stays unknown.
 */
export function rebuiltIdentity(
  observation: Pick<Observation, 'cluster' | 'pods' | 'claims' | 'membership' | 'expectedClusterId'>,
): RebuiltIdentity | undefined {
  const own = stampsOf(observation.cluster);
  const stamped = [...observation.claims, ...observation.pods].filter(object => object.owned && object.token);
  const token = stampedToken(observation);
  if (token === undefined) return undefined;
  const ours = stamped.filter(object => object.token === token);
  const names = votersLeft(observation.cluster, ours).sort(bySerial);
  const stampedId = [...ours, ...(own.token === token ? [own] : [])]
    .map(object => object.clusterId)
    .find(id => id !== undefined);
  const { membership, expectedClusterId } = observation;
  // A quorum that this token did not form has found the log of another cluster on its volumes.
  const seenId =
    membership.known && membership.clusterId === expectedClusterId ? expectedClusterId : undefined;
  return {
    incarnation: { token, members: names.map(name => memberOf(observation.cluster, name)) },
    clusterId: stampedId ?? seenId,
  };
}

/**
 * The incarnation that stamps show as the one of now, when the status was lost. What was put aside says so; where all was, in the middle of a
 * restore, it is the one that the resource is stamped with. Otherwise the last one: numbers only rise, but for one that is gone back to.
 */
export function stampedToken({
  cluster,
  claims,
  pods,
}: Pick<Observation, 'cluster' | 'claims' | 'pods'>): string | undefined {
  const own = stampsOf(cluster);
  const stamped = [...claims, ...pods].filter(object => object.owned && object.token);
  // Before it has a cluster id nothing lived: without claims and pods it may begin again.
  const ownToken = own.clusterId === undefined ? undefined : own.token;
  const isAside = (object: (typeof stamped)[number]): boolean =>
    'keptByRestore' in object && object.keptByRestore === true;
  const ofOwn = stamped.filter(({ token }) => token === ownToken);
  const isOwnAside = ofOwn.length > 0 && ofOwn.every(isAside);
  const now = [
    ...stamped.filter(object => !isAside(object)).map(({ token }) => token),
    ...(isOwnAside ? [] : [ownToken]),
  ].filter(token => token !== undefined);
  if (now.length > 0) return newestToken(cluster, now);
  return isOwnAside
    ? ownToken
    : newestToken(
        cluster,
        stamped.map(({ token = '' }) => token),
      );
}

/** A token of a resource with another uid, which somebody wrote there, says less than any of this one. */
function newestToken(cluster: ClusterFacts, tokens: readonly string[]): string | undefined {
  const ofThis = tokens.filter(each => ownsToken(cluster, each));
  return (ofThis.length > 0 ? ofThis : tokens).toSorted(bySerial).at(-1);
}

/** The members of these objects; of a cluster that was taken up those that voted when it was left, as it noted on them. */
function votersLeft(
  cluster: ClusterFacts,
  objects: readonly {
    readonly name: string;
    readonly token: string | undefined;
    readonly leftBy?: string | undefined;
  }[],
): string[] {
  const names = [...new Set(objects.map(object => object.name))];
  if (takenUpPrefix(cluster) === undefined) return names;
  const notes = objects.flatMap(({ leftBy, token }) => {
    const note = readLeftNote(leftBy);
    return note?.voters !== undefined && note.incarnation === token ? [note.voters] : [];
  });
  const voters = names.filter(name => notes.some(note => note.includes(name)));
  return voters.length > 0 ? voters : names;
}

/**
 * The storage that the claims show, when status was lost: claims exist or they do not. One that lost its stamps counts
 * too: taken for none, a member whose pod goes would be taken for lost.
 */
export function rebuiltStorage(
  observation: Observation,
  { token, members }: Pick<Incarnation, 'token' | 'members'>,
): StorageStatus {
  const hasClaims =
    observation.claims.some(claim => claim.owned && claim.token === token) ||
    unstampedClaims(observation).some(({ name }) => members.some(member => member.name === name));
  return { kind: hasClaims ? 'PersistentVolumeClaim' : 'EmptyDir' };
}

/** Claims that bear a name such as members of this cluster have, and no stamp of any cluster: somebody may have taken it off. */
export function unstampedClaims({ cluster, claims }: Pick<Observation, 'cluster' | 'claims'>): ClaimFacts[] {
  return claims.filter(({ token, name }) => token === undefined && isNameOfMember(cluster.name, name));
}

/**
 * Whether a claim says that it is of another incarnation, or of another etcd cluster, than the one that is recorded: somebody wrote
 * that on it, or put another volume there. What is on it is nothing to start a member on, and no proof that its data is lost.
 */
export function isStampedOtherwise(
  { cluster: { status } }: Pick<Observation, 'cluster'>,
  { token, clusterId }: Pick<ClaimFacts, 'token' | 'clusterId'>,
): boolean {
  const isOther = clusterId !== undefined && status.clusterID !== undefined && clusterId !== status.clusterID;
  return token !== status.incarnation?.token || isOther;
}

/** What a person is to do about claims of members with the stamps of another cluster. */
export function conflictingStampsMessage({ status }: ClusterFacts, claims: readonly ClaimFacts[]): string {
  const { incarnation, clusterID } = status;
  const which = claims.map(({ name, token, clusterId }) =>
    token === incarnation?.token ? `${name} (cluster ${clusterId})` : `${name} (incarnation ${token})`,
  );
  const formed = clusterID === undefined ? '' : ` and ${ANNOTATION_CLUSTER_ID}=${clusterID}`;
  return `claim ${which.join(', ')} has the name of a member and the annotations of another cluster: if it contains the data of the member, annotate it with ${ANNOTATION_INCARNATION}=${incarnation?.token}${formed}; if not, delete it`;
}

/** What a person is to do about claims that lost their stamps: nobody else knows whether they hold a member's data. */
export function missingStampsMessage(
  { name }: ClusterFacts,
  claims: readonly ClaimFacts[],
  token: string,
): string {
  const which = claims.map(claim => claim.name).join(', ');
  return `claim ${which} has the name of a member but not the labels and annotations of this cluster: if it contains the data of a member, restore the label ${LABEL_CLUSTER}=${name} and the annotation ${ANNOTATION_INCARNATION}=${token}; if not, delete it`;
}

/** The peer URL that this operator gives a member of this name. */
export function peerUrlOf({ name, namespace, config, object }: ClusterFacts, member: string): string {
  const { ClusterDomain: domain } = config.pod;
  return peerUrl({ member, cluster: name, namespace, domain, tls: securityOf(object)?.peer });
}

/** A member of an incarnation, as it is recorded. */
export function memberOf(cluster: ClusterFacts, name: string): { name: string; peerURL: string } {
  return { name, peerURL: peerUrlOf(cluster, name) };
}

/** The token of the next incarnation: its number is above every one that was ever seen, so that no cluster id comes back. */
export function nextToken({
  cluster,
  claims,
  pods,
}: Pick<Observation, 'cluster' | 'claims' | 'pods'>): string {
  const { incarnation, previousIncarnation } = cluster.status;
  const seen = [
    incarnation?.token,
    previousIncarnation?.incarnation?.token,
    stampsOf(cluster).token,
    ...[...claims, ...pods].map(({ token }) => token),
  ];
  const prefix = tokenPrefix(cluster);
  const numbers = seen.map(token => (token?.startsWith(prefix) === true ? (serialOf(token) ?? 0) : 0));
  return `${prefix}${Math.max(0, ...numbers) + 1}`;
}
