/**
 * Volumes that are emptied under running pods, in a cluster that is written to two hundred times a second. Two in turn are what
 * loses acknowledged writes when a member comes back empty under its old id.
 */
import { expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { emptyVolume } from '../../stack/drill/empty-volume.ts';
import { readCluster } from '../../stack/e2e.ts';
import { poll } from '../../stack/poll.ts';

const cluster = drilledCluster('drill-wiped');
const { at, drill, world } = cluster;

/** Members as the status knows them, the leader last. */
async function members(): Promise<string[]> {
  const { member: leader } = await leaderOf(world(), at);
  const { status } = (await readCluster(world(), at.namespace, at.name)) ?? {};
  const names = (status?.members?.details ?? []).map(({ name }) => name);
  return [...names.filter(name => name !== leader), leader];
}

async function replaced(): Promise<string[]> {
  const { status } = (await readCluster(world(), at.namespace, at.name)) ?? {};
  const { replacements = [] } = status ?? {};
  expect(replacements.map(({ reason }) => reason)).toEqual(
    replacements.map(() => 'etcd found the volume empty'),
  );
  return replacements.map(({ member }) => member);
}

async function wiped(title: string, member: string): Promise<void> {
  const pods = await cluster.pods();
  const { verdict } = await drill(
    title,
    async () => {
      emptyVolume(world(), at, member);
      await poll(async () => (await cluster.gone(pods)) > 0, { timeoutMs: 120_000 });
    },
    { lost: 1 },
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  expect(await replaced()).toContain(member);
}

test('a follower that bootstrapped is replaced', async () => {
  const [follower = ''] = await members();
  await wiped('volume of a follower emptied', follower);
});

test('the leader is replaced', async () => {
  const { member } = await leaderOf(world(), at);
  await wiped('volume of the leader emptied', member);
});

test('a member that joined is replaced', async () => {
  const gone = await replaced();
  const joined = (await members()).find(name => Number(name.split('-').at(-1)) >= 3) ?? '';
  expect(gone).toHaveLength(2);
  await wiped('volume of a member that joined emptied', joined);
});
