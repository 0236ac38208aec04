/**
 * Upgrades while the cluster is written to, on real binaries: patches, a way through two minors, and everything that comes in
 * between: an image that nobody has, a member that never gets ready, a lost node, users who change their mind or are asked.
 */
import { expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-upgrade', 3, { version: '3.5.3' });
const { at, drill, world } = cluster;
const { arrive, blocked, condition, edit, reached, versions } = upgradesOf(cluster);

test('a minor is not left below its floor', async () => {
  const pods = await cluster.pods();
  await edit({ version: '3.6.16' });
  const message = await blocked('BelowFloor');
  expect(message).toContain('Set spec.version to 3.5.35 first');
  await edit({ version: '3.5.3' });
  expect(await cluster.pods()).toEqual(pods);
});

test('a cluster is upgraded from 3.5.3 to the newest 3.5', async () => {
  await drill('3.5.3 → 3.5.35', async () => {
    await edit({ version: '3.5.35' });
    await arrive('3.5.35');
  });
});

test('an image that does not exist is taken back, and the others stay', async () => {
  const pods = await cluster.pods();
  await drill('3.5.35 → 3.5.99, which nobody has', async () => {
    await edit({ version: '3.5.99' });
    const message = await blocked('RolledBack');
    expect(message).toContain('v3.5.99 cannot be pulled');
    await poll(async () => (await versions()).every(version => version === '3.5.35'), { timeoutMs: 60_000 });
    await edit({ version: '3.5.35' });
    await arrive('3.5.35');
  });
  expect(await cluster.pods()).toEqual(pods);
});

test('a cluster is upgraded through 3.6 to 3.7, and loses the node of a member on the way', async () => {
  await drill('3.5.35 → 3.6.16 → 3.7.3, a node off on the way', async () => {
    await edit({ version: '3.7.3', upgrade: { allowIntermediateVersions: true } });
    await reached('3.6.16', 1);
    const { node } = await leaderOf(world(), at);
    const before = await versions();
    await world().stack.node.stop(node);
    try {
      // With one member away nobody else is touched: only what was on its way arrives.
      const begun = performance.now();
      await poll(async () => performance.now() - begun > 20_000);
      const moved = (await versions()).filter((version, index) => version !== before[index]);
      expect(moved.length).toBeLessThanOrEqual(1);
    } finally {
      await world().stack.node.start(node);
    }
    await arrive('3.7.3', 600_000);
  });
});

test('a member is not taken back to a release that cannot be upgraded again', async () => {
  const pods = await cluster.pods();
  await edit({ version: '3.6.10' });
  expect(await blocked('AcrossMinorDown')).toContain('Set spec.version to 3.6.16');
  await edit({ version: '3.7.3' });
  expect(await cluster.pods()).toEqual(pods);
});

test('nothing of what was in the way is said any more', async () => {
  await poll(async () => (await condition('UpgradeBlocked')) === undefined);
  await poll(async () => (await condition('Upgrading')) === undefined);
});
