/**
 * Downgrades across minors while the cluster is written to, on real binaries: 3.7 to 3.6 to 3.5 and up again, cancelled in the middle, with
 * operators that are killed, and with what a person has done to etcd's downgrade by hand. The commands are those of
 * docs/operations/upgrade.md, "Back to an older minor".
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { openOperations, type Operations } from '../../stack/drill/operations.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import type { ActivityName } from '../../stack/drill/timeline.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { freshOperators, killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const REPLICAS = 2;
const LONG_MS = 900_000;
const cluster = drilledCluster('drill-downgrade', 3, { version: '3.7.3' });
const { at, drill, kubectl, world } = cluster;
const { arrive, blocked, condition, edit, reached, versions, cluster: read } = upgradesOf(cluster);
let page: Runbook;
let operations: Operations;

beforeAll(async () => {
  page = new Runbook(world(), at.namespace, 'operations/upgrade.md');
  operations = await openOperations(world(), at);
});
afterAll(() => operations.close());

/** Sets the version as the page says; the page calls its cluster example. */
const ask = (version: string) =>
  page.type(`"version":"${version}"`, line => line.replace('etcd example', `etcd ${at.name}`));

/** How often an event of this reason was recorded for the cluster. */
async function recorded(reason: string): Promise<number> {
  const text = await kubectl('get', 'events', '-o', 'json');
  const { items } = JSON.parse(text) as { items: readonly { reason?: string; count?: number }[] };
  return items.filter(item => item.reason === reason).reduce((sum, { count = 1 }) => sum + count, 0);
}

/** What a member of 3.6 or newer says of downgrades, and of its data. */
async function saidByEtcd(member: string): Promise<{ storage: string; enabled: boolean }> {
  const text = await etcdctl(member, 'endpoint', 'status', '-w', 'json');
  const [said] = JSON.parse(text) as readonly {
    Status: { storageVersion?: string; downgradeInfo?: { enabled?: boolean } };
  }[];
  const { storageVersion = '', downgradeInfo = {} } = said?.Status ?? {};
  return { storage: storageVersion, enabled: downgradeInfo.enabled === true };
}

const etcdctl = (member: string, ...args: readonly string[]) =>
  kubectl('exec', member, '-c', 'etcd', '--', 'etcdctl', ...args);

/** Nothing of a downgrade is left: not in the status, nor in etcd. */
async function ended(): Promise<void> {
  expect((await read())?.status?.downgradeVersion).toBeUndefined();
  expect(await condition('Upgrading')).toBeUndefined();
  expect(await condition('UpgradeBlocked')).toBeUndefined();
}

async function killed(): Promise<void> {
  expect(killOperators(world())).toBeGreaterThan(0);
}

async function wiped(): Promise<void> {
  await operations.close();
  await world().stack.temporal.wipe();
}

/** Goes to a version, and kills every operator, or does something else, as soon as this activity of it was completed. */
async function struckAfter(version: string, after: ActivityName, strike = killed): Promise<void> {
  await freshOperators(world(), REPLICAS);
  const before = await operations.newest();
  const title = `to ${version}, ${strike.name} after ${after}`;
  const { verdict } = await drill(
    title,
    async () => {
      await edit({ version });
      await operations.await('upgradeCluster', before, ({ completed }) => completed.includes(after));
      await strike();
      await arrive(version, LONG_MS);
    },
    { silent: true },
  );
  expect(verdict.failedForGood).toBe(0);
}

test(
  'a cluster is downgraded from 3.7 through 3.6 to 3.5, and upgraded again',
  async () => {
    await edit({ version: '3.5.35' });
    expect(await blocked('SkipsMinor')).toContain('Set spec.version to 3.6.16 first');
    await edit({ version: '3.7.3' });
    const down = await drill('3.7.3 → 3.6.16 → 3.5.35', async () => {
      await edit({ version: '3.5.35', upgrade: { allowIntermediateVersions: true } });
      await arrive('3.5.35', LONG_MS);
    });
    expect(down.verdict.failedForGood).toBe(0);
    expect(await recorded('DowngradeEnabled')).toBe(2);
    await ended();
    const up = await drill('3.5.35 → 3.6.16 → 3.7.3', async () => {
      await edit({ version: '3.7.3' });
      await arrive('3.7.3', LONG_MS);
    });
    expect(up.verdict.failedForGood).toBe(0);
  },
  3 * LONG_MS,
);

