/**
 * Kubernetes' disruption controller and the Eviction API, with their rules and their lag (kubernetes, pkg/controller/disruption and
 * pkg/registry/core/pod/storage/eviction.go). What the controller last saw is kept here; the status of the PodDisruptionBudget has the
 * evicted pods alone, since the operator reads nothing else of it.
 */
import type { KubeObject } from '../../src/kube/port.ts';
import { CLUSTER } from './invariants.ts';
import type { SimKube } from './sim-kube.ts';
import { statusOf } from './sim-kubelet.ts';

/** A pod that was evicted and is not being deleted after this long counts again, in milliseconds. */
const DELETION_MS = 120_000;

interface Spec {
  readonly minAvailable?: number;
  readonly maxUnavailable?: number;
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

/** What the controller wrote when it looked last. */
export interface Looked {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly uid: string;
  readonly observedGeneration: number;
  readonly desiredHealthy: number;
  readonly currentHealthy: number;
  allowed: number;
  /** Evicted since, and when. */
  readonly disrupted: Map<string, number>;
  /** The uids of the pods that it counted as healthy. */
  readonly healthy: ReadonlySet<string>;
}

/** Why a pod may go: its budget has room, it is not ready where enough others are, or no budget is asked. */
export type Allowed = 'room' | 'not ready' | 'no budget';

export class SimDisruptions {
  readonly #kube: SimKube;
  #looked: Looked | undefined;
  /** The controller has not come to it yet. */
  isLate = false;
  /** Generation and uid of a budget that somebody else wrote. */
  #others: string | undefined;

  constructor(kube: SimKube) {
    this.#kube = kube;
  }

  get looked(): Looked | undefined {
    return this.#looked;
  }

  get budget(): KubeObject | undefined {
    return this.#kube.peek('PodDisruptionBudget', CLUSTER);
  }

  /** Somebody who is not the operator has just written the budget, or changed the membership that it was written for. */
  edited(): void {
    this.#others = identityOf(this.budget);
  }

  /** The budget is not there, or is as somebody else wrote it, or the controller saw it last when it was so. */
  get isOthers(): boolean {
    const { budget, looked } = this;
    if (budget === undefined || !isOurs(budget) || identityOf(budget) === this.#others) return true;
    return looked !== undefined && `${looked.uid} ${looked.observedGeneration}` === this.#others;
  }

  /** The controller looks at everything as it is. */
  look(): void {
    const { budget } = this;
    if (budget === undefined) {
      this.#looked = undefined;
      return;
    }
    const pods = this.#kube.all('Pod').filter(pod => isSelected(budget, pod));
    const now = this.#kube.now();
    const { uid = '', generation = 1 } = budget.metadata;
    const earlier = this.#looked?.uid === uid ? this.#looked.disrupted : new Map<string, number>();
    const disrupted = new Map(
      [...earlier].filter(([pod, at]) => {
        const found = pods.find(({ metadata }) => metadata.uid === pod);
        return found !== undefined && !isGoing(found) && now - at < DELETION_MS;
      }),
    );
    const healthy = pods.filter(
      pod => isReady(pod) && !isGoing(pod) && !disrupted.has(pod.metadata.uid ?? ''),
    );
    const desiredHealthy = this.#desired(budget);
    this.#looked = {
      at: now,
      uid,
      observedGeneration: generation,
      desiredHealthy,
      currentHealthy: healthy.length,
      allowed: pods.length === 0 ? 0 : Math.max(0, healthy.length - desiredHealthy),
      disrupted,
      healthy: new Set(healthy.map(({ metadata }) => metadata.uid ?? '')),
    };
    if (earlier.size > 0) this.#write(budget, this.#looked);
  }

  #write(budget: KubeObject, { disrupted }: Looked): void {
    const names = this.#kube
      .all('Pod')
      .filter(({ metadata }) => disrupted.has(metadata.uid ?? ''))
      .map(({ metadata }) => [metadata.name, new Date(disrupted.get(metadata.uid ?? '') ?? 0).toISOString()]);
    this.#kube.change(budget, { status: { disruptedPods: Object.fromEntries(names) } });
  }

  /** What the API answers when somebody asks for an eviction; the pod is not deleted here. Undefined: it is refused. */
  ask(pod: KubeObject): Allowed | undefined {
    const { budget, looked } = this;
    const { phase = 'Pending' } = statusOf(pod);
    if (['Pending', 'Succeeded', 'Failed'].includes(phase) || isGoing(pod)) return 'no budget';
    if (budget === undefined || !isSelected(budget, pod)) return 'no budget';
    if (looked?.uid !== budget.metadata.uid || looked === undefined) return undefined;
    const { desiredHealthy, currentHealthy, observedGeneration } = looked;
    if (!isReady(pod) && currentHealthy >= desiredHealthy && desiredHealthy > 0) return 'not ready';
    if (observedGeneration < (budget.metadata.generation ?? 1) || looked.allowed === 0) return undefined;
    looked.allowed -= 1;
    looked.disrupted.set(pod.metadata.uid ?? '', this.#kube.now());
    this.#write(budget, looked);
    return 'room';
  }

  /** `maxUnavailable` is of as many pods as the scale of their owner says. */
  #desired(budget: KubeObject): number {
    const { minAvailable, maxUnavailable } = budget['spec'] as Spec;
    if (maxUnavailable === undefined) return minAvailable ?? 0;
    const { size = 0 } = (this.#kube.peek('EtcdCluster', CLUSTER)?.['spec'] ?? {}) as { size?: number };
    return Math.max(0, size - maxUnavailable);
  }
}

function identityOf(budget: KubeObject | undefined): string | undefined {
  return budget && `${budget.metadata.uid} ${budget.metadata.generation ?? 1}`;
}

function isOurs({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences?.some(({ controller }) => controller === true) === true;
}

/** A budget without a selector selects nothing. */
function isSelected(budget: KubeObject, { metadata: { labels = {} } }: KubeObject): boolean {
  const { matchLabels } = (budget['spec'] as Spec).selector ?? {};
  if (matchLabels === undefined) return false;
  return Object.entries(matchLabels).every(([label, value]) => labels[label] === value);
}

export function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = statusOf(pod);
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

export function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
