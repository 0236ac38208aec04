/**
 * What a deleted EtcdCluster of the same name has left: claims that `storage.retain` kept, or pods and claims that an orphan deletion let
 * go. Nothing is created beside them until a person says whether they are taken up or a new, empty cluster begins; which of them is
 * meant is named by its incarnation (docs/operations/delete.md). Pure.
 */
import { securityAsked } from '../../api/derived/tls.ts';
import { domainIn } from '../../api/derived/domain.ts';
import {
  ANNOTATION_BEGIN_ANEW,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_RESTORED_BY,
  ANNOTATION_TAKE_UP,
  bySerial,
  isNameOfMember,
} from '../../api/names.ts';
import type { Obstacle } from '../model/decision.ts';
import { isTokenOfName, ownsToken } from '../model/identity.ts';
import { type LeftNote, readLeftNote } from '../model/left-note.ts';
import type { ClaimFacts, Observation, PodFacts } from '../model/observation.ts';

/** What is left of one incarnation. */
export interface FormerIncarnation {
  readonly token: string;
  /** With the data of members. */
  readonly claims: readonly ClaimFacts[];
  readonly pods: readonly PodFacts[];
  /** As the cluster noted when it was deleted. */
  readonly note: LeftNote | undefined;
  /** When the newest of it was made, in milliseconds since the epoch. */
  readonly newest: number;
}

/** The incarnations of deleted clusters of the name that have left something: those that formed first, the newest of them first. */
export function formerIncarnations({
  cluster,
  claims,
  pods,
}: Pick<Observation, 'cluster' | 'claims' | 'pods'>): FormerIncarnation[] {
  const isFormer = ({ name, token }: { readonly name: string; readonly token: string | undefined }) =>
    isTokenOfName(cluster.name, token) && !ownsToken(cluster, token) && isNameOfMember(cluster.name, name);
  // A claim that is kept for a while after its member was removed is of the past of its cluster.
  const there = claims.filter(claim => isFormer(claim) && !claim.deleting && claim.keptUntil === undefined);
  const newest = there.filter(claim => claim.keptByRestore !== true);
  // So is one that a restore put aside, unless the cluster was deleted before that had formed a cluster of its own.
  const isRestoreCutShort = newest.length > 0 && newest.every(({ clusterId }) => clusterId === undefined);
  const left = isRestoreCutShort ? there : newest;
  const running = pods.filter(pod => isFormer(pod) && !pod.owned);
  const byToken = Map.groupBy([...left, ...running], ({ token = '' }) => token);
  return [...byToken.entries()]
    .map(([token, objects]): FormerIncarnation => {
      const notes = objects
        .map(({ leftBy }) => readLeftNote(leftBy))
        .filter(note => note?.incarnation === token);
      return {
        token,
        claims: left.filter(claim => claim.token === token),
        pods: running.filter(pod => pod.token === token),
        note: notes[0],
        newest: Math.max(...objects.map(({ createdAt = 0 }) => createdAt)),
      };
    })
    .sort(
      (a, b) =>
        Number(clusterIdsOf(b).length > 0) - Number(clusterIdsOf(a).length > 0) ||
        b.newest - a.newest ||
        bySerial(b.token, a.token),
    );
}

/** What a person asked for by annotating the EtcdCluster. */
export interface Choice {
  readonly takeUp: string | undefined;
  readonly beginAnew: string | undefined;
}

export function choiceOf({ cluster }: Pick<Observation, 'cluster'>): Choice {
  const { annotations = {} } = cluster.object.metadata;
  return { takeUp: annotations[ANNOTATION_TAKE_UP], beginAnew: annotations[ANNOTATION_BEGIN_ANEW] };
}

/** Whether an EtcdRestore brings the data of this cluster, so that nobody has to be asked where it begins. */
export function isRestored({ cluster, restores = [] }: Observation): boolean {
  return restores.length > 0 || cluster.object.metadata.annotations?.[ANNOTATION_RESTORED_BY] !== undefined;
}

/** Why nothing is created: nobody has said yet what becomes of what is left. */
export function undecided(
  observation: Observation,
  former: readonly FormerIncarnation[],
): Obstacle | undefined {
  const [newest, ...older] = former;
  if (newest === undefined) return undefined;
  const { namespace, name } = observation.cluster;
  const { takeUp, beginAnew } = choiceOf(observation);
  const annotate = (annotation: string) =>
    `kubectl -n ${namespace} annotate --overwrite etcd ${name} ${annotation}=${newest.token}`;
  if (beginAnew === newest.token && takeUp === undefined) return stillRunning(newest);
  const both =
    takeUp === undefined
      ? ''
      : `the annotations ${ANNOTATION_TAKE_UP} and ${ANNOTATION_BEGIN_ANEW} ask for both ways, remove one. `;
  const doubts = doubtsAbout(observation, newest);
  const way =
    doubts.length === 0
      ? `to take up the members with their data, run: ${annotate(ANNOTATION_TAKE_UP)}`
      : `it cannot be taken up: ${doubts.join('; ')}`;
  const others = older.length === 0 ? '' : `. Others are left too: ${older.map(describe).join('; ')}`;
  return {
    reason: 'FormerCluster',
    message: `${both}a deleted EtcdCluster ${name} has left ${describe(newest)}, and nothing is created beside it until you decide: ${way}; to begin with an empty cluster and leave the claims as they are, run: ${annotate(ANNOTATION_BEGIN_ANEW)}${others}`,
  };
}

