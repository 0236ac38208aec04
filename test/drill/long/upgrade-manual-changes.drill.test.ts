/** Upgrades that users go back on, turn round, supervise, and that a member does not survive, while the cluster is written to. */
import { expect, test } from 'vitest';
import { DEFAULT_REPOSITORY } from '../../../src/api/schemas/default-values.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { awaitCondition, podsOf } from '../../stack/e2e.ts';
import { memberProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-upgrade-manual', 3, { version: '3.6.16' });
const { at, drill, world } = cluster;
const { arrive, blocked, cluster: upgraded, condition, edit, reached, versions } = upgradesOf(cluster);

/** Where a test begins, whichever ran before it. */
async function from(version: string): Promise<void> {
  await edit({ version });
  await arrive(version);
}

test('a cluster returns to an older release of its minor', async () => {
  await drill('3.6.16 → 3.6.5', async () => {
    await edit({ version: '3.6.5' });
    await arrive('3.6.5');
  });
});

test('a member that never gets ready is taken back after five minutes', async () => {
  await from('3.6.5');
  const members = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
  const processes = () => members.flatMap(member => memberProcesses(world(), at, member));
  await drill('3.6.5 → 3.6.16, frozen as soon as it starts', async () => {
    const before = processes();
    await edit({ version: '3.6.16' });
    const [started = 0] = await poll(
      async () => {
        const found = processes().filter(pid => !before.includes(pid));
        return found.length > 0 && found;
      },
      { timeoutMs: 60_000, intervalMs: 10 },
    );
    process.kill(started, 'SIGSTOP');
    const message = await blocked('RolledBack', 500_000);
    expect(message).toMatch(/was not ready within 5 minutes/);
    expect(await versions()).not.toContain('3.6.16');
    await edit({ version: '3.6.5' });
    await arrive('3.6.5');
  });
}, 900_000);

test('the upgrade follows a target that changes midway within the minor', async () => {
  await from('3.6.5');
  await drill('3.6.5 → 3.6.16, back when one member runs it, and on again', async () => {
    await edit({ version: '3.6.16' });
    await reached('3.6.16', 1);
    await edit({ version: '3.6.5' });
    await arrive('3.6.5');
    await edit({ version: '3.6.16' });
    await arrive('3.6.16');
  });
});

test('the upgrade follows a target that changes midway across a minor, before the point of no return', async () => {
  await from('3.6.16');
  await drill('3.6.16 → 3.7.3, back when one member runs it', async () => {
    await edit({ version: '3.7.3' });
    await reached('3.7.3', 1);
    await edit({ version: '3.6.16' });
    await arrive('3.6.16');
  });
});

test('an upgrade that a user has begun by hand is reported, and finished without another restart', async () => {
  await from('3.6.5');
  const [pod = ''] = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
  const restarts = () =>
    cluster.kubectl('get', 'pod', pod, '-o', 'jsonpath={.status.containerStatuses[0].restartCount}');
  await drill('3.6.5 → 3.6.16, begun by hand', async () => {
    await edit({ paused: true });
    await awaitCondition(world(), at, { type: 'Paused' });
    await cluster.kubectl('set', 'image', `pod/${pod}`, `etcd=${DEFAULT_REPOSITORY}:v3.6.16`);
    await reached('3.6.16', 1);
    await poll(async () => (await condition('Healthy'))?.status === 'True', { timeoutMs: 60_000 });
    const before = await restarts();
    await edit({ version: '3.7.3', paused: false });
    expect(await blocked('VersionsDiffer')).toMatch(/3\.6\.16 to complete the upgrade/);
    await edit({ version: '3.6.16' });
    await arrive('3.6.16');
    expect(await restarts()).toBe(before);
  });
});

test('a supervised upgrade asks before the first member and before the last, and is reported as the runbook says', async () => {
  await from('3.6.16');
  const workflow = (await upgraded())?.status?.workflowID ?? '';
  const temporal = (verb: string, ...args: string[]) =>
    world().temporal('workflow', verb, '-w', workflow, ...args);
  const approve = async (...ids: string[]) => {
    const said = await poll(
      async () => {
        const found = await condition('Upgrading');
        const isAsked = found?.reason === 'AwaitingApproval' && found.message?.includes(`"${ids[0]}"`);
        return isAsked ? found.message : undefined;
      },
      { timeoutMs: 240_000, otherwise: async () => JSON.stringify(await condition('Upgrading')) },
    );
    console.log(said);
    const [, consent = ''] = /send the signal approve with (\{.*?\})/.exec(said) ?? [];
    expect(JSON.parse(consent)).toMatchObject({ operation: 'upgradeCluster', ids });
    expect(await temporal('query', '--name', 'plan')).toContain(JSON.stringify(ids[0]));
    await temporal('signal', '--name', 'approve', '-i', consent.replace('your name', 'ana'));
  };
  await drill('3.6.16 → 3.7.3, supervised', async () => {
    const pods = await cluster.pods();
    await edit({ version: '3.7.3', upgrade: { strategy: 'Supervised' } });
    await approve('begin', '3.6.16', '3.7.3');
    await reached('3.7.3', 2);
    await approve('finish', '3.6.16', '3.7.3');
    await arrive('3.7.3');
    expect(await cluster.pods()).toEqual(pods);
  });
  const events = await cluster.kubectl('get', 'events', '--field-selector', 'reason=MemberUpgraded');
  expect(events).toMatch(/the point of no return/);
});
