/** Follows the EtcdClusters of a fleet: when each became healthy. */
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/port.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import type { StoreChange } from '../../../src/kube/store.ts';
import { holds } from '../../../test/stack/e2e.ts';
import { poll } from '../../../test/stack/poll.ts';
import { CLUSTER } from './fleet.ts';

interface Seen {
  /** Its status is of its specification, and says that all members are well. */
  readonly healthy: boolean;
  /** Milliseconds, of the clock that never goes back: since when it says so. */
  readonly since: number;
}

const PATIENCE_MS = 180_000;

export class ClusterWatch {
  readonly #reflector: Reflector;
  readonly #seen = new Map<string, Seen>();

  constructor(kube: KubeClient, namespace: string) {
    const onChange = ({ type, object }: StoreChange): void => {
      if (type === 'deleted') this.#seen.delete(object.metadata.name);
      else this.#note(object);
    };
    this.#reflector = new Reflector({ client: kube, kind: CLUSTER, namespace, slim, onChange });
    this.#reflector.start();
  }

  stop(): Promise<void> {
    return this.#reflector.stop();
  }

  /** When each cluster became healthy for the last time, of those that are. */
  healthySince(): ReadonlyMap<string, number> {
    const healthy = [...this.#seen].filter(([, { healthy }]) => healthy);
    return new Map(healthy.map(([name, { since }]) => [name, since]));
  }

  /** Waits until all of these are healthy. Fails when for three minutes not one more of them is. */
  async untilHealthy(names: readonly string[], progress: (text: string) => void): Promise<void> {
    let [most, shownAt, since] = [-1, 0, performance.now()];
    await poll(
      async () => {
        const now = names.filter(name => this.#seen.get(name)?.healthy).length;
        if (now > most) [most, since] = [now, performance.now()];
        if (performance.now() - shownAt > 10_000) {
          progress(`${now} of ${names.length} clusters are healthy`);
          shownAt = performance.now();
        }
        return now === names.length || performance.now() - since > PATIENCE_MS;
      },
      { timeoutMs: Number.POSITIVE_INFINITY, intervalMs: 250 },
    );
    if (most < names.length)
      throw new Error(
        `${most} of ${names.length} clusters are healthy, and for ${PATIENCE_MS / 1_000} s not one more`,
      );
  }

  #note(object: KubeObject): void {
    const healthy = object['healthy'] === true;
    const before = this.#seen.get(object.metadata.name);
    const since = before?.healthy === healthy ? before.since : performance.now();
    this.#seen.set(object.metadata.name, { healthy, since });
  }
}

/** What is kept of a cluster. */
function slim(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace, uid, resourceVersion, generation } = metadata;
  const cluster = object as unknown as EtcdCluster;
  const isCurrent = cluster.status?.observedGeneration === generation;
  const healthy = isCurrent && holds(cluster, 'Healthy') && holds(cluster, 'Available');
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(uid && { uid }),
      ...(resourceVersion && { resourceVersion }),
    },
    healthy,
  };
}
