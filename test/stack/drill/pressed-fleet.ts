/** Many clusters at once, whose operators are killed while something is under way in all of them. */
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import { awaitRunning, holds, manifest, readCluster, type World } from '../e2e.ts';
import { killOperators } from '../operator-processes.ts';
import { poll } from '../poll.ts';
import { Restores } from '../restores.ts';

export interface FleetOptions {
  readonly namespace: string;
  /** How many clusters of one member, and of three. */
  readonly ones: number;
  readonly threes: number;
  /** For what hangs; milliseconds. */
  readonly patienceMs: number;
}

const [OLD, NEW] = ['3.6.5', '3.6.16'] as const;
const REPLICAS = 2;
const KEY = 'pressed';
/** What the restored cluster has to hold. */
export const BACKED_UP = 'written before the backup';

export class PressedFleet {
  /** Clusters with how many members they have; the first is restored while the others are upgraded. */
  readonly clusters: readonly { readonly name: string; readonly size: number }[];
  readonly #world: World;
  readonly #options: FleetOptions;
  readonly #restores: Restores;

  constructor(world: World, options: FleetOptions) {
    this.#world = world;
    this.#options = options;
    this.#restores = new Restores(world, options.namespace);
    const sizes = [...Array<number>(options.ones).fill(1), ...Array<number>(options.threes).fill(3)];
    this.clusters = sizes.map((size, index) => ({ name: `pressed-${index}`, size }));
  }

  /** Asks for all clusters, and waits until the first of them has come into being. */
  async beginCreations(): Promise<void> {
    await this.#restores.createClaim();
    for (const { name, size } of this.clusters) {
      const spec = { size, version: OLD };
      await this.#world.kube.apply(manifest(this.#options.namespace, name, spec));
    }
    await this.#until('no cluster came into being', seen => seen.some(({ status }) => status?.clusterID));
  }

  /** Asks for another version of all clusters but the first, has that restored from a backup, and waits until both go on. */
  async beginUpgradesAndRestore(): Promise<void> {
    const [{ name: restored } = { name: '' }, ...upgraded] = this.clusters;
    await this.#restores.etcdctl(restored, 'put', KEY, BACKED_UP);
    await this.#restores.backUp('pressed', restored);
    await this.#restores.etcdctl(restored, 'put', KEY, 'written after the backup');
    const { status } = (await readCluster(this.#world, this.#options.namespace, restored)) ?? {};
    await this.#restores.begin('pressed', {
      etcdCluster: { name: restored },
      backupRef: { name: 'pressed', at: 'Latest' },
      confirmClusterID: status?.clusterID ?? '',
    });
    for (const { name } of upgraded) {
      const patch = JSON.stringify({ spec: { version: NEW } });
      const edit = ['patch', 'etcd', name, '--type=merge', '-p', patch];
      await this.#world.stack.kubectl('-n', this.#options.namespace, ...edit);
    }
    await this.#restores.until('pressed', ({ phase }) => phase === 'Fencing' || phase === 'Seeding');
    await this.#until('no cluster is upgraded', seen => seen.some(cluster => cluster.status?.targetVersion));
  }

  /** kill -9 of both replicas; gives when, as milliseconds since the epoch. */
  kill(): number {
    const died = killOperators(this.#world);
    if (died !== REPLICAS) throw new Error(`${died} operators ran that could be killed, not ${REPLICAS}`);
    return Date.now();
  }

  /** Waits until each cluster is what was asked for, and nothing is left to do. */
  async converge(version: (name: string) => string): Promise<void> {
    const { namespace, patienceMs } = this.#options;
    const isSo = (cluster: EtcdCluster): boolean => {
      const { status, metadata, spec } = cluster;
      const details = status?.members?.details ?? [];
      return (
        status?.observedGeneration === metadata.generation &&
        holds(cluster, 'Healthy') &&
        holds(cluster, 'Available') &&
        details.length === spec?.size &&
        details.every(member => member.version === version(metadata.name ?? ''))
      );
    };
    await this.#until('not every cluster is what was asked for', seen => seen.every(isSo), patienceMs);
    for (const { name } of this.clusters) await awaitRunning(this.#world, { namespace, name });
  }

  async created(): Promise<void> {
    await this.converge(() => OLD);
  }

  /** Waits for the same, and for the restore to end; gives how it ended and the value that was backed up, as it is now. */
  async upgradedAndRestored(): Promise<{ readonly phase: string | undefined; readonly value: string }> {
    const [{ name: restored } = { name: '' }] = this.clusters;
    const { status } = await this.#restores.ended('pressed', this.#options.patienceMs);
    await this.converge(name => (name === restored ? OLD : NEW));
    const value = await this.#restores.etcdctl(restored, 'get', KEY, '--print-value-only');
    return { phase: status?.phase, value };
  }

  async #until(
    otherwise: string,
    is: (seen: readonly EtcdCluster[]) => boolean,
    timeoutMs = 120_000,
  ): Promise<void> {
    const { namespace } = this.#options;
    const look = async () =>
      (await Promise.all(this.clusters.map(({ name }) => readCluster(this.#world, namespace, name)))).filter(
        found => found !== undefined,
      );
    const saying = ({ metadata, status }: EtcdCluster) =>
      `${metadata.name} ${status?.ready ?? ''} ${JSON.stringify(status?.conditions?.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`))}`;
    await poll(async () => is(await look()), {
      timeoutMs,
      intervalMs: 500,
      otherwise: async () => `${otherwise}:\n${(await look()).map(saying).join('\n')}`,
    });
  }
}
