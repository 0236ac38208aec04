/** Gathers everything that one pass knows. Reads only. */
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { BUDGET, CLAIM, POD, SERVICE } from '../runtime/kinds.ts';
import { domainOf } from '../../api/derived/domain.ts';
import {
  clientServiceName,
  disruptionBudgetName,
  FINALIZER,
  ORPHAN_FINALIZER,
  peerServiceName,
} from '../../api/names.ts';
import { effectiveCluster } from '../../api/derived/settings-in-force.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../api/schemas/types.ts';
import { compareVersions, minorOf } from '../../api/versions/compare.ts';
import { initialClusterId } from '../../etcd/cluster-id.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { disruptionBudget as buildDisruptionBudget } from '../../objects/budget.ts';
import { specificationNoted } from '../../objects/made-from.ts';
import {
  clientService as buildClientService,
  peerService as buildPeerService,
} from '../../objects/services.ts';
import { rebuiltIdentity, stampedToken } from '../../planner/model/identity.ts';
import { memberViews } from '../../planner/model/member-view.ts';
import { hasEnded } from '../../planner/model/member-names.ts';
import type { ClusterFacts, Observation, PodFacts } from '../../planner/model/observation.ts';
import { currentHashes } from '../../planner/report/key-hashes.ts';
import { spaceAlarms } from '../../planner/checks/space.ts';
import { keysExpected } from '../../planner/operations/restore/seed.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { backupsOfCluster } from './backups.ts';
import { requestsAbout } from '../resource/etcd-requests.ts';
import { restoresOfCluster } from '../resource/etcd-restore.ts';
import { observeTls } from './certificates.ts';
import { findObjects, getAll } from './cluster-objects.ts';
import { claimFacts } from './claim-facts.ts';
import { budgetFacts, objectFacts } from './object-facts.ts';
import { podFacts } from './pod-facts.ts';
import { serviceFacts } from './service-facts.ts';
import { findNames, type NamesSeen, NOT_ASKED } from './names-seen.ts';
import { withHosts } from './pod-hosts.ts';
import { withLeavingNodes } from './leaving-nodes.ts';
import { type ClusterAddress, countKeys, probeMembers, readHistory } from './probe.ts';
import { learnersReceiving } from './reception.ts';
import { readCluster } from '../resource/read-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { askedClassExists, classIsOpen, findDefaultStorageClass, withExpandable } from './storage-classes.ts';
import { withHomes } from './volume-hosts.ts';

type Ports = Pick<Dependencies, 'kube' | 'etcd' | 'now' | 'clockAheadMs' | 'largeNamespaces'> & {
  /** Looks at the certificates; the Secrets themselves are read when left out. */
  readonly observeTls?: typeof observeTls;
};
type Seen = { cluster: EtcdCluster; observation: Observation };
type Looked = Seen & { address: ClusterAddress };

/** What is there now. Undefined when the resource is gone. */
export async function observe(deps: Ports, ref: ClusterRef): Promise<Seen | undefined> {
  const seen = await look(deps, ref, []);
  if (seen === undefined) return undefined;
  const more = await overlooked(deps.kube, seen.observation);
  const all = (more.length === 0 ? seen : await look(deps, ref, more)) ?? seen;
  const receiving = await learnersReceiving(deps.etcd, all.address, all.observation);
  const looked = receiving.length === 0 ? all : { ...all, observation: { ...all.observation, receiving } };
  return withKeys(deps, looked);
}

