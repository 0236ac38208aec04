/** Which names of members are taken in a namespace, whoever took them: a cluster that has no identity yet begins above them. */
import { LABEL_CLUSTER, memberName, serialOf } from '../../api/names.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { stampsOf } from '../../planner/model/identity.ts';
import type { ClusterFacts } from '../../planner/model/observation.ts';
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

/**
 * Names of the namespace's pods and claims that look like members of this cluster. Of a resource that may have lost its status every
 * one counts, whatever labels it carries by now. For a new one in a namespace with many objects those count that carry its label, and
 * those of the first members: whatever else is in the way is found when its name is to be used.
 */
export async function findNames(kube: KubeClient, cluster: ClusterFacts): Promise<NamesSeen> {
  const found = await Promise.all([POD, CLAIM].map(kind => list(kube, kind, cluster)));
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

async function list(kube: KubeClient, kind: KindRef, cluster: ClusterFacts): Promise<Found> {
  const { namespace, name, config } = cluster;
  const of = { namespace, metadataOnly: true };
  const all = await kube.list(kind, isNew(cluster) ? { ...of, atMost: FEW } : of);
  if (all.isPartial !== true) return { kind: kind.kind, items: all.items };
  const first = Array.from({ length: config.size }, (_, serial) => memberName(name, serial));
  const [labelled, named] = await Promise.all([
    kube.list(kind, { ...of, labelSelector: `${LABEL_CLUSTER}=${name}` }),
    getAll(kube, kind, { namespace, names: first }),
  ]);
  return { kind: kind.kind, items: [...labelled.items, ...named] };
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