test(
  'a downgrade that is cancelled in the middle leaves the cluster as it was',
  async () => {
    const { verdict } = await drill('3.7.3 → 3.6.16, cancelled after a member', async () => {
      await ask('3.6.16');
      await reached('3.6.16', 1);
      expect((await read())?.status?.downgradeVersion).toBe('3.6.0');
      await ask('3.7.3');
      await arrive('3.7.3', LONG_MS);
    });
    expect(verdict.failedForGood).toBe(0);
    expect(await recorded('DowngradeCancelled')).toBe(1);
    expect(await saidByEtcd(`${at.name}-0`)).toEqual({ storage: '3.7.0', enabled: false });
    await ended();
  },
  2 * LONG_MS,
);

test(
  'a release that nobody has is taken back, and the downgrade with it',
  async () => {
    const pods = await cluster.pods();
    await drill('3.7.3 → 3.6.99, which nobody has', async () => {
      await edit({ version: '3.6.99' });
      expect(await blocked('RolledBack')).toContain('v3.6.99 cannot be pulled');
      await poll(async () => (await versions()).every(version => version === '3.7.3'), {
        timeoutMs: 60_000,
      });
      // Its container may be about to start again.
      const isEnabled = () =>
        saidByEtcd(`${at.name}-0`).then(
          ({ enabled }) => enabled,
          () => true,
        );
      await poll(async () => !(await isEnabled()), { timeoutMs: 60_000 });
      await edit({ version: '3.7.3' });
      await arrive('3.7.3');
    });
    expect(await cluster.pods()).toEqual(pods);
    await ended();
  },
  LONG_MS,
);

test(
  'operators are killed with -9 in the middle of a downgrade',
  async () => {
    await struckAfter('3.6.16', 'enableDowngrade');
    await struckAfter('3.7.3', 'awaitVersion');
    await struckAfter('3.6.16', 'moveLeader');
    await struckAfter('3.5.35', 'stopMember');
    await struckAfter('3.6.16', 'awaitAgreement');
    await struckAfter('3.5.35', 'restartMember');
    await struckAfter('3.7.3', 'restartMember');
    await ended();
  },
  8 * LONG_MS,
);

test(
  'Temporal is wiped in the middle of a downgrade, and of the way back up',
  async () => {
    await struckAfter('3.6.16', 'enableDowngrade', wiped);
    operations = await openOperations(world(), at);
    await struckAfter('3.7.3', 'restartMember', wiped);
    operations = await openOperations(world(), at);
    await ended();
  },
  3 * LONG_MS,
);

test(
  'operators are killed with -9 while a downgrade is cancelled',
  async () => {
    await freshOperators(world(), REPLICAS);
    const before = await operations.newest();
    const { verdict } = await drill(
      '3.7.3 → 3.6.16, cancelled after a member, operators killed after cancelDowngrade',
      async () => {
        await edit({ version: '3.6.16' });
        await reached('3.6.16', 1);
        await edit({ version: '3.7.3' });
        await operations.await('upgradeCluster', before, ({ completed }) =>
          completed.includes('cancelDowngrade'),
        );
        expect(killOperators(world())).toBeGreaterThan(0);
        await arrive('3.7.3', LONG_MS);
      },
      { silent: true },
    );
    expect(verdict.failedForGood).toBe(0);
    await ended();
  },
  2 * LONG_MS,
);

test(
  'a downgrade that a person has enabled is continued, or reported with the command that cancels it',
  async () => {
    await etcdctl(`${at.name}-0`, 'downgrade', 'enable', '3.6');
    await drill('3.7.3 → 3.6.16, enabled by hand', async () => {
      await edit({ version: '3.6.16' });
      await arrive('3.6.16', LONG_MS);
    });
    await ended();
    await etcdctl(`${at.name}-0`, 'downgrade', 'enable', '3.5');
    const pods = await cluster.pods();
    await edit({ version: '3.7.3' });
    const message = await blocked('DowngradeEnabled');
    const [, command = ''] = /kubectl (exec \S+ -c etcd -- etcdctl downgrade cancel)$/.exec(message) ?? [];
    expect(await cluster.pods()).toEqual(pods);
    expect((await saidByEtcd(`${at.name}-0`)).enabled).toBe(true);
    await kubectl(...command.split(' '));
    await drill('3.6.16 → 3.7.3 after it was cancelled by hand', async () => arrive('3.7.3', LONG_MS));
    await ended();
  },
  3 * LONG_MS,
);