/** Objects of these names are looked for besides those of members that are recorded. */
async function look(deps: Ports, ref: ClusterRef, more: readonly string[]): Promise<Looked | undefined> {
  const read = await readCluster(deps.kube, ref);
  if (read === undefined) return undefined;
  const known = clusterFacts(read);
  const { incarnation } = known.status;
  const undecided = incarnation === undefined && !known.deleting;
  // Of a cluster whose status was lost every name counts: whether there are claims decides what a pod that goes takes with it.
  const isEveryNameAsked = undecided || incarnation?.rebuilt === true;
  const names = isEveryNameAsked ? findNames(deps, known) : Promise.resolve(NOT_ASKED);
  const restoring = restoresOfCluster(deps.kube, known);
  const [owned, tls, defaultStorageClass, namesSeen, backups, restores, requests] = await Promise.all([
    names.then(({ names: found, unlabelled }) =>
      ownedObjects(deps.kube, known, {
        names: [...found, ...more],
        unlabelled,
        now: deps.now(),
        returning: restoring.then(({ restores: all = [] }) =>
          all.flatMap(({ incarnation: token }) => token ?? []),
        ),
      }),
    ),
    known.deleting ? undefined : lookAtTls(deps, read),
    classIsOpen(known) ? findDefaultStorageClass(deps.kube) : undefined,
    names,
    backupsOfCluster(deps.kube, known),
    restoring,
    requestsAbout(deps.kube, { ...known, kind: 'EtcdCluster' }),
  ]);
  const cluster = withoutSettings(read) ? effectiveCluster(read, specificationOf(known, owned)) : read;
  const facts = cluster === read ? known : clusterFacts(cluster);
  const { namespace, name } = ref;
  const domain = facts.config.pod.ClusterDomain;
  // A cluster that is being deleted has nothing left to say that would change what is done.
  // The address of a pod that has ended is nobody's: a connection to it hangs.
  const asked = facts.deleting ? [] : owned.pods.filter(pod => pod.owned && !hasEnded(pod));
  const address = {
    name,
    namespace,
    domain,
    access: tls?.access,
    asksAgreed: isAboutToUpgrade(facts, asked),
  };
  const etcd = await probeMembers(deps.etcd, address, asked);
  const observation: Observation = {
    now: deps.now(),
    cluster: facts,
    ...owned,
    defaultStorageClass,
    namesSeen: namesSeen.names,
    ...etcd,
    tls: tls?.facts,
    ...(backups.length > 0 && { backups }),
    ...restores,
    ...(requests.length > 0 && { requests }),
  };
  const expectedClusterId = expectedIdOf(observation);
  return { cluster, observation: { ...observation, expectedClusterId }, address };
}

function lookAtTls(deps: Ports, cluster: EtcdCluster): ReturnType<typeof observeTls> {
  const look = deps.observeTls ?? observeTls;
  return look(deps.kube, cluster, { now: deps.now(), clockAheadMs: deps.clockAheadMs() });
}

/** The id that the members' cluster must have, while none is recorded; of a lost status the id that the stamps name. */
export function expectedIdOf(
  observation: Pick<Observation, 'cluster' | 'pods' | 'claims' | 'membership' | 'expectedClusterId'>,
): string | undefined {
  const { cluster, membership } = observation;
  const { clusterID, incarnation } = cluster.status;
  if (clusterID !== undefined) return undefined;
  if (incarnation !== undefined)
    return initialClusterId(
      incarnation.token,
      incarnation.members.map(({ peerURL }) => [peerURL]),
    );
  // Claims and pods of some may be gone, so that the list decides about those.
  const token = rebuiltIdentity(observation)?.incarnation.token;
  if (token === undefined || !membership.known) return undefined;
  return initialClusterId(
    token,
    membership.members.map(({ peerUrls }) => peerUrls),
  );
}

/** With what is known of the keys of the members and of their history, where it is needed. */
async function withKeys(deps: Ports, { cluster, observation, address }: Looked): Promise<Seen> {
  const expected = keysExpected(observation);
  if (expected === undefined) {
    const history =
      spaceAlarms(observation).length === 0 ? undefined : await readHistory(deps.etcd, address, observation);
    return {
      cluster,
      observation: { ...observation, hashes: currentHashes(observation), ...(history && { history }) },
    };
  }
  const seedKeys = await countKeys(deps.etcd, address, { ...observation, revision: expected.revision });
  return { cluster, observation: { ...observation, seedKeys } };
}

