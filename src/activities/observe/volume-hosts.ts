/** Where volumes live: a volume that is pinned to a host is lost with that host. */
import { isForbidden } from '../../kube/errors.ts';
import type { KindRef, KubeClient, KubeObject } from '../../kube/port.ts';
import { homeOf, type NodeFacts, type SelectorTerm } from '../../planner/checks/node-affinity.ts';
import { nodeNoted } from '../../planner/model/kept-incarnations.ts';
import type { ClaimFacts, PodFacts } from '../../planner/model/observation.ts';
import type { EtcdClusterStatus } from '../../api/schemas/types.ts';

const VOLUME: KindRef = { apiVersion: 'v1', kind: 'PersistentVolume' };
const NODE: KindRef = { apiVersion: 'v1', kind: 'Node' };
/** Of claims: the Node that the scheduler chose, by name, before the volume was made there. */
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

interface Seen {
  readonly claims: readonly { readonly facts: ClaimFacts; readonly object: KubeObject }[];
  readonly pods: readonly PodFacts[];
  readonly status: EtcdClusterStatus;
  /** Incarnations that are to be gone back to: whether their volumes are there matters. */
  readonly returning: readonly string[];
}

/** The claims, each with its volume's node where its member has no ready pod: only then it matters. */
export async function withHomes(
  kube: KubeClient,
  { claims, pods, status, returning }: Seen,
): Promise<readonly ClaimFacts[]> {
  const terms = await Promise.all(
    claims.map(async ({ facts, object }) => {
      const isReady = pods.some(pod => pod.name === facts.name && pod.ready);
      const isWanted = facts.owned || returning.includes(facts.token ?? '');
      return isWanted && !isReady ? affinityOf(kube, object) : [];
    }),
  );
  if (terms.every(({ length }) => length === 0)) return claims.map(({ facts }) => facts);
  const nodes = await listNodes(kube);
  return claims.map(({ facts, object }, index) => {
    const usedOn = nodesOf(object, { pods, status });
    const home = homeOf({ terms: terms[index] ?? [], nodes, usedOn });
    return home === undefined ? facts : { ...facts, home };
  });
}

/** What the volume of a claim asks of its node; nothing where it has none yet, or where volumes may not be read. */
async function affinityOf(kube: KubeClient, claim: KubeObject): Promise<readonly SelectorTerm[]> {
  const { volumeName } = (claim['spec'] ?? {}) as { volumeName?: string };
  if (!volumeName) return [];
  const volume = await kube.get({ ...VOLUME, name: volumeName }).catch(unlessForbidden);
  const { nodeAffinity, claimRef } = (volume?.['spec'] ?? {}) as {
    nodeAffinity?: { required?: { nodeSelectorTerms?: readonly SelectorTerm[] } };
    claimRef?: ClaimRef;
  };
  if (claimRef !== undefined && !isOf(claimRef, claim)) return [];
  return nodeAffinity?.required?.nodeSelectorTerms ?? [];
}

interface ClaimRef {
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** A claim can name any volume. Only the volume that is bound to it holds its data; where others lie is nobody's business here. */
function isOf({ namespace, name, uid }: ClaimRef, { metadata }: KubeObject): boolean {
  const isSameClaim = uid === undefined || uid === metadata.uid;
  return isSameClaim && namespace === metadata.namespace && name === metadata.name;
}

/** Undefined where the operator may not list them: then nobody knows. */
async function listNodes(kube: KubeClient): Promise<readonly NodeFacts[] | undefined> {
  const slim = ({ apiVersion, kind, metadata: { name, labels = {} } }: KubeObject): KubeObject => ({
    apiVersion,
    kind,
    metadata: { name, labels },
  });
  const listed = await kube.list(NODE, { slim }).catch(unlessForbidden);
  return listed?.items.map(({ metadata: { name, labels = {} } }) => ({ name, labels }));
}

/** The Nodes on which the member of a claim was seen last, or for which its volume was made. */
function nodesOf({ metadata }: KubeObject, { pods, status }: Pick<Seen, 'pods' | 'status'>): string[] {
  const { name, annotations = {} } = metadata;
  const pod = pods.find(candidate => candidate.owned && candidate.name === name);
  const before = status.members?.details?.find(detail => detail.name === name);
  const noted = [annotations[SELECTED_NODE], nodeNoted(annotations, name)];
  const known = [pod?.node, before?.node, ...noted].filter(node => node !== undefined);
  return [...new Set(known)];
}

function unlessForbidden(error: unknown): undefined {
  if (isForbidden(error)) return undefined;
  throw error;
}