/** Pods of the former cluster would serve its old data to the clients of the new one. */
function stillRunning({ pods }: FormerIncarnation): Obstacle | undefined {
  if (pods.length === 0) return undefined;
  return {
    reason: 'FormerCluster',
    message: `pod ${namesOf(pods)} of a deleted EtcdCluster of this name still exists, and clients of a new one would reach it: delete it and the Services and the PodDisruptionBudget of the deleted cluster, or remove the annotation ${ANNOTATION_BEGIN_ANEW}`,
  };
}

/** Why what is left of an incarnation is not taken up; none when a quorum of its voters can be. */
export function doubtsAbout({ cluster }: Pick<Observation, 'cluster'>, former: FormerIncarnation): string[] {
  const { claims, note, token } = former;
  const ids = clusterIdsOf(former);
  if (ids.length === 0)
    return [
      `nothing of ${token} has the annotation ${ANNOTATION_CLUSTER_ID}: the cluster never formed, or a restore of it never ended`,
    ];
  const exchanged = claims.filter(({ uid, stampedUid }) => stampedUid !== undefined && stampedUid !== uid);
  const other = [...(note?.clusterID === undefined ? [] : [note.clusterID]), ...ids].find(
    id => id !== ids[0],
  );
  return [
    ...(other === undefined
      ? []
      : [`claims and pods are marked with different cluster ids: ${ids.join(', ')}`]),
    ...(exchanged.length === 0
      ? []
      : [`claim ${namesOf(exchanged)} is a copy of the claim that the member had`]),
    ...lackingVoters(former),
    ...otherAddresses(cluster, former),
  ];
}

/** A quorum of the voters must be there; fewer never elect a leader, and nobody could replace the others. */
export function lackingVoters(former: FormerIncarnation): string[] {
  const { claims, pods, note } = former;
  const names = [...new Set([...claims, ...pods].map(({ name }) => name))];
  const voters = note?.voters ?? names;
  // A pod without its claim has lost its data with the next start.
  const hasClaims = claims.length > 0;
  const there = (hasClaims ? claims.filter(({ phase }) => phase !== 'Lost') : pods).map(({ name }) => name);
  const missing = voters.filter(name => !there.includes(name));
  if (voters.length - missing.length > voters.length / 2) return [];
  return [
    `${hasClaims ? 'claim' : 'pod'} ${missing.join(', ')} is missing, and without a quorum of the voters ${voters.join(', ')} nothing is started: bring it back, or restore a backup with an EtcdRestore`,
  ];
}

/** Members know each other by URLs, which say http or https and end in the domain. */
function otherAddresses(
  { object, config }: Observation['cluster'],
  { note, pods }: FormerIncarnation,
): string[] {
  const asked = { security: securityAsked(object), domain: config.pod.ClusterDomain };
  const [url] = pods.flatMap(({ peerUrl }) => peerUrl ?? []);
  const domain = note?.domain ?? (url === undefined ? undefined : domainIn(url));
  return [
    ...(note?.security !== undefined && note.security !== asked.security
      ? [`its members use ${note.security}, and spec.TLS asks for ${asked.security}: write the former mode`]
      : []),
    ...(domain !== undefined && domain !== asked.domain
      ? [
          `the URLs of its members end in ${domain === '' ? 'svc, without a domain' : domain}: ${domain === '' ? 'remove spec.pod.ClusterDomain' : `write ${domain} into spec.pod.ClusterDomain`}`,
        ]
      : []),
  ];
}

function describe(former: FormerIncarnation): string {
  const { token, claims, pods } = former;
  const ids = clusterIdsOf(former);
  const what = [
    ...(claims.length === 0 ? [] : [`claim ${namesOf(claims)}`]),
    ...(pods.length === 0 ? [] : [`pod ${namesOf(pods)}`]),
  ];
  return `${what.join(' and ')} (incarnation ${token}, ${ids.length === 0 ? 'no cluster id' : `cluster id ${ids.join(', ')}`})`;
}

/** The cluster ids that its claims and pods are marked with: one, when nothing is wrong. */
function clusterIdsOf({ claims, pods }: FormerIncarnation): readonly string[] {
  return [...new Set([...claims, ...pods].flatMap(({ clusterId }) => clusterId ?? []))];
}

function namesOf(objects: readonly { readonly name: string }[]): string {
  return objects
    .map(({ name }) => name)
    .sort(bySerial)
    .join(', ');
}
