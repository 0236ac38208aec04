/** Where volumes live: a volume that is pinned to a node is lost with that node. */
import type { KindRef, KubeClient, KubeObject } from '../kube/port.ts';
import type { ClaimFacts, PodFacts } from '../planner/observation.ts';

const VOLUME: KindRef = { apiVersion: 'v1', kind: 'PersistentVolume' };
const NODE: KindRef = { apiVersion: 'v1', kind: 'Node' };
const HOSTNAME = 'kubernetes.io/hostname';

interface VolumeSpec {
  readonly nodeAffinity?: {
    readonly required?: { readonly nodeSelectorTerms?: readonly SelectorTerm[] };
  };
}
interface SelectorTerm {
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** The claims, each with its volume's node where its member has no ready pod: only then it matters. */
export async function withHomes(
  kube: KubeClient,
  claims: readonly { readonly facts: ClaimFacts; readonly object: KubeObject }[],
  pods: readonly PodFacts[],
): Promise<ClaimFacts[]> {
  return Promise.all(
    claims.map(async ({ facts, object }) => {
      const { volumeName } = (object['spec'] ?? {}) as { volumeName?: string };
      const isReady = pods.some(pod => pod.name === facts.name && pod.ready);
      if (!facts.owned || isReady || !volumeName) return facts;
      const volume = await kube.get({ ...VOLUME, name: volumeName });
      const node = pinnedTo(volume);
      if (node === undefined) return facts;
      return { ...facts, home: { node, exists: (await kube.get({ ...NODE, name: node })) !== undefined } };
    }),
  );
}

/** The one host that a volume can be used on. A node is found by its name, which is its host name nearly everywhere. */
function pinnedTo(volume: KubeObject | undefined): string | undefined {
  const terms = (volume?.['spec'] as VolumeSpec | undefined)?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const hosts = terms.flatMap(({ matchExpressions = [] }) =>
    matchExpressions
      .filter(({ key, operator }) => key === HOSTNAME && operator === 'In')
      .flatMap(({ values = [] }) => values),
  );
  return new Set(hosts).size === 1 ? hosts[0] : undefined;
}
