/**
 * A backup is restored over a cluster that was written to since, and the cluster is made what it was before, and then again what it was
 * restored to, with the operators killed in the middle: every acknowledged write is in the incarnation that acknowledged it, and no volume is
 * lost. The commands are those of docs/operations/restore.md.
 */
import { beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRestore } from '../../../src/api/schemas/types.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { startJournal, writeKeys, type Written } from '../../stack/drill/journal.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { notHeld, readValues } from '../../stack/drill/stored.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';

const namespace = 'drill-incarnations';
const at = { namespace, name: 'example' };
const BUMP = 1_000_000_000;
const WRITES = 300;
const PATIENCE_MS = 240_000;
const SPEC = { size: 3, version: '3.6.16', pod: ASKING_FOR_CPU } as const;

let world: World;
let page: Runbook;
let restores: Restores;
useNamespace(namespace, opened => void (world = opened));
beforeAll(() => {
  page = new Runbook(world, namespace, 'operations/restore.md');
  restores = new Restores(world, namespace);
});

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
const status = async () => (await readCluster(world, namespace, at.name))?.status ?? {};
const identity = async () => {
  const { incarnation, clusterID = '' } = await status();
  return { token: incarnation?.token ?? '', clusterID };
};
const disks = async () =>
  (await claimsOf(world, namespace, at.name))
    .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
    .toSorted();
const names = async () => (await podsOf(world, namespace, at.name)).map(({ metadata }) => metadata.name);

const write = (prefix: string) => writeKeys(world, at, { prefix, count: WRITES });

/** Of these writes, those that every member does not have as they were acknowledged. */
async function lacking(prefix: string, written: readonly Written[]): Promise<readonly string[]> {
  const endpoints = await readyEndpoints(world, namespace, at.name);
  expect(endpoints).toHaveLength(SPEC.size);
  return notHeld(endpoints, prefix, written);
}

/** The EtcdRestore that goes back to this incarnation and has not ended. */
async function returnTo(token: string): Promise<EtcdRestore> {
  return poll(
    async () => {
      const { items } = await world.kube.list(
        { apiVersion: API_VERSION, kind: 'EtcdRestore' },
        { namespace },
      );
      const all = items as unknown as readonly EtcdRestore[];
      return all.find(
        ({ spec, status: said }) =>
          spec.incarnation?.token === token && !['Succeeded', 'Failed'].includes(said?.phase ?? ''),
      );
    },
    { timeoutMs: PATIENCE_MS },
  );
}

/** Types the command of the page for this incarnation; the name of the EtcdRestore. */
async function goBack(token: string): Promise<string> {
  const { clusterID } = await identity();
  const said = await page.type('kubectl etcd go-back', command =>
    command.replace(/example-1a2b3c4d-1/, `${token} --yes --cluster-id ${clusterID}`),
  );
  console.log(said);
  expect(said).toContain(`cluster id ${clusterID}`);
  expect(said).toContain('Given up is what was written');
  return (await returnTo(token)).metadata.name;
}

const switched = (token: string): Promise<boolean> =>
  poll(async () => (await identity()).token === token, { timeoutMs: PATIENCE_MS, intervalMs: 100 });

