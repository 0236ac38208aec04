/** The operator as a release of its chart in a stack, the way a person installs it with Helm. */
import type { KubeObject } from '../../src/kube/port.ts';
import type { World } from './e2e.ts';
import { CHART, type Helm } from './helm.ts';
import { poll } from './poll.ts';

/** As the pages of this project call it. */
const RELEASE = 'etcd-operator';
const POD = { apiVersion: 'v1', kind: 'Pod' } as const;

export class ChartRelease {
  readonly #world: World;
  readonly #helm: Helm;
  readonly namespace: string;

  constructor(world: World, helm: Helm, namespace: string) {
    this.#world = world;
    this.#helm = helm;
    this.namespace = namespace;
  }

  /** Installs it with these flags, and gives what Helm said. Its replicas are not ready then. */
  install(...flags: readonly string[]): Promise<string> {
    return this.#helm.run('install', RELEASE, CHART, '-n', this.namespace, ...flags);
  }

  /** Upgrades it with the values that it has and these flags. */
  async upgrade(...flags: readonly string[]): Promise<void> {
    await this.#helm.run(
      'upgrade',
      RELEASE,
      CHART,
      '-n',
      this.namespace,
      '--reset-then-reuse-values',
      ...flags,
    );
  }

  async rollback(revision: number): Promise<void> {
    await this.#helm.run('rollback', RELEASE, '-n', this.namespace, String(revision));
  }

  /** Uninstalls it, waits until none of its pods is left, and gives what Helm said. */
  async uninstall(): Promise<string> {
    const said = await this.#helm.run('uninstall', RELEASE, '-n', this.namespace);
    await this.gone();
    return said;
  }

  /** Waits until none of its pods is left. */
  async gone(): Promise<void> {
    await poll(async () => (await this.#pods()).length === 0);
  }

  /** Waits until every replica of its last revision is ready. */
  async ready(): Promise<void> {
    const deployment = `deployment/${RELEASE}`;
    await this.#world.stack.kubectl('-n', this.namespace, 'rollout', 'status', deployment, '--timeout=180s');
    // Those of the revision before have a while to end.
    await poll(
      async () => (await this.#pods('etcd-operator')).length === 2 && (await this.replicas()).length === 2,
    );
  }

  /** The uids of the operator's pods that are not on their way out. */
  async replicas(): Promise<readonly string[]> {
    return (await this.#pods('etcd-operator'))
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid ?? '');
  }

  /** The value of a variable of the operator, as its Deployment has it. */
  async variable(name: string): Promise<string> {
    const path = `{.spec.template.spec.containers[0].env[?(@.name=="${name}")].value}`;
    const args = ['get', 'deployment', RELEASE, '-o', `jsonpath=${path}`];
    return this.#world.stack.kubectl('-n', this.namespace, ...args);
  }

  /** With those of the bundled Temporal, unless a name says which. */
  async #pods(name?: string): Promise<readonly KubeObject[]> {
    const labels = [`app.kubernetes.io/instance=${RELEASE}`];
    if (name !== undefined) labels.push(`app.kubernetes.io/name=${name}`);
    const options = { namespace: this.namespace, labelSelector: labels.join(',') };
    return (await this.#world.kube.list(POD, options)).items;
  }
}
