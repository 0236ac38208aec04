/**
 * Nodes that are about to be drained and hold the data of members: a budget lets none of these pods go, and no event says that somebody asks for it.
 * So the nodes that such members are on are looked at, and only those: where every member has a volume nothing is asked.
 */
import { whyLeft } from '../../api/derived/leaving-node.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KindRef, KubeClient } from '../../kube/port.ts';
import type { KnownResources } from '../resources/known-resources.ts';

const NODE: KindRef = { apiVersion: 'v1', kind: 'Node' };

export interface LeavingNodesDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly known: Pick<KnownResources, 'all'>;
  readonly enqueue: (key: string) => void;
}

export class LeavingNodes {
  readonly #deps: LeavingNodesDeps;
  /** Why each of them is to be left, as it was last seen; '' for one that is not. */
  #seen: ReadonlyMap<string, string> = new Map();

  constructor(deps: LeavingNodesDeps) {
    this.#deps = deps;
  }

  /** Looks once; clusters are enqueued when a node of theirs is cordoned, or is not any more. */
  async round(): Promise<void> {
    const { known, enqueue } = this.#deps;
    const clusters = known.all().filter(({ cluster }) => cluster?.nodesWithData !== undefined);
    const names = new Set(clusters.flatMap(({ cluster }) => cluster?.nodesWithData ?? []));
    const before = this.#seen;
    const looked = await Promise.all([...names].map(async name => [name, await this.#look(name)] as const));
    this.#seen = new Map(looked);
    const changed = looked.flatMap(([name, left]) => ((before.get(name) ?? '') === left ? [] : [name]));
    for (const { key, cluster } of clusters)
      if (cluster?.nodesWithData?.some(node => changed.includes(node)) === true) enqueue(key);
  }

  async #look(name: string): Promise<string> {
    try {
      const node = await this.#deps.kube.get({ ...NODE, name });
      return (node && whyLeft(node)) ?? '';
    } catch (error) {
      if (isForbidden(error)) return '';
      throw error;
    }
  }
}