test('what a restore put aside is gone back to with every acknowledged write, and left again for the other', async () => {
  await world.kube.apply(manifest(namespace, at.name, SPEC));
  await restores.createClaim();
  await awaitRunning(world, at, PATIENCE_MS);
  const early = await write('early');
  await restores.backUp('once', at.name);
  const late = await write('late');
  const before = await identity();
  const members = await names();
  const claims = await disks();

  await restores.begin('friday', {
    etcdCluster: { name: at.name },
    backupRef: { name: 'once', at: 'Latest' },
    confirmClusterID: before.clusterID,
  });
  expect((await restores.ended('friday', 400_000)).status).toMatchObject({ phase: 'Succeeded' });
  await awaitRunning(world, at, PATIENCE_MS);
  const after = await identity();
  expect(after.token).not.toBe(before.token);
  expect((await lacking('early', early)).length).toBe(0);
  expect(await readValues((await readyEndpoints(world, namespace, at.name))[0] ?? '', 'late')).toEqual([]);
  const second = await write('second');
  expect(second.every(({ revision }) => revision > BUMP)).toBe(true);

  const listed = await page.type('kubectl etcd incarnations');
  console.log(listed);
  expect(listed).toMatch(new RegExp(`^${after.token} +runs +${after.clusterID} +[0-9]+ `, 'm'));
  const [, noted = ''] =
    new RegExp(`^${before.token} +kept +${before.clusterID} +([0-9]+) .* 3/3 `, 'm').exec(listed) ?? [];
  expect(Number(noted)).toBeGreaterThanOrEqual(late.at(-1)?.revision ?? Infinity);
  expect(listed).toContain('their claims are kept until a person deletes them');

  // A client writes all the while: each write is acknowledged by one of the two.
  const journal = startJournal(world, at, 'over');
  try {
    await poll(async () => journal.written().length > 50, { timeoutMs: PATIENCE_MS });
    const backAt = performance.now();
    const back = await goBack(before.token);
    expect(killOperators(world)).toBeGreaterThan(0);
    await switched(before.token);
    expect(killOperators(world)).toBeGreaterThan(0);
    const { status: ended } = await restores.ended(back, 400_000);
    expect(ended).toMatchObject({
      phase: 'Succeeded',
      clusterID: before.clusterID,
      givenUp: { token: after.token, clusterID: after.clusterID },
    });
    const isOld = ({ revision }: Written) => revision < BUMP;
    await poll(async () => journal.written().some(isOld), { timeoutMs: PATIENCE_MS });
    console.log(`went back in ${seconds(backAt)}, with every operator killed twice`);
    await awaitRunning(world, at, PATIENCE_MS);
    expect(await identity()).toEqual(before);
    expect((await names()).toSorted()).toEqual(members.toSorted());
    expect(await lacking('early', early)).toEqual([]);
    expect(await lacking('late', late)).toEqual([]);
    expect(await lacking('over', journal.written().filter(isOld))).toEqual([]);
    expect(await readValues((await readyEndpoints(world, namespace, at.name))[0] ?? '', 'second')).toEqual(
      [],
    );

    const forwardAt = performance.now();
    const forward = await goBack(after.token);
    await switched(after.token);
    expect(killOperators(world)).toBeGreaterThan(0);
    expect((await restores.ended(forward, 400_000)).status).toMatchObject({
      phase: 'Succeeded',
      clusterID: after.clusterID,
    });
    console.log(`went forward again in ${seconds(forwardAt)}, with every operator killed once`);
    await awaitRunning(world, at, PATIENCE_MS);
    const written = await journal.stop();
    expect(await identity()).toEqual(after);
    expect(await lacking('early', early)).toEqual([]);
    expect(await lacking('second', second)).toEqual([]);
    expect(
      await lacking(
        'over',
        written.filter(each => !isOld(each)),
      ),
    ).toEqual([]);
    expect(await disks()).toEqual(expect.arrayContaining(claims));
  } finally {
    await journal.stop();
  }

  // Nobody wants it any more: what ran is back, and the way stays open.
  const disksBefore = await disks();
  const unwanted = await goBack(before.token);
  await switched(before.token);
  await world.stack.kubectl('-n', namespace, 'delete', 'etcdrestore', unwanted, '--wait=false');
  expect(killOperators(world)).toBeGreaterThan(0);
  await switched(after.token);
  await awaitRunning(world, at, PATIENCE_MS);
  expect(await identity()).toEqual(after);
  expect(await lacking('second', second)).toEqual([]);
  expect(await disks()).toEqual(disksBefore);
  expect(await page.type('kubectl etcd incarnations')).toMatch(
    new RegExp(`^${before.token} +kept .* 3/3 `, 'm'),
  );
}, 1_200_000);
