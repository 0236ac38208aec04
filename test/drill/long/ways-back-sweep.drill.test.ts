/**
 * The ways back from a bad day, each with every operator killed after each of its activities, and with Temporal wiped in the middle: a
 * quorum that is recovered, an upgrade that is gone back from, and an incarnation that was kept.
 */
import { beforeAll, expect, test } from 'vitest';
import type { EtcdRestoreSpec } from '../../../src/api/schemas/types.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { writeKeys, type Written } from '../../stack/drill/journal.ts';
import { approveOffer, leaderFirst, loseMembers, restoresIn } from '../../stack/drill/recoveries.ts';
import { sweepRestores } from '../../stack/drill/restore-sweep.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { notHeld, readValues } from '../../stack/drill/stored.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { awaitRunning, manifest, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';

const namespace = 'drill-ways-back';
const WRITES = 100;
const SIZE = 3;
const PATIENCE_MS = 300_000;
const OLD = '3.5.35';
const NEW = '3.6.16';

let world: World;
let restores: Restores;
useNamespace(namespace, opened => void (world = opened));
beforeAll(async () => {
  restores = new Restores(world, namespace);
  await restores.createClaim();
});

const statusOf = async (name: string) => (await readCluster(world, namespace, name))?.status ?? {};
const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);

async function make(name: string, version: string) {
  const at = { namespace, name };
  const spec = { size: SIZE, version, pod: ASKING_FOR_CPU, repair: { replaceAfterSeconds: 20 } };
  await world.kube.apply(manifest(namespace, name, spec));
  await awaitRunning(world, at, PATIENCE_MS);
  return at;
}

/** Waits until the EtcdRestore has succeeded and the cluster runs, and answers how long it took. */
async function arrived(name: string, restore: string): Promise<void> {
  expect((await restores.ended(restore, 400_000)).status).toMatchObject({ phase: 'Succeeded' });
  await awaitRunning(world, { namespace, name }, PATIENCE_MS);
}

/** Of these writes, those that a member does not have as they were acknowledged. */
async function lacking(
  name: string,
  prefix: string,
  written: readonly Written[],
): Promise<readonly string[]> {
  const endpoints = await readyEndpoints(world, namespace, name);
  expect(endpoints).toHaveLength(SIZE);
  return notHeld(endpoints, prefix, written);
}

const timed = async (title: string, act: () => Promise<void>): Promise<void> => {
  const begun = performance.now();
  await act();
  console.log(`${title}: whole after ${((performance.now() - begun) / 1_000).toFixed(1)} s`);
};

test('an incarnation that was kept is gone back to, and left again', async () => {
  const at = await make('kept', NEW);
  const entry = await restores.backUp('once', at.name);
  expect(entry.revision).toBeGreaterThan(0);
  const written = new Map<string, readonly Written[]>();
  const token = async () => (await statusOf(at.name)).incarnation?.token ?? '';
  let count = 0;
  const restoreTo = async (spec: Partial<EtcdRestoreSpec>) => {
    count += 1;
    const confirmClusterID = (await statusOf(at.name)).clusterID ?? '';
    const name = `to-${count}`;
    await restores.begin(name, { etcdCluster: { name: at.name }, confirmClusterID, ...spec });
    return name;
  };
  written.set(await token(), await writeKeys(world, at, { prefix: 'w/one', count: WRITES }));
  await arrived(at.name, await restoreTo({ backupRef: { name: 'once', at: 'Latest' } }));
  written.set(await token(), await writeKeys(world, at, { prefix: 'w/two', count: WRITES }));
  await sweepRestores(world, at, async (title, disturb) => {
    const now = await token();
    const [other = ''] = [...written.keys()].filter(each => each !== now);
    await timed(title, async () => {
      const name = await restoreTo({ incarnation: { token: other } });
      await disturb();
      await arrived(at.name, name);
    });
    expect(await token()).toBe(other);
    expect(await lacking(at.name, 'w', written.get(other) ?? [])).toEqual([]);
    const [endpoint = ''] = await readyEndpoints(world, namespace, at.name);
    expect(await readValues(endpoint, 'w')).toHaveLength(written.get(other)?.length ?? 0);
  });
  await kubectl('delete', 'etcd', at.name);
}, 2_400_000);

test('a quorum that is lost for good is recovered from the member that is left', async () => {
  const at = await make('lost', NEW);
  const page = new Runbook(world, namespace, 'operations/disaster.md');
  const open = async () =>
    (await restoresIn(world, namespace)).find(
      ({ spec, status }) =>
        spec.etcdCluster.name === at.name && !['Succeeded', 'Failed'].includes(status?.phase ?? ''),
    );
  let count = 0;
  await sweepRestores(world, at, async (title, disturb) => {
    count += 1;
    const prefix = `w/${count}`;
    const written = await writeKeys(world, at, { prefix, count: WRITES });
    const [first = '', second = ''] = await leaderFirst(world, at);
    await loseMembers(world, namespace, first, second);
    const approved = await approveOffer(world, page, at);
    await timed(title, async () => {
      const { metadata } = await poll(open, { timeoutMs: PATIENCE_MS, intervalMs: 100 });
      await disturb();
      await arrived(at.name, metadata.name);
    });
    const kept = written.filter(({ revision }) => revision <= approved);
    console.log(
      `${written.length} writes acknowledged, ${kept.length} up to the approved revision ${approved}`,
    );
    expect(await lacking(at.name, prefix, kept)).toEqual([]);
  });
  await kubectl('delete', 'etcd', at.name);
}, 2_400_000);

test('a cluster returns to the backup from before an upgrade', async () => {
  const at = await make('upgraded', OLD);
  const page = new Runbook(world, namespace, 'operations/upgrade.md');
  const { arrive, edit } = upgradesOf({ at, world: () => world, kubectl });
  const early = await writeKeys(world, at, { prefix: 'early', count: WRITES });
  await restores.backUp('nightly', at.name);
  await sweepRestores(world, at, async (title, disturb) => {
    await edit({ version: NEW });
    await arrive(NEW);
    const late = await writeKeys(world, at, { prefix: 'late', count: WRITES });
    expect(late.length).toBeGreaterThan(0);
    await edit({ version: OLD });
    const { clusterID = '' } = await statusOf(at.name);
    await timed(title, async () => {
      const said = await page.type('--before-upgrade', line =>
        line.replace('example', at.name).replace(/--wait.*/, `--yes --cluster-id ${clusterID}`),
      );
      const [, name = ''] = /etcdrestore\/(\S+) created/.exec(said) ?? [];
      await disturb();
      await arrived(at.name, name);
    });
    expect((await statusOf(at.name)).currentVersion).toBe(OLD);
    expect(await lacking(at.name, 'early', early)).toEqual([]);
    const [endpoint = ''] = await readyEndpoints(world, namespace, at.name);
    expect(await readValues(endpoint, 'late')).toEqual([]);
  });
}, 3_000_000);