/** Nothing is recorded of what its fields were: a new cluster, one of another release, or one whose status was lost and not recorded again yet. */
export function withoutSettings({ status = {} }: EtcdCluster): boolean {
  return status.settings === undefined || status.incarnation === undefined;
}

/**
 * The specification that the newest pod was made from, with the version and the number of members that there are. While no pod says,
 * as between the steps of a restore, the version of the data on the claims is known, those included that the restore put aside.
 */
function specificationOf(cluster: ClusterFacts, owned: Owned): EtcdClusterSpec | undefined {
  const { pods, claims } = ofThisIncarnation(cluster, owned);
  const notes = pods.filter(({ owned, madeFrom }) => owned && madeFrom !== undefined);
  const newest = notes.toSorted((a, b) => b.createdAt - a.createdAt)[0];
  const spec = specificationNoted(newest?.madeFrom);
  if (spec === undefined) {
    const ofData = newestOf(claims) ?? newestOf(owned.claims);
    return ofData === undefined ? undefined : { version: ofData };
  }
  const members = [
    ...pods.filter(({ owned, deleting }) => owned && !deleting),
    ...claims.filter(({ owned, deleting, keptUntil }) => owned && !deleting && keptUntil === undefined),
  ];
  const version = newestOf(pods);
  const size = new Set(members.map(({ name }) => name)).size;
  // Members know each other by their URLs, and a domain that was written once and taken back may be noted.
  const { ClusterDomain: _, ...pod } = spec.pod ?? {};
  return { ...spec, pod, size, ...(version !== undefined && { version }) };
}

/** The newest release that those of ours are marked with. */
function newestOf(
  marked: readonly { readonly owned: boolean; readonly version?: string | undefined }[],
): string | undefined {
  const versions = marked.flatMap(({ owned, version = '' }) => (owned && minorOf(version) ? [version] : []));
  return versions.toSorted(compareVersions).at(-1);
}

/** Without those that a restore put aside, which are owned as well once the status is lost. */
function ofThisIncarnation(cluster: ClusterFacts, owned: Owned): Pick<Owned, 'pods' | 'claims'> {
  const now = stampedToken({ cluster, ...owned });
  return {
    pods: owned.pods.filter(({ token }) => token === now),
    claims: owned.claims.filter(({ token }) => token === now),
  };
}

/** Only then it matters what the cluster has agreed on. */
function isAboutToUpgrade({ config, status }: ClusterFacts, pods: readonly PodFacts[]): boolean {
  const isOther = (version: string | undefined): boolean => version !== config.version;
  return (
    (status.targetVersion ?? '') !== '' ||
    // A new member that could not start may have met a downgrade that somebody enabled.
    status.givenUp !== undefined ||
    isOther(status.currentVersion) ||
    // Of a lost status, the oldest of two versions is taken for the current one.
    pods.some(({ version }) => version !== undefined && isOther(version))
  );
}

/** The custom resource as the planner sees it. */
export function clusterFacts(cluster: EtcdCluster): ClusterFacts {
  const { metadata, status = {} } = cluster;
  const config = withDefaults(cluster.spec, { version: status.targetVersion || status.currentVersion });
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    ...(metadata.finalizers?.includes(ORPHAN_FINALIZER) && { orphaning: true }),
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    object: cluster,
    config: { ...config, pod: { ...config.pod, ClusterDomain: domainOf(cluster) } },
    status,
  };
}

type Owned = Pick<
  Observation,
  'pods' | 'claims' | 'storageClassExists' | 'peerService' | 'clientService' | 'disruptionBudget'
>;

