/** A cluster, a backup of it in a claim, and restores of that backup with something done to them on the way. */
import { expect } from 'vitest';
import { clientServiceName } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import {
  awaitRunning,
  claimsOf,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  readCluster,
  type World,
} from '../e2e.ts';
import { poll } from '../poll.ts';
import { Restores } from '../restores.ts';
import { dial } from './connection.ts';
import type { Place } from './drill.ts';
import { readyEndpoints } from './endpoints.ts';
import { contradictions, type Written } from './journal.ts';
import { type OperationRun, openOperations, type Operations } from './operations.ts';
import { readValues } from './stored.ts';
import type { ActivityName } from './timeline.ts';

const SIZE = 3;
const BUMP = 1_000_000_000;
const KEYS = 300;
const PREFIX = 'kept';
const LATE = { key: `${PREFIX}/late`, value: 'after the backup' };

export class RestoreDrill {
  readonly at: Place;
  readonly world: World;
  readonly restores: Restores;
  operations: Operations;
  #kept: readonly Written[] = [];
  #revision = 0;
  #count = 0;

  private constructor(world: World, at: Place, operations: Operations) {
    this.world = world;
    this.at = at;
    this.restores = new Restores(world, at.namespace);
    this.operations = operations;
  }

  /** Makes all of it in a namespace of its own. */
  static async on(namespace: string): Promise<RestoreDrill> {
    const at = { namespace, name: 'example' };
    const world = await openWorld();
    await createNamespace(world, namespace);
    await world.kube.apply(manifest(namespace, at.name, { size: SIZE, version: '3.6.16' }));
    const restores = new Restores(world, namespace);
    await restores.createClaim();
    await awaitRunning(world, at, 200_000);
    const drill = new RestoreDrill(world, at, await openOperations(world, at));
    await drill.keep(() => restores.backUp('once', at.name));
    return drill;
  }

  async close(): Promise<void> {
    await this.operations.close();
    await leaveNamespace(this.world, this.at.namespace);
  }

  /** Temporal was wiped: looks for operations are created again. */
  async reopen(): Promise<void> {
    this.operations = await openOperations(this.world, this.at);
  }

  /** Writes keys again and has them backed up: a restore must bring back these. */
  async keep(backUp: () => Promise<{ readonly revision?: number }>): Promise<void> {
    this.#kept = await this.#write();
    ({ revision: this.#revision = 0 } = await backUp());
  }

  async #write(): Promise<readonly Written[]> {
    const [endpoint = ''] = await readyEndpoints(this.world, this.at.namespace, this.at.name);
    const etcd = dial(endpoint);
    try {
      const written: Written[] = [];
      for (let id = 0; id < KEYS; id += 1) {
        const [key, value] = [`${PREFIX}/${id}`, `value ${id}`];
        const { header } = await etcd.put(key).value(value);
        written.push({ key, value, revision: Number(header.revision) });
      }
      return written;
    } finally {
      etcd.close();
    }
  }

  /** Deletes what was written. */
  async forget(): Promise<void> {
    await this.restores.etcdctl(this.at.name, 'del', '--prefix', PREFIX);
  }

  /** Asks for the backup to be put in place of what there is now, a late key included; answers the name of the EtcdRestore. */
  async begin(): Promise<string> {
    this.#count += 1;
    const name = `back-${this.#count}`;
    await this.restores.etcdctl(this.at.name, 'put', LATE.key, LATE.value);
    await this.restores.begin(name, {
      etcdCluster: { name: this.at.name },
      backupRef: { name: 'once', at: 'Latest' },
      confirmClusterID: (await this.clusterId()) ?? '',
    });
    return name;
  }

  async clusterId(): Promise<string | undefined> {
    return (await readCluster(this.world, this.at.namespace, this.at.name))?.status?.clusterID;
  }

  /** What a member does not have as it was backed up, and what it has beside it. */
  async strayedIn(endpoint: string): Promise<readonly string[]> {
    const values = await readValues(endpoint, PREFIX);
    const strayed = contradictions(this.#kept, values, { revision: this.#revision, bump: BUMP });
    return values.length === KEYS ? strayed : [...strayed, `it has ${values.length} keys, not ${KEYS}`];
  }

  /** The claims with their uids. */
  async disks(): Promise<readonly string[]> {
    const claims = await claimsOf(this.world, this.at.namespace, this.at.name);
    return claims.map(({ metadata }) => `${metadata.name} ${metadata.uid}`);
  }

  /** Waits until a restoreCluster after this run has completed the activity. */
  completed(before: OperationRun | undefined, name: ActivityName): Promise<OperationRun> {
    return this.operations.await('restoreCluster', before, ({ completed }) => completed.includes(name));
  }
}

/** What must hold as soon as it says that it has succeeded. */
export async function whole(drill: RestoreDrill, name: string): Promise<EtcdRestore> {
  const { world, at } = drill;
  const restore = await drill.restores.ended(name, 400_000);
  expect(restore.status).toMatchObject({ phase: 'Succeeded', succeeded: true });
  const service = await world.stack.kubectl('-n', at.namespace, 'get', 'service', clientServiceName(at.name));
  expect(service).toContain('2379');
  const endpoints = await readyEndpoints(world, at.namespace, at.name);
  expect(endpoints).toHaveLength(SIZE);
  for (const endpoint of endpoints) {
    expect(await drill.strayedIn(endpoint)).toEqual([]);
  }
  return restore;
}

/** Does a whole restore with something done to it on the way: the backup is there in the end, and no volume of before is lost. */
export async function restored(
  drill: RestoreDrill,
  title: string,
  disturb: (name: string) => Promise<void>,
): Promise<void> {
  const claims = await drill.disks();
  const begun = performance.now();
  const name = await drill.begin();
  await disturb(name);
  await whole(drill, name);
  console.log(`${title}: whole after ${secondsSince(begun)}`);
  expect(await drill.disks()).toEqual(expect.arrayContaining([...claims]));
  await awaitRunning(drill.world, drill.at);
}

/** Has a restore aborted on its way: the members of before are back on their volumes, with what was written last. */
export async function takenBack(
  drill: RestoreDrill,
  { title, by }: { readonly title: string; readonly by: string },
  abort: (name: string) => Promise<void>,
): Promise<void> {
  const { world, at } = drill;
  const members = async () => (await readCluster(world, at.namespace, at.name))?.status?.members?.ready ?? [];
  const old = { id: await drill.clusterId(), members: await members() };
  const claims = await drill.disks();
  const begun = performance.now();
  const name = await drill.begin();
  await abort(name);
  const { status } = await drill.restores.ended(name);
  expect(status).toMatchObject({ phase: 'Failed', succeeded: false });
  expect(status?.reason).toContain(`aborted by ${by}`);
  await poll(async () => (await drill.clusterId()) === old.id, { timeoutMs: 120_000 });
  await awaitRunning(world, at);
  console.log(`${title}: back after ${secondsSince(begun)}`);
  expect(await members()).toEqual(old.members);
  expect(await drill.restores.etcdctl(at.name, 'get', LATE.key, '--print-value-only')).toBe(LATE.value);
  await poll(async () => JSON.stringify(await drill.disks()) === JSON.stringify(claims), {
    timeoutMs: 60_000,
    otherwise: async () => `the claims are ${(await drill.disks()).join()} and were ${claims.join()}`,
  });
}

function secondsSince(begun: number): string {
  return `${((performance.now() - begun) / 1_000).toFixed(1)} s`;
}
