/** The rolling update of the operator's Deployment from one release to another, held where both releases work. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import type { World } from '../e2e.ts';
import { DIGEST, type OperatorRelease } from '../operator-release.ts';
import { readyOperators } from '../operator-processes.ts';
import { poll } from '../poll.ts';

const DEPLOYMENT = 'deployment/etcd-operator';
const REPLICAS = 2;
/** A replica that starts beside members and another that goes, on two cores. */
const PATIENT_MS = 300_000;

export class OperatorRoll {
  readonly #world: World;
  /** By the name of a pod without its last part, which all pods of one template share. */
  readonly #titles = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** CRDs, roles and what else comes before the operator; that of the previous release takes fields from the CRDs. */
  async applyPrerequisites({ deploy }: OperatorRelease): Promise<void> {
    await this.#apply('-f', join(deploy, 'operator/namespace.yaml'));
    // Releases before the EtcdRequest had no roles for users.
    for (const part of ['crd', 'rbac', 'users'].map(name => join(deploy, name)))
      if (existsSync(part)) await this.#apply('-k', part);
  }

  /** Applies the operator of a release. */
  async applyOperator({ operator }: OperatorRelease): Promise<void> {
    await this.#apply('-k', operator);
  }

  /** As the documentation says to go back. */
  async undo(): Promise<void> {
    await this.#kubectl('rollout', 'undo', DEPLOYMENT);
  }

  /**
   * Begins a roll with `how`, and holds it as soon as a replica of `to` works beside those of the other release. Gives when that was,
   * in milliseconds since the epoch.
   */
  async mix(to: OperatorRelease, how: () => Promise<void>): Promise<number> {
    await how();
    const newcomers = async () => (await this.#pods()).filter(pod => isOf(pod, to));
    await poll(async () => (await newcomers()).length > 0, { timeoutMs: PATIENT_MS, intervalMs: 50 });
    await this.#kubectl('rollout', 'pause', DEPLOYMENT);
    await poll(async () => (await this.#ready(to)).length > 0, {
      timeoutMs: PATIENT_MS,
      otherwise: () => `no replica of ${to.title} became ready`,
    });
    const others = (await readyOperators(this.#world)).filter(pod => !isOf(pod, to));
    if (others.length === 0) throw new Error(`the roll to ${to.title} was over before it could be held`);
    return Date.now();
  }

  /** Lets the roll go on, and waits until only `to` is left. Gives when the first pod of the other release was asked to go. */
  async finish(to: OperatorRelease): Promise<number> {
    await this.#remember(to);
    const resumed = Date.now();
    await this.#kubectl('rollout', 'resume', DEPLOYMENT);
    await this.settled(to);
    return resumed;
  }

  /** Waits until every replica is one of `to`, ready, and every other pod is gone. */
  async settled(to: OperatorRelease): Promise<void> {
    await poll(
      async () => {
        const pods = await this.#pods();
        return pods.length === REPLICAS && (await this.#ready(to)).length === REPLICAS;
      },
      { timeoutMs: PATIENT_MS, otherwise: () => `the operator did not become ${to.title}` },
    );
    await this.#remember(to);
  }

  /** The release of a replica, by the name of its pod. */
  releaseOf(pod: string): string {
    return this.#titles.get(templateOf(pod)) ?? `unknown (${pod})`;
  }

  /** Deletes the pod of a replica, which may hand over first. */
  async retire(pod: string): Promise<void> {
    await this.#kubectl('delete', 'pod', pod, '--wait=false');
  }

  async #remember(release: OperatorRelease): Promise<void> {
    for (const pod of await this.#pods())
      if (isOf(pod, release)) this.#titles.set(templateOf(pod.metadata.name), release.title);
  }

  async #ready(release: OperatorRelease): Promise<readonly KubeObject[]> {
    return (await readyOperators(this.#world)).filter(pod => isOf(pod, release));
  }

  async #pods(): Promise<readonly KubeObject[]> {
    const labelSelector = 'app.kubernetes.io/name=etcd-operator';
    const pods = { apiVersion: 'v1', kind: 'Pod' };
    return (await this.#world.kube.list(pods, { namespace: OPERATOR_NAMESPACE, labelSelector })).items;
  }

  async #apply(...what: string[]): Promise<void> {
    await this.#world.stack.kubectl('apply', '--server-side', '--force-conflicts', ...what);
  }

  async #kubectl(...args: string[]): Promise<void> {
    await this.#world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...args);
  }
}

const isOf = (pod: KubeObject, { image }: OperatorRelease): boolean =>
  pod.metadata.annotations?.[DIGEST] === image.digest;

const templateOf = (pod: string): string => pod.replace(/-[^-]+$/, '');
