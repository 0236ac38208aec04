/** Gathers everything that one pass knows. Reads only. */
import { withDefaults } from '../api/defaults.ts';
import {
  clientServiceName,
  disruptionBudgetName,
  FINALIZER,
  LABEL_CLUSTER,
  memberName,
  peerServiceName,
  serialOf,
} from '../api/names.ts';
import type { EtcdCluster } from '../api/types.ts';
import type { KindRef, KubeClient, KubeObject } from '../kube/port.ts';
import { disruptionBudget as buildDisruptionBudget } from '../objects/budget.ts';
import { clientService as buildClientService, peerService as buildPeerService } from '../objects/services.ts';
import { isToCompareKeys } from '../planner/disruption.ts';
import { askedSize, isSmaller } from '../planner/growth.ts';
import { hasEnded } from '../planner/members.ts';
import type { Actor, ClaimFacts, ClusterFacts, Observation } from '../planner/observation.ts';
import { keysExpected } from '../planner/restore/seed.ts';
import type { Dependencies } from './dependencies.ts';
import { backupsOfCluster } from './backup/of-cluster.ts';
import { restoresOfCluster } from './restore/resource.ts';
import { observeTls } from './tls-observe.ts';
import { claimFacts, objectFacts, podFacts } from './pod-facts.ts';
import { countKeys, hashMembers, probeMembers } from './probe.ts';
import { type ClusterRef, readCluster } from './resource.ts';
import { withHomes } from './volume-homes.ts';

export const POD: KindRef = { apiVersion: 'v1', kind: 'Pod' };
export const CLAIM: KindRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
export const SERVICE: KindRef = { apiVersion: 'v1', kind: 'Service' };
export const DISRUPTION_BUDGET: KindRef = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
const STORAGE_CLASS: KindRef = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** What is there now. Undefined when the resource is gone. `actor`: what people said, which may be what touches a member. */
export async function observe(
  deps: Pick<Dependencies, 'kube' | 'etcd' | 'now'>,
  ref: ClusterRef,
  actor: Actor = {},
): Promise<{ cluster: EtcdCluster; observation: Observation } | undefined> {
  const cluster = await readCluster(deps.kube, ref);
  if (cluster === undefined) return undefined;
  const facts = clusterFacts(cluster);
  const { incarnation } = facts.status;
  const undecided = incarnation === undefined && !facts.deleting;
  const names =
    undecided || incarnation?.rebuilt === true ? findNames(deps.kube, facts) : Promise.resolve([]);
  const [owned, tls, defaultStorageClass, namesSeen, backups, restores] = await Promise.all([
    ownedObjects(deps.kube, facts, names),
    facts.deleting ? undefined : observeTls(deps.kube, cluster, deps.now()),
    undecided ? findDefaultStorageClass(deps.kube) : undefined,
    names,
    backupsOfCluster(deps.kube, facts),
    restoresOfCluster(deps.kube, facts),
  ]);
  const { namespace, name } = ref;
  const domain = facts.config.pod.ClusterDomain;
  // A cluster that is being deleted has nothing left to say that would change what is done.
  // The address of a pod that has ended is nobody's: whoever dials it waits.
  const asked = facts.deleting ? [] : owned.pods.filter(pod => pod.owned && !hasEnded(pod));
  const address = { name, namespace, domain, access: tls?.access, asksAgreed: isAboutToUpgrade(facts) };
  const etcd = await probeMembers(deps.etcd, address, asked);
  const observation: Observation = {
    now: deps.now(),
    cluster: facts,
    ...owned,
    defaultStorageClass,
    namesSeen,
    ...etcd,
    tls: tls?.facts,
    ...(backups.length > 0 && { backups }),
    ...restores,
  };
  const expected = keysExpected(observation);
  if (expected !== undefined) {
    const seedKeys = await countKeys(deps.etcd, address, { ...observation, revision: expected.revision });
    return { cluster, observation: { ...observation, seedKeys } };
  }
  // Whether the members hold the same keys costs reading all of them: asked when one is about to be touched, and when an upgrade ends.
  if (!isToCompareKeys(observation, actor)) return { cluster, observation };
  const hashes = await hashMembers(deps.etcd, address, observation);
  return { cluster, observation: { ...observation, hashes } };
}

/** Only then it matters what the cluster has agreed on. */
function isAboutToUpgrade({ config, status }: ClusterFacts): boolean {
  return (status.targetVersion ?? '') !== '' || config.version !== status.currentVersion;
}

