/** Nodes: where pods run and local volumes lie. A node can be down, which is not reported, or gone, which Kubernetes knows. */
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import type { Random } from './random.ts';
import type { SimKube } from './sim-kube.ts';

const HOSTNAME = 'kubernetes.io/hostname';
/** Of claims: the Node that the scheduler chose for their volume, by name. */
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const NODES = 7;

export class SimNodes {
  /** Nodes whose kubelet does nothing. */
  readonly down = new Set<string>();
  /** Nodes that never come back. */
  readonly buried = new Set<string>();
  /** At which time (milliseconds) each node that is gone went. */
  readonly goneSince = new Map<string, number>();
  /** Nodes that Kubernetes has forgotten, and whose machines go on. */
  readonly unregistered = new Set<string>();
  /** How Nodes are labelled: with their own names, with those of others, or with names that no Node has (several clouds; --hostname-override). */
  readonly #style: 'own' | 'others' | 'strange';
  /** Some volumes follow their pods also where most are local. */
  hasMixedVolumes: boolean;
  /** Volumes are local: each is pinned to the node that it was first used on. */
  hasLocalVolumes: boolean;
  readonly #kube: SimKube;
  readonly #random: Random;

  constructor(kube: SimKube, random: Random) {
    this.#kube = kube;
    this.#random = random;
    this.hasLocalVolumes = random.chance(0.5);
    this.#style = random.pick(['own', 'others', 'strange'] as const) ?? 'own';
    this.hasMixedVolumes = random.chance(0.3);
    for (let node = 0; node < NODES; node += 1) this.#register(`node-${node}`);
  }

  all(): string[] {
    return this.#kube.all('Node').map(node => node.metadata.name);
  }

  /** The node that a claim's volume is pinned to. */
  homeOf(claim: KubeObject | undefined): string | undefined {
    return claim?.metadata.annotations?.[SELECTED_NODE];
  }

  /** Where a pod is to run: where its volume is, else on any node that is up; undefined when that cannot be. */
  place(claim: KubeObject | undefined): string | undefined {
    const home = this.homeOf(claim);
    if (home !== undefined) {
      const { labels } = this.#kube.peek('Node', home)?.metadata ?? {};
      return labels?.[HOSTNAME] === this.#hostnameOf(home) ? home : undefined;
    }
    return this.#random.pick(this.all().filter(node => !this.down.has(node) && !this.#isCordoned(node)));
  }

  /** Binds a claim to a volume, on this node if volumes are local. */
  bind(claim: KubeObject, node: string): void {
    const volumeName = `pv-${claim.metadata.uid}`;
    const spec = { ...(claim['spec'] as object), volumeName };
    if (!this.hasLocalVolumes || (this.hasMixedVolumes && this.#random.chance(0.5))) {
      this.#kube.change(claim, { spec, status: { phase: 'Bound' } });
      return;
    }
    const annotations = { ...claim.metadata.annotations, [SELECTED_NODE]: node };
    const metadata = { ...claim.metadata, annotations };
    this.#kube.change(claim, { metadata, spec, status: { phase: 'Bound' } });
    const matchExpressions = [{ key: HOSTNAME, operator: 'In', values: [this.#hostnameOf(node)] }];
    this.#kube.create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: volumeName },
      spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
    } as WritableObject);
  }

  /** Kubernetes forgets the node. */
  leave(node: string, now: number): void {
    const found = this.#kube.peek('Node', node);
    if (found === undefined) return;
    this.down.add(node);
    this.goneSince.set(node, now);
    this.#kube.remove(found);
  }

  /** The node never comes back; another one is there in its place. */
  bury(node: string): void {
    this.buried.add(node);
    this.#register(`node-${NODES - 1 + this.buried.size}`);
  }

  /** The node is there again, as it was. */
  restore(node: string): void {
    this.down.delete(node);
    this.goneSince.delete(node);
    if (this.#kube.peek('Node', node) === undefined) this.#register(node);
    this.mark(node, false);
  }

  /** Somebody cordons the node, or takes that back. */
  cordon(node: string, unschedulable: boolean): void {
    const found = this.#kube.peek('Node', node);
    if (found !== undefined)
      this.#kube.change(found, { spec: { ...(found['spec'] as object), unschedulable } });
  }

  #isCordoned(node: string): boolean {
    const { unschedulable } = (this.#kube.peek('Node', node)?.['spec'] ?? {}) as { unschedulable?: boolean };
    return unschedulable === true;
  }

  /** Somebody says that the machine is off, or takes that back (Kubernetes, "Non-graceful node shutdown"). */
  mark(node: string, isOutOfService: boolean): void {
    const found = this.#kube.peek('Node', node);
    const taints = isOutOfService
      ? [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute', value: 'nodeshutdown' }]
      : [];
    if (found !== undefined) this.#kube.change(found, { spec: { taints } });
  }

  /** Kubernetes has no Node of that name, and no machine that registers again. */
  isForgotten(node: string): boolean {
    return this.#kube.peek('Node', node) === undefined && !this.unregistered.has(node);
  }

  /** Somebody changes what the Node is labelled as, or puts that right. */
  relabel(node: string, hostname = this.#hostnameOf(node)): void {
    const found = this.#kube.peek('Node', node);
    if (found === undefined) return;
    this.#kube.change(found, { metadata: { ...found.metadata, labels: { [HOSTNAME]: hostname } } });
  }

  /** The Node object is gone, and everything else as it was. */
  unregister(node: string, now: number): void {
    const found = this.#kube.peek('Node', node);
    if (found === undefined) return;
    this.unregistered.add(node);
    this.goneSince.set(node, now);
    this.#kube.remove(found);
  }

  /** Kubelets register again, under other uids. */
  registerAgain(): void {
    for (const node of this.unregistered) {
      this.goneSince.delete(node);
      this.#register(node);
    }
    this.unregistered.clear();
  }

  /** What a Node is labelled as (`kubernetes.io/hostname` need not be its name: Kubernetes, "Well-Known Labels"). */
  #hostnameOf(node: string): string {
    if (this.#style === 'own') return node;
    return this.#style === 'strange'
      ? `ip-10-0-0-${node.replace('node-', '')}`
      : `node-${Number(node.replace('node-', '')) + 1}`;
  }

  #register(name: string): void {
    if (this.#kube.peek('Node', name) !== undefined) return;
    const labels = { [HOSTNAME]: this.#hostnameOf(name) };
    this.#kube.create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } } as WritableObject);
  }
}

/** The node that a pod was placed on. */
export function nodeOf(pod: KubeObject): string | undefined {
  return (pod['spec'] as { nodeName?: string }).nodeName;
}
