/**
 * docs/operations/upgrade.md, "Back to the backup from before", as it is written: a cluster goes to the next minor, is written to, and returns to
 * the version and the data of before, with every operator killed in the middle. What was written since is in the backup that was made first.
 */
import { beforeAll, expect, test } from 'vitest';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { writeKeys } from '../../stack/drill/journal.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { readValues } from '../../stack/drill/stored.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { awaitRunning, manifest, podsOf, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { Restores } from '../../stack/restores.ts';

const namespace = 'drill-upgrade-back';
const at = { namespace, name: 'example' };
const WRITES = 200;
const PATIENCE_MS = 240_000;
const OLD = '3.5.35';
const NEW = '3.6.16';

let world: World;
let page: Runbook;
let restores: Restores;
useNamespace(namespace, opened => void (world = opened));
beforeAll(() => {
  page = new Runbook(world, namespace, 'operations/upgrade.md');
  restores = new Restores(world, namespace);
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
const { arrive, cluster, edit } = upgradesOf({ at, world: () => world, kubectl });

const write = (prefix: string) => writeKeys(world, at, { prefix, count: WRITES });

async function stored(prefix: string): Promise<ReadonlyMap<string, string>> {
  const [endpoint = ''] = await readyEndpoints(world, namespace, at.name);
  return new Map((await readValues(endpoint, prefix)).map(({ key, value }) => [key, value]));
}

test('a cluster returns to the version and the data from before an upgrade, and what was written since is saved', async () => {
  await world.kube.apply(manifest(namespace, at.name, { size: 3, version: OLD, pod: ASKING_FOR_CPU }));
  await restores.createClaim();
  await awaitRunning(world, at, PATIENCE_MS);
  const early = await write('early');
  await restores.backUp('nightly', at.name);
  await edit({ version: NEW });
  await arrive(NEW);
  const late = await write('late');
  const before = await cluster();
  expect(before?.status?.beforeUpgrade).toMatchObject({ version: OLD, to: NEW, backup: { name: 'nightly' } });
  expect(await page.type('status.beforeUpgrade')).toContain(`"version":"${OLD}"`);

  await page.type('"version":"3.5.35"');
  const beganAt = performance.now();
  const clusterID = before?.status?.clusterID ?? '';
  const said = await page.type('--before-upgrade', line =>
    line.replace(/--wait.*/, `--yes --cluster-id ${clusterID}`),
  );
  expect(said).toContain('The data as it is now is saved as a backup before that');
  const [, name = ''] = /etcdrestore\/(\S+) created/.exec(said) ?? [];
  await poll(async () => (await cluster())?.status?.incarnation?.restore?.name === name, {
    timeoutMs: PATIENCE_MS,
    intervalMs: 100,
  });
  expect(killOperators(world)).toBeGreaterThan(0);
  const { status } = await restores.ended(name, 400_000);
  expect(status).toMatchObject({ phase: 'Succeeded' });
  console.log(
    `back in ${((performance.now() - beganAt) / 1_000).toFixed(1)} s, with every operator killed once`,
  );
  await awaitRunning(world, at, PATIENCE_MS);

  expect((await cluster())?.status?.currentVersion).toBe(OLD);
  const images = (await podsOf(world, namespace, at.name)).map(
    pod => (pod['spec'] as { containers: { image: string }[] }).containers[0]?.image,
  );
  expect(images.every(image => image?.endsWith(`:v${OLD}`))).toBe(true);
  const values = await stored('early');
  expect(early.filter(({ key, value }) => values.get(key) !== value)).toEqual([]);
  expect(await stored('late')).toEqual(new Map());

  // What was given up is in a backup of its own, and that one can be restored as well.
  expect(status?.saved?.backup).toBe('nightly');
  expect(status?.saved?.revision).toBeGreaterThanOrEqual(late.at(-1)?.revision ?? Infinity);
}, 1_200_000);