/** The custom resource as the planner sees it. */
export function clusterFacts(cluster: EtcdCluster): ClusterFacts {
  const { metadata, status = {} } = cluster;
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation ?? 0,
    deleting: metadata.deletionTimestamp !== undefined,
    hasFinalizer: metadata.finalizers?.includes(FINALIZER) ?? false,
    object: cluster,
    config: withDefaults(cluster.spec, { version: status.targetVersion || status.currentVersion }),
    status,
  };
}

type Owned = Pick<Observation, 'pods' | 'claims' | 'peerService' | 'clientService' | 'disruptionBudget'>;

async function ownedObjects(
  kube: KubeClient,
  cluster: ClusterFacts,
  namesSeen: Promise<readonly string[]>,
): Promise<Owned> {
  const { namespace, name, uid } = cluster;
  const labelled = { namespace, labelSelector: `${LABEL_CLUSTER}=${name}` };
  const [pods, claims, peer, client, budget] = await Promise.all([
    kube.list(POD, labelled),
    kube.list(CLAIM, labelled),
    kube.get({ ...SERVICE, namespace, name: peerServiceName(name) }),
    kube.get({ ...SERVICE, namespace, name: clientServiceName(name) }),
    kube.get({ ...DISRUPTION_BUDGET, namespace, name: disruptionBudgetName(name) }),
  ]);
  const seenPods = pods.items.map(pod => podFacts(pod, uid));
  const unlabelled = await claimsByName(kube, cluster, { listed: claims.items, namesSeen: await namesSeen });
  const seenClaims = [...claims.items, ...unlabelled].map(object => ({
    object,
    facts: claimFacts(object, cluster),
  }));
  return {
    pods: seenPods,
    claims: await withExpandable(
      kube,
      cluster,
      await withHomes(kube, { claims: seenClaims, pods: seenPods, status: cluster.status }),
    ),
    peerService: objectFacts(peer, uid, buildPeerService(cluster.object)),
    clientService: objectFacts(client, uid, buildClientService(cluster.object)),
    disruptionBudget: objectFacts(budget, uid, buildDisruptionBudget(cluster.object)),
  };
}

/**
 * Claims of members that the list does not show, looked for by their names: a claim that is gone proves that a member
 * is lost, one whose labels somebody took off proves nothing. Of a cluster whose status was lost every name counts: whether
 * there are claims decides what a pod that goes takes with it.
 */
async function claimsByName(
  kube: KubeClient,
  { namespace, status }: ClusterFacts,
  { listed, namesSeen }: { readonly listed: readonly KubeObject[]; readonly namesSeen: readonly string[] },
): Promise<KubeObject[]> {
  const { storage, clusterID, incarnation } = status;
  const lives = storage?.kind === 'PersistentVolumeClaim' && clusterID !== undefined;
  // Right after a lost status was recorded again nobody has been observed yet.
  const observed = status.members?.details ?? [];
  const known = observed.length > 0 ? observed : (incarnation?.members ?? []);
  const recorded = lives ? known : [];
  const members = [...recorded.map(({ name }) => name), ...namesSeen];
  const missing = members.filter(name => !listed.some(claim => claim.metadata.name === name));
  const found = await Promise.all(missing.map(name => kube.get({ ...CLAIM, namespace, name })));
  return found.filter(claim => claim !== undefined);
}

/** Whether claims can grow, asked only when one of them is too small. */
async function withExpandable(
  kube: KubeClient,
  cluster: ClusterFacts,
  claims: readonly ClaimFacts[],
): Promise<readonly ClaimFacts[]> {
  const asked = askedSize({ cluster });
  if (!claims.some(claim => claim.owned && isSmaller(claim.requested, asked))) return claims;
  const { items } = await kube.list(STORAGE_CLASS);
  const growing = items.filter(item => item['allowVolumeExpansion'] === true).map(item => item.metadata.name);
  return claims.map(claim => ({ ...claim, expandable: growing.includes(claim.storageClassName ?? '') }));
}

async function findDefaultStorageClass(kube: KubeClient): Promise<string | undefined> {
  const { items } = await kube.list(STORAGE_CLASS);
  return items.find(item => item.metadata.annotations?.[DEFAULT_CLASS] === 'true')?.metadata.name;
}

/** Names of the namespace's pods and claims that look like members of this cluster, whoever made them. */
async function findNames(kube: KubeClient, { namespace, name }: ClusterFacts): Promise<string[]> {
  const slim = ({ apiVersion, kind, metadata }: KubeObject): KubeObject => ({ apiVersion, kind, metadata });
  const lists = await Promise.all([POD, CLAIM].map(kind => kube.list(kind, { namespace, slim })));
  const names = lists.flatMap(({ items }) => items.map(item => item.metadata.name));
  return [...new Set(names)].filter(seen => {
    const serial = serialOf(seen);
    return serial !== undefined && memberName(name, serial) === seen;
  });
}