async function ownedObjects(
  kube: KubeClient,
  cluster: ClusterFacts,
  {
    names,
    unlabelled,
    now,
    returning,
  }: {
    readonly names: readonly string[];
    readonly unlabelled: NamesSeen['unlabelled'];
    readonly now: number;
    /** Incarnations that are to be gone back to. */
    readonly returning: Promise<readonly string[]>;
  },
): Promise<Owned> {
  const { namespace, name, uid, status } = cluster;
  // Until then there may be none; of a restore there is as soon as the backup was brought onto it.
  const isMade = status.clusterID !== undefined || status.incarnation?.restore?.filled === true;
  const hasClaims = status.storage?.kind === 'PersistentVolumeClaim' && isMade;
  const [pods, claims, peer, client, budget, tokens] = await Promise.all([
    findObjects(kube, POD, {
      namespace,
      name,
      names: [...recordedNames(cluster), ...names],
      isUnlabelled: unlabelled.includes(POD.kind),
    }),
    findObjects(kube, CLAIM, {
      namespace,
      name,
      names: [...(hasClaims ? recordedNames(cluster) : []), ...names],
      isUnlabelled: unlabelled.includes(CLAIM.kind),
    }),
    kube.get({ ...SERVICE, namespace, name: peerServiceName(name) }),
    kube.get({ ...SERVICE, namespace, name: clientServiceName(name) }),
    kube.get({ ...BUDGET, namespace, name: disruptionBudgetName(name) }),
    returning,
  ]);
  const hosted = await withHosts(
    kube,
    pods.map(pod => podFacts(pod, uid, name)),
    now,
  );
  const seenPods = await withLeavingNodes(kube, hosted, status);
  const seenClaims = claims.map(object => ({ object, facts: claimFacts(object, cluster) }));
  const homes = await withHomes(kube, {
    claims: seenClaims,
    pods: seenPods,
    status,
    returning: tokens,
  });
  const storageClassExists = await askedClassExists(kube, cluster, homes);
  return {
    pods: seenPods,
    claims: await withExpandable(kube, cluster, homes),
    ...(storageClassExists !== undefined && { storageClassExists }),
    peerService: objectFacts(peer, uid, buildPeerService(cluster.object)),
    clientService: serviceFacts(client, pods, { ownerUid: uid, wanted: buildClientService(cluster.object) }),
    disruptionBudget: budgetFacts(budget, uid, number => buildDisruptionBudget(cluster.object, number)),
  };
}

/**
 * The members that are recorded: a pod or claim of theirs that is gone proves something, one whose labels somebody took off
 * proves nothing. Right after a lost status was recorded again nobody has been observed yet.
 */
export function recordedNames({ status }: ClusterFacts): string[] {
  const observed = status.members?.details ?? [];
  const known = observed.length > 0 ? observed : (status.incarnation?.members ?? []);
  return known.map(({ name }) => name);
}

/**
 * Names of members that a quorum lists and of which nothing was looked for by name, such as a learner that was just added, when
 * pods or claims of these names are there all the same.
 */
async function overlooked(kube: KubeClient, observation: Observation): Promise<string[]> {
  const { cluster, pods, claims } = observation;
  const hasClaims = cluster.status.storage?.kind === 'PersistentVolumeClaim';
  const lacks = (objects: readonly { readonly name: string }[], member: string) =>
    !objects.some(({ name }) => name === member);
  const names = memberViews(observation)
    .filter(({ ours, name }) => ours && (lacks(pods, name) || (hasClaims && lacks(claims, name))))
    .map(({ name }) => name)
    .filter(name => !recordedNames(cluster).includes(name));
  const found = await Promise.all(
    [POD, CLAIM].map(kind => getAll(kube, kind, { namespace: cluster.namespace, names })),
  );
  const seen = (object: KubeObject) =>
    (object.kind === POD.kind ? pods : claims).some(({ name }) => name === object.metadata.name);
  return found.flat().flatMap(object => (seen(object) ? [] : [object.metadata.name]));
}
