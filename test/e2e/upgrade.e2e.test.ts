/** From 3.5 to 3.6 on real members that are written to all the while; a skipped minor is refused first. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  awaitCondition,
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  warningsOfMissingPods,
  type World,
} from '../stack/e2e.ts';
import { runDrill } from '../stack/drill/drill.ts';
import { poll } from '../stack/poll.ts';

const AT = { namespace: 'upgrade', name: 'upgraded' };
let world: World;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, AT.namespace);
  await world.kube.apply(manifest(AT.namespace, AT.name, { size: 3, version: '3.5.35' }));
  await awaitRunning(world, AT);
});
afterAll(() => leaveNamespace(world, AT.namespace));

test('a minor is not skipped; the next one is taken and no acknowledged write is lost', async () => {
  const edit = (spec: object) =>
    world.stack.kubectl(
      '-n',
      AT.namespace,
      'patch',
      'etcd',
      AT.name,
      '--type=merge',
      '-p',
      JSON.stringify({ spec }),
    );
  const pods = async () => (await podsOf(world, AT.namespace, AT.name)).map(({ metadata }) => metadata.uid);
  const before = await pods();
  await edit({ version: '3.7.3' });
  const refused = await awaitCondition(world, AT, { type: 'UpgradeBlocked' });
  const condition = refused.status?.conditions?.find(({ type }) => type === 'UpgradeBlocked');
  expect(condition).toMatchObject({ reason: 'SkipsMinor' });
  expect(condition?.message).toContain('Set spec.version to 3.6.16 first');
  expect(await pods()).toEqual(before);
  await edit({ version: '3.5.35' });
  const { verdict } = await runDrill(
    { world, at: AT, size: 3, title: 'upgrade 3.5.35 → 3.6.16' },
    async () => {
      await edit({ version: '3.6.16' });
      await poll(
        async () => {
          const { status } = (await readCluster(world, AT.namespace, AT.name)) ?? {};
          const members = status?.members?.details ?? [];
          return status?.targetVersion === undefined && members.every(({ version }) => version === '3.6.16');
        },
        {
          timeoutMs: 300_000,
          intervalMs: 500,
          otherwise: async () =>
            JSON.stringify((await readCluster(world, AT.namespace, AT.name))?.status, null, 1),
        },
      );
    },
  );
  expect(await warningsOfMissingPods(world, AT.namespace, AT.name)).toEqual([]);
  expect(verdict.longestStallMs).toBeLessThan(3_000);
}, 600_000);
