/** The API server as a plan looks at it: with this specification in place of the one that is stored, everything read once, nothing written. */
import { isForbidden } from '../../kube/errors.ts';
import type { KubeClient, KubeObject, ObjectRef } from '../../kube/port.ts';

/** What may be looked at only with rights in the whole Kubernetes cluster, and what a plan does not know without. */
const MAY_BE_HIDDEN: Readonly<Record<string, string>> = {
  Node: 'whether the nodes still exist, or are cordoned (no right to read nodes): no volume is taken to be lost with its node, and no member to leave one',
  PersistentVolume:
    'where the volumes lie (no right to read persistentvolumes): no volume is taken to be lost with its node',
};

/** Reads of one command. What could not be read is in `hidden`, each as a sentence. */
export class ReadOnlyKube {
  readonly hidden: Set<string> = new Set();
  readonly #kube: KubeClient;
  readonly #reads = new Map<string, Promise<unknown>>();

  constructor(kube: KubeClient) {
    this.#kube = kube;
  }

  /** A client that finds `cluster` under its name, and refuses to write. */
  showing(cluster: KubeObject): KubeClient {
    const { namespace, name } = cluster.metadata;
    const refuse = (): Promise<never> => Promise.reject(new Error('a plan writes nothing'));
    const isShown = (ref: ObjectRef): boolean =>
      ref.kind === cluster.kind && ref.namespace === namespace && ref.name === name;
    return {
      get: ref => (isShown(ref) ? Promise.resolve(structuredClone(cluster)) : this.#get(ref)),
      list: (kind, options) => this.#read({ ...kind, ...options }, () => this.#kube.list(kind, options)),
      create: refuse,
      apply: refuse,
      patch: refuse,
      replace: refuse,
      delete: refuse,
      watch: () => {
        throw new Error('a plan watches nothing');
      },
    };
  }

  /** The operator may read nodes, and keeps members with their data in their pods from eviction then: not being shown one says nothing against that. */
  async #get(ref: ObjectRef): Promise<KubeObject | undefined> {
    try {
      return await this.#read(ref, () => this.#kube.get(ref));
    } catch (error) {
      const { apiVersion, kind, name } = ref;
      if (kind === 'Node' && isForbidden(error)) return { apiVersion, kind, metadata: { name } };
      throw error;
    }
  }

  /** Each is read once, so that every plan of the command is about the same moment. */
  #read<T>(what: { readonly kind: string }, read: () => Promise<T>): Promise<T> {
    const key = JSON.stringify(what);
    const known = this.#reads.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const answer = read().catch((error: unknown) => {
      const consequence = MAY_BE_HIDDEN[what.kind];
      if (isForbidden(error) && consequence !== undefined) this.hidden.add(consequence);
      throw error;
    });
    this.#reads.set(key, answer);
    return answer;
  }
}
