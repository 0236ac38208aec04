/** Which names of members are taken in a namespace, by any object: a cluster that has no identity yet begins above them. */
import { LABEL_CLUSTER, memberName, serialOf } from '../../api/names.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { stampsOf } from '../../planner/model/identity.ts';
import type { ClusterFacts } from '../../planner/model/observation.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import { getAll } from './cluster-objects.ts';

export interface NamesSeen {
  readonly names: readonly string[];
  /** The kinds of which no object carries the label of the cluster. */
  readonly unlabelled: readonly string[];
}

export const NOT_ASKED: NamesSeen = { names: [], unlabelled: [] };

/** A namespace with more pods or claims than this is not listed as a whole for every cluster that is made in it. */
const FEW = 500;

type Ports = Pick<Dependencies, 'kube' | 'largeNamespaces'>;

/**
 * Names of the namespace's pods and claims that look like members of this cluster. Of a resource that may have lost its status every
 * one counts, whatever labels it carries by now. For a new one in a namespace with many objects those count that carry its label, and
 * claims of the first members and pods of no cluster (where these are many too, of the first members): whatever else is in the way is
 * found when its name is to be used.
 */
export async function findNames(ports: Ports, cluster: ClusterFacts): Promise<NamesSeen> {
  const found = await Promise.all([POD, CLAIM].map(kind => list(ports, kind, cluster)));
  const names = found.flatMap(({ items }) => items.map(({ metadata }) => metadata.name));
  return {
    names: [...new Set(names)].filter(name => isMemberName(cluster, name)),
    unlabelled: found
      .filter(({ items }) => !items.some(item => isLabelled(cluster, item)))
      .map(({ kind }) => kind),
  };
}

interface Found {
  readonly kind: string;
  readonly items: readonly KubeObject[];
}

async function list({ kube, largeNamespaces }: Ports, ref: KindRef, cluster: ClusterFacts): Promise<Found> {
  const { kind } = ref;
  const { namespace, name } = cluster;
  const of = { namespace, metadataOnly: true };
  if (!isNew(cluster)) return { kind, items: (await kube.list(ref, of)).items };
  if (largeNamespaces?.has(namespace, kind) !== true) {
    const all = await kube.list(ref, { ...of, atMost: FEW });
    if (all.isPartial !== true) return { kind, items: all.items };
    largeNamespaces?.note(namespace, kind);
  }
  const [labelled, strangers] = await Promise.all([
    kube.list(ref, { ...of, labelSelector: `${LABEL_CLUSTER}=${name}` }),
    kind === POD.kind ? ofNoCluster(kube, cluster) : ofFirstMembers(kube, ref, cluster),
  ]);
  return { kind, items: [...labelled.items, ...strangers] };
}

/** Unlike claims, which users copy with their labels, pods of these names with the label of another cluster are not to be expected. */
async function ofNoCluster(kube: KubeClient, cluster: ClusterFacts): Promise<readonly KubeObject[]> {
  const { namespace } = cluster;
  const labelSelector = `!${LABEL_CLUSTER}`;
  const found = await kube.list(POD, { namespace, metadataOnly: true, atMost: FEW, labelSelector });
  return found.isPartial === true ? ofFirstMembers(kube, POD, cluster) : found.items;
}

function ofFirstMembers(
  kube: KubeClient,
  kind: KindRef,
  { namespace, name, config }: ClusterFacts,
): Promise<readonly KubeObject[]> {
  const names = Array.from({ length: config.size }, (_, serial) => memberName(name, serial));
  return getAll(kube, kind, { namespace, names });
}

/** It never had an identity: nothing of the operator's was ever written on it. */
function isNew(cluster: ClusterFacts): boolean {
  const { status, hasFinalizer } = cluster;
  return !hasFinalizer && status.lastSerial === undefined && stampsOf(cluster).token === undefined;
}

function isMemberName(cluster: ClusterFacts, name: string): boolean {
  const serial = serialOf(name);
  return serial !== undefined && memberName(cluster.name, serial) === name;
}

function isLabelled(cluster: ClusterFacts, { metadata }: KubeObject): boolean {
  return metadata.labels?.[LABEL_CLUSTER] === cluster.name;
}
