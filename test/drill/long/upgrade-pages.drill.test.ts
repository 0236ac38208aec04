/**
 * docs/operations/upgrade.md as it is written: each of its commands is typed, each way that its table says is not taken is
 * asked for, and what stands beside it comes about.
 */
import { beforeAll, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { awaitCondition, awaitRunning, manifest, podsOf, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

/** The page calls its cluster so. */
const at = { namespace: 'drill-upgrade-pages', name: 'example' };
/** A variable that 3.5 and 3.6 know, and 3.7 does not. */
const OLD_SETTING = 'ETCD_EXPERIMENTAL_WARNING_APPLY_DURATION';
const SPEC: EtcdClusterSpec = {
  size: 3,
  version: '3.5.3',
  pod: { ...ASKING_FOR_CPU, etcdEnv: [{ name: OLD_SETTING, value: '200ms' }] },
};
let world: World;
let page: Runbook;

useNamespace(at.namespace, opened => void (world = opened));
beforeAll(async () => {
  page = new Runbook(world, at.namespace, 'operations/upgrade.md');
  await world.kube.apply(manifest(at.namespace, at.name, SPEC));
  await awaitRunning(world, at);
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', at.namespace, ...args);
const { arrive, blocked, cluster, condition, edit, reached } = upgradesOf({
  at,
  world: () => world,
  kubectl,
});
const pods = async () => (await podsOf(world, at.namespace, at.name)).map(({ metadata }) => metadata.uid);

/** Asks for a version, as a person who has not read the page, and for the one before again. Nothing is touched. */
async function refused(version: string, reason: string, ...words: readonly (string | RegExp)[]) {
  const before = await pods();
  const { status } = (await cluster()) ?? {};
  await edit({ version });
  const message = await blocked(reason);
  for (const word of words) expect(message).toMatch(word);
  await edit({ version: status?.currentVersion ?? '' });
  await poll(async () => (await condition('UpgradeBlocked')) === undefined, { timeoutMs: 60_000 });
  expect(await pods()).toEqual(before);
}

test('ways that are not taken from 3.5.3', async () => {
  await refused('3.6.16', 'BelowFloor', /zombie_members_upgrade/, /Set spec\.version to 3\.5\.35 first/);
  await refused('3.5.1', 'ForbiddenVersion', /13766/, /Set spec\.version to 3\.5\.35/);
  await refused('3.4.30', 'VersionUnsupported', /3\.4/, /Set spec\.version to 3\.5\.35/);
});

test('two minors at once, and one that asks as the page says', async () => {
  await edit({ version: '3.5.35' });
  await arrive('3.5.35');
  await refused('3.7.3', 'SkipsMinor', /upgrading-etcd/, /Set spec\.version to 3\.6\.16 first/);
  await edit({ upgrade: { strategy: 'Supervised' } });
  await page.type('"version":"3.6.16"');
  await awaitsApproval('begin');
  const before = await pods();
  expect(await page.type('--name plan')).toContain('upgradeCluster');
  await approve('begin');
  await reached('3.6.16', 1);
  expect(await page.type('type=="Upgrading"')).toMatch(/^from 3\.5\.35 to 3\.6\.16: \d of 3 members; next: /);
  await awaitsApproval('finish');
  expect(await page.type('type=="Upgrading"')).toContain('the point of no return');
  await approve('finish');
  await arrive('3.6.16');
  expect(await pods()).not.toEqual(before);
  const events = await page.type('involvedObject.name');
  expect(events.match(/MemberUpgraded/g)?.length).toBeGreaterThanOrEqual(3);
  expect(events).toContain('the point of no return');
  // An upgrade that says that it is over is over.
  expect(await condition('Healthy')).toMatchObject({ status: 'True' });
  expect(await condition('Upgrading')).toBeUndefined();
});

const asked = { begin: '"begin"', finish: '"finish"' };

async function awaitsApproval(what: keyof typeof asked): Promise<void> {
  await poll(
    async () => {
      const { reason, message = '' } = (await condition('Upgrading')) ?? {};
      return reason === 'AwaitingApproval' && message.includes(asked[what]);
    },
    { timeoutMs: 240_000, otherwise: async () => JSON.stringify(await condition('Upgrading')) },
  );
}

async function approve(what: keyof typeof asked): Promise<void> {
  const { workflowID = '' } = (await cluster())?.status ?? {};
  await page.type('--name approve', line => line.replace(asked.begin, asked[what]), {
    W: workflowID,
    TEMPORAL_NAMESPACE: 'etcd-operator',
  });
}

test('ways that are not taken from 3.6.16', async () => {
  await refused('3.5.34', 'AcrossMinorDown', /downgrade_3_6/, /Set spec\.version to 3\.5\.35/);
  await refused(
    '3.7.3',
    'SettingsGone',
    /https:\/\//,
    /replace ETCD_EXPERIMENTAL_WARNING_APPLY_DURATION with ETCD_WARNING_APPLY_DURATION/,
  );
});

test('the hashes of all members are equal', async () => {
  const said = await page.type('hashkv');
  const hashes = [...said.matchAll(/"hash":(\d+)/g)].map(([, hash]) => hash);
  expect(hashes).toHaveLength(3);
  expect(new Set(hashes).size).toBe(1);
});

test('nothing is started on data of an unknown version, until a person says which it is', async () => {
  await edit({ paused: true });
  await awaitCondition(world, at, { type: 'Paused' });
  await kubectl('annotate', 'pvc', '--all', 'etcd.database.coreos.com/data-version-');
  await kubectl('delete', 'pod', '-l', `etcd_cluster=${at.name}`);
  await poll(async () => (await pods()).length === 0, { timeoutMs: 60_000 });
  await kubectl(
    'patch',
    'etcd',
    at.name,
    '--subresource=status',
    '--type=json',
    '-p',
    '[{"op":"remove","path":"/status"}]',
  );
  await edit({ version: '3.7.3', paused: false });
  const { message } = await poll(
    async () => {
      const found = await condition('Progressing');
      return found?.message?.includes('data-version') === true && found;
    },
    { timeoutMs: 60_000, otherwise: async () => JSON.stringify((await cluster())?.status) },
  );
  console.log(`VersionUnknown: ${message}`);
  expect(await pods()).toEqual([]);
  await page.type('kubectl annotate pvc');
  await edit({ version: '3.6.16' });
  await awaitCondition(world, at, { type: 'Healthy', timeoutMs: 120_000 });
  await arrive('3.6.16');
});

test('no command of the page is left out', () => {
  // The ways back are typed in upgrade-back.drill.test.ts and downgrade.drill.test.ts.
  const back = /beforeUpgrade|--before-upgrade|"version":"(3\.5\.35|3\.7\.3)"/;
  expect([...page.untried].filter(command => !back.test(command))).toEqual([]);
});
