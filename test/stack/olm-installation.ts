/** The operator as OLM installs it in a stack, from the catalog of `startOlm`. */
import type { KubeObject } from '../../src/kube/port.ts';
import type { Installation } from './drill/installation.ts';
import type { World } from './e2e.ts';
import { CATALOG, CHANNEL, type Olm } from './olm.ts';
import { poll } from './poll.ts';
import { PACKAGE } from '../../scripts/olm/cluster-service-version.ts';

const WAIT = { timeoutMs: 240_000, intervalMs: 50 };
const POD = { apiVersion: 'v1', kind: 'Pod' } as const;

/** As far as it is read here. */
export interface ClusterServiceVersion {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly version: string; readonly replaces?: string };
  readonly status?: {
    readonly phase: string;
    readonly message: string;
    readonly requirementStatus?: readonly {
      readonly kind: string;
      readonly name: string;
      readonly status: string;
    }[];
  };
}

export class OlmInstallation implements Installation {
  readonly #world: World;
  readonly #olm: Olm;
  readonly namespace: string;
  /** Every phase in which a ClusterServiceVersion was seen, such as `etcd-operator.v0.2.0 Succeeded`. */
  readonly phases = new Set<string>();

  constructor(world: World, olm: Olm, namespace: string) {
    this.#world = world;
    this.#olm = olm;
    this.namespace = namespace;
  }

  /** Makes or changes the OperatorGroup. @param targets the namespaces that the operator is for; none is all of them */
  async group(...targets: readonly string[]): Promise<void> {
    await this.#olm.apply({
      apiVersion: 'operators.coreos.com/v1',
      kind: 'OperatorGroup',
      metadata: { name: 'group', namespace: this.namespace },
      spec: targets.length === 0 ? {} : { targetNamespaces: targets },
    });
  }

  /** @param env variables of the operator */
  async subscribe(env: Readonly<Record<string, string>>): Promise<void> {
    await this.#olm.apply({
      apiVersion: 'operators.coreos.com/v1alpha1',
      kind: 'Subscription',
      metadata: { name: PACKAGE, namespace: this.namespace },
      spec: {
        name: PACKAGE,
        channel: CHANNEL,
        source: CATALOG.name,
        sourceNamespace: CATALOG.namespace,
        config: { env: Object.entries(env).map(([name, value]) => ({ name, value })) },
      },
    });
  }

  /** Waits until that of this version is in a phase, and gives it. */
  reaches(version: string, phase: string): Promise<ClusterServiceVersion> {
    return poll(
      async () => {
        const all = await this.versions();
        return all.find(({ spec, status }) => spec.version === version && status?.phase === phase);
      },
      { ...WAIT, otherwise: () => this.#story(`${version} is not ${phase}`) },
    );
  }

  /**
   * Makes the Subscription say which ClusterServiceVersion is installed. Those of another name are then installed again without what the
   * Subscription says, once OLM looks at them, for which they are changed.
   */
  async installed(name: string): Promise<void> {
    const patch = JSON.stringify({ status: { installedCSV: name } });
    const how = ['--subresource=status', '--type=merge', '--patch', patch];
    await this.#kubectl('patch', 'subscription', PACKAGE, ...how);
    await this.#kubectl('label', 'csv', '--all', '--overwrite', `looked-at-after=${name}`);
  }

  /** Why containers of its pods are not started, as the kubelet says it. */
  async waitsFor(): Promise<string> {
    const path = '{.items[*].status.containerStatuses[*].state.waiting.message}';
    return this.#kubectl('get', 'pods', '-o', `jsonpath=${path}`);
  }

  /** Those that there are, and remembers their phases. */
  async versions(): Promise<readonly ClusterServiceVersion[]> {
    const listed = await this.#kubectl('get', 'csv', '-o', 'json');
    const { items } = JSON.parse(listed) as { readonly items: readonly ClusterServiceVersion[] };
    for (const { metadata, status } of items)
      if (status !== undefined) this.phases.add(`${metadata.name} ${status.phase}`);
    return items;
  }

  /** As OLM's documentation says, and waits until no pod of the operator is left. */
  async uninstall(): Promise<void> {
    await this.#kubectl('delete', 'subscription', PACKAGE);
    await this.#kubectl('delete', 'csv', '--all');
    await poll(async () => (await this.#pods()).length === 0, WAIT);
  }

  async ready(): Promise<void> {
    const args = ['rollout', 'status', `deployment/${PACKAGE}`, '--timeout=180s'];
    await poll(async () => (await this.#kubectl(...args)).includes('successfully rolled out'), {
      ...WAIT,
      otherwise: () => this.#story('the Deployment is not ready'),
    });
    // Those before have a while to end.
    await poll(async () => (await this.#pods()).length === 2 && (await this.replicas()).length === 2, WAIT);
  }

  async replicas(): Promise<readonly string[]> {
    return (await this.#pods())
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.uid ?? '');
  }

  /** The value of a variable of the operator, as its Deployment has it; empty when it has none. */
  async variable(name: string): Promise<string> {
    const path = `{.spec.template.spec.containers[0].env[?(@.name=="${name}")].value}`;
    return this.#kubectl('get', 'deployment', PACKAGE, '-o', `jsonpath=${path}`);
  }

  /** What its replicas have logged so far. */
  async logs(): Promise<string> {
    return this.#kubectl('logs', '-l', `app.kubernetes.io/name=${PACKAGE}`, '--tail=-1', '--prefix');
  }

  #kubectl(...args: readonly string[]): Promise<string> {
    return this.#world.stack.kubectl('-n', this.namespace, ...args);
  }

  async #story(what: string): Promise<string> {
    const kinds = 'subscription,installplan,csv,deployment,pod';
    return `${what}:\n${await this.#kubectl('get', kinds, '-o', 'wide')}\n${await this.#olm.log()}`;
  }

  async #pods(): Promise<readonly KubeObject[]> {
    const options = { namespace: this.namespace, labelSelector: `app.kubernetes.io/name=${PACKAGE}` };
    return (await this.#world.kube.list(POD, options)).items;
  }
}
