/** Alerts as a real Prometheus raises them while something is done to a stack, and their runbooks typed meanwhile. */
import { ALERTS } from '../../../scripts/alerts/catalogue.ts';
import { dashboardQueries } from '../dashboard-queries.ts';
import type { World } from '../e2e.ts';
import { poll } from '../poll.ts';
import { type FiringAlert, type Prometheus, startPrometheus } from '../prometheus.ts';
import { commandsToDo } from './alert-drills.ts';
import { Shell } from './shell.ts';

/** The time that an alert must hold is so much shorter: a day is a minute. */
const TIMES_FASTER = 1_440;

/** For what takes seconds on a quiet machine. */
export const PATIENCE_MS = 420_000;

type Labels = Readonly<Record<string, string>>;

/** Commands of runbooks that this stack cannot answer: why not. */
const NOT_HERE: readonly { readonly command: RegExp; readonly why: string }[] = [
  { command: /kubectl .*\btop\b/, why: 'no metrics-server' },
  { command: /get certificates\b/, why: 'no cert-manager' },
];

export class WatchedAlerts {
  readonly prometheus: Prometheus;
  /** Names of alerts that have fired. */
  readonly fired = new Set<string>();
  /** Names of queries of dashboards that have not returned data yet. */
  readonly unanswered: Set<string>;
  /** Commands of runbooks that failed, with what they printed. */
  readonly failed: string[] = [];
  readonly #namespace: string;
  readonly #clusters: readonly string[];
  readonly #shell: Shell;
  readonly #world: World;
  readonly #typed = new Set<string>();

  private constructor(world: World, namespace: string, clusters: readonly string[], prometheus: Prometheus) {
    this.prometheus = prometheus;
    this.#world = world;
    this.#namespace = namespace;
    this.#clusters = clusters;
    this.#shell = new Shell(world, namespace);
    this.unanswered = new Set(this.#queries().map(({ name }) => name));
  }

  /** @param clusters of the namespace, of which the dashboards are asked */
  static async start(
    world: World,
    namespace: string,
    ...clusters: readonly string[]
  ): Promise<WatchedAlerts> {
    const prometheus = await startPrometheus(world.kube, { timesFaster: TIMES_FASTER });
    return new WatchedAlerts(world, namespace, clusters, prometheus);
  }

  /**
   * Waits until the alert fires with these labels, asks the dashboards, and types what its runbook says to look at.
   * @param labels those that name what it is about; others may be there too
   */
  async fires(name: string, labels: Labels = {}, timeoutMs = PATIENCE_MS): Promise<void> {
    const begun = performance.now();
    const found = await poll(() => this.#firing(name, labels), {
      timeoutMs,
      intervalMs: 500,
      otherwise: async () =>
        `${name} does not fire for ${JSON.stringify(labels)}, but ${(await this.prometheus.alerts()).map(({ state, labels: { alertname, ...others } }) => `${state} ${alertname} ${JSON.stringify(others)}`).join(', ')}`,
    });
    this.fired.add(name);
    console.log(
      `${name} ${JSON.stringify(found.labels)} after ${((performance.now() - begun) / 1000).toFixed(1)} s`,
    );
    await this.askDashboards();
    await this.#look(name, found.labels);
  }

  /** Waits until it does not fire with these labels any more. */
  async ends(name: string, labels: Labels = {}, timeoutMs = PATIENCE_MS): Promise<void> {
    await poll(async () => (await this.#firing(name, labels)) === undefined, {
      timeoutMs,
      intervalMs: 500,
      otherwise: () => `${name} still fires for ${JSON.stringify(labels)}`,
    });
  }

  /** Takes from `unanswered` what returns data now, of any of the clusters. */
  async askDashboards(): Promise<void> {
    for (const { name, expr } of this.#queries()) {
      if (!this.unanswered.has(name)) continue;
      if ((await this.prometheus.query(expr)).length > 0) this.unanswered.delete(name);
    }
  }

  /**
   * Waits until this query of the dashboards has returned data: a rate needs two scrapes.
   * @throws when no dashboard has a query of this name
   */
  async answers(query: string): Promise<void> {
    if (!this.#queries().some(({ name }) => name === query))
      throw new Error(`no dashboard has the query ${query}`);
    await poll(
      async () => {
        await this.askDashboards();
        return !this.unanswered.has(query);
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 2_000, otherwise: () => `${query} returns no data` },
    );
  }

  /** The labels of every alert of this name that fires. */
  async firing(name: string): Promise<readonly Labels[]> {
    const alerts = await this.prometheus.alerts();
    return alerts
      .filter(({ state, labels }) => state === 'firing' && labels['alertname'] === name)
      .map(({ labels }) => labels);
  }

  async #firing(name: string, labels: Labels): Promise<FiringAlert | undefined> {
    const isMeant = (alert: FiringAlert): boolean =>
      Object.entries({ ...labels, alertname: name }).every(([key, value]) => alert.labels[key] === value);
    return (await this.prometheus.alerts()).find(alert => alert.state === 'firing' && isMeant(alert));
  }

  /** Types a command that stands under "Do" of the alert's runbook, with these labels; `part` is what only that command contains. */
  async act(name: string, part: string, labels: Labels): Promise<void> {
    const commands = commandsToDo(name).filter(command => command.includes(part));
    const [command] = commands;
    if (command === undefined || commands.length > 1)
      throw new Error(`${commands.length} commands to do of ${name} contain "${part}", and one should`);
    console.log(`$ ${command}\n${await this.#shell.run(command, this.#variables(labels))}`);
  }

  /** What is to be looked at, once for each command with these labels. */
  async #look(name: string, labels: Labels): Promise<void> {
    const look = ALERTS.find(alert => alert.name === name)?.runbook.look ?? [];
    const variables = this.#variables(labels);
    for (const command of look) {
      const key = `${command} ${JSON.stringify(variables)}`;
      if (this.#typed.has(key) || NOT_HERE.some(row => row.command.test(command))) continue;
      this.#typed.add(key);
      // Nothing found is an answer too.
      const typed = command.includes('| grep') ? `${command} || [ $? = 1 ]` : command;
      const printed = await this.#shell.run(typed, variables).catch((error: Error) => {
        this.failed.push(`${name}: ${command}: ${error.message}`);
        return '';
      });
      console.log(`$ ${command}\n${printed.slice(0, 600)}`);
    }
  }

  /** As the page of runbooks says that they are set. */
  #variables({ namespace, name, kind, etcd_cluster, pod }: Labels): Readonly<Record<string, string>> {
    return {
      NS: namespace ?? this.#namespace,
      NAME: name ?? '',
      KIND: kind ?? '',
      CLUSTER: etcd_cluster ?? '',
      POD: pod ?? '',
      TEMPORAL_NAMESPACE: 'etcd-operator',
      TEMPORAL_ADDRESS: this.#world.stack.temporalAddress,
    };
  }

  #queries() {
    return this.#clusters.flatMap(cluster =>
      dashboardQueries({
        operator: '.*',
        namespace: this.#namespace,
        cluster,
        __rate_interval: '1m',
      }),
    );
  }

  async stop(): Promise<void> {
    await this.prometheus.stop();
  }
}
