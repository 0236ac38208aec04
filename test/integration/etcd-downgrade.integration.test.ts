/**
 * What etcd's downgrade does, on real members, through the port: what it answers, when a member of an older minor starts and when it does
 * not, and what ends it (docs/operations/upgrade.md).
 */
import { afterEach, expect, test, vi } from 'vitest';
import { minorOf } from '../../src/api/versions/compare.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { DowngradeAction } from '../../src/etcd/port.ts';
import { hasArrived, isLowered, upgradePath } from '../../src/planner/operations/upgrade/path.ts';
import { etcdBinary, type EtcdProcess, EtcdProcessCluster } from '../stack/etcd-process.ts';
import { Writer } from './retrying-writer.ts';

const port = createEtcdPort();
const SOON = { timeout: 30_000, interval: 100 };
let cluster: EtcdProcessCluster | undefined;
afterEach(() => cluster?.stop());

async function started(version: string): Promise<EtcdProcessCluster> {
  cluster = await EtcdProcessCluster.start({ version, size: 3 });
  await arrival(cluster, minorOf(version) ?? '');
  return cluster;
}

async function ask<T>(
  of: EtcdProcessCluster,
  serial: number,
  question: (member: ReturnType<typeof port.member>) => Promise<T>,
): Promise<T> {
  const member = port.member(of.member(serial).target);
  try {
    return await question(member);
  } finally {
    member.close();
  }
}

function downgrade(of: EtcdProcessCluster, action: DowngradeAction, version: string, serial = 0) {
  return ask(of, serial, member => member.downgrade(action, version));
}

function saidBy(of: EtcdProcessCluster) {
  return Promise.all(
    of.members.map(async ({ name }, serial) => ({
      name,
      ...(await ask(of, serial, member => member.version())),
    })),
  );
}

/** Restarts a member on its own data with another program. */
async function restart(
  of: EtcdProcessCluster,
  serial: number,
  version: string,
  flags: readonly string[] = [],
): Promise<void> {
  const member = of.member(serial);
  await member.stop('SIGTERM');
  member.useBinary(await etcdBinary(version));
  member.start(flags);
}

async function moved(
  of: EtcdProcessCluster,
  serials: readonly number[],
  version: string,
  flags?: readonly string[],
): Promise<void> {
  for (const serial of serials) {
    await restart(of, serial, version, flags);
    await of.member(serial).untilHealthy();
  }
}

async function arrival(of: EtcdProcessCluster, minor: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await saidBy(of)).filter(said => !hasArrived(said, minor))).toEqual([]);
  }, SOON);
}

/** Members of 3.5 say only to their peers whether a downgrade is enabled. */
async function endedAmongPeers(of: EtcdProcessCluster): Promise<void> {
  await vi.waitFor(async () => {
    const said = of.members.map(async ({ peerUrl }) => (await fetch(`${peerUrl}/downgrade/enabled`)).text());
    expect(new Set(await Promise.all(said))).toEqual(new Set(['false']));
  }, SOON);
}

async function lowered(of: EtcdProcessCluster, minor: string): Promise<void> {
  await vi.waitFor(async () => {
    expect((await saidBy(of)).filter(said => !isLowered(said, minor))).toEqual([]);
  }, SOON);
}

test('3.7 to 3.6 to 3.5 and back: no write fails that is tried again, and the members stay the same', async () => {
  const three = await started('3.7.3');
  const writer = new Writer(three);
  const list = () => ask(three, 0, member => member.memberList());
  const before = await list();
  for (const [version, target] of [
    ['3.6.16', '3.6.0'],
    ['3.5.35', '3.5.0'],
  ] as const) {
    await downgrade(three, 'validate', target);
    await downgrade(three, 'enable', target);
    await lowered(three, minorOf(target) ?? '');
    await moved(three, [0, 1, 2], version);
    // etcd ends it by itself.
    await arrival(three, minorOf(target) ?? '');
    await endedAmongPeers(three);
  }
  expect(await list()).toEqual(before);
  await moved(three, [0, 1, 2], '3.6.16');
  await arrival(three, '3.6');
  const { written, failed } = await writer.end();
  expect(failed).toEqual([]);
  expect(written).toBeGreaterThan(0);
  expect(await ask(three, 2, member => member.countKeys())).toMatchObject({ keys: written });
});

test('no member joins while a downgrade is enabled; one of the newer release does once it is cancelled', async () => {
  const three = await started('3.7.3');
  await three.put('key', 'kept');
  await downgrade(three, 'enable', '3.6.0');
  await lowered(three, '3.6');
  await moved(three, [0, 1], '3.6.16');
  const fourth = await three.addLearner('3.7.3');
  expect(await fourth.untilExited()).not.toBe(0);
  expect(fourth.log).toContain('incompatible with current running cluster');
  await downgrade(three, 'cancel', '3.6.0');
  await fourth.stop();
  fourth.start(joining(three));
  await promoted(three, fourth);
  // The members of 3.6 keep the cluster there: nothing has to be enabled again.
  await lowered(three, '3.6');
  await moved(three, [2, 3], '3.6.16');
  await arrival(three, '3.6');
  await promoted(three, await three.addLearner('3.6.16'));
  await downgrade(three, 'enable', '3.5.0');
  await lowered(three, '3.5');
  await moved(three, [0, 1, 2, 3, 4], '3.5.35');
  await arrival(three, '3.5');
  await endedAmongPeers(three);
  await promoted(three, await three.addLearner('3.5.35'));
  for (const { log } of three.members) expect(log).not.toContain('invalid downgrade');
});

/** Flags of a member that is started once more before it has joined. */
function joining(of: EtcdProcessCluster): string[] {
  const initial = of.members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(',');
  return [`--initial-cluster=${initial}`, '--initial-cluster-state=existing'];
}

/** Waits until the learner is a voter. */
async function promoted(of: EtcdProcessCluster, learner: EtcdProcess): Promise<void> {
  const own = of.members.indexOf(learner);
  await vi.waitFor(async () => {
    const said = await Promise.all(of.members.map((_, serial) => ask(of, serial, member => member.status())));
    const leader = said.findIndex(({ memberId, leaderId }) => memberId === leaderId);
    const { memberId, isLearner } = said[own] ?? { memberId: '', isLearner: true };
    if (isLearner) await ask(of, leader, member => member.promote(memberId));
  }, SOON);
  await learner.untilHealthy();
}

test('validate and enable answer as the port says', async () => {
  const three = await started('3.7.3');
  for (const action of ['validate', 'enable'] as const)
    for (const version of ['3.5.0', '3.7.0', '3.8.0'])
      await expect(downgrade(three, action, version)).rejects.toMatchObject({
        code: 'refused',
        message: expect.stringContaining('invalid downgrade target version'),
      });
  await downgrade(three, 'validate', '3.6.0');
  expect((await saidBy(three)).map(said => said.downgrade)).toEqual(['', '', '']);
  await downgrade(three, 'cancel', '3.6.0');
  await downgrade(three, 'enable', '3.6.0', 1);
  for (const action of ['validate', 'enable'] as const)
    await expect(downgrade(three, action, '3.6.0')).rejects.toMatchObject({
      code: 'refused',
      message: expect.stringContaining('downgrade job in progress'),
    });
  expect((await saidBy(three)).map(said => said.downgrade)).toEqual(['3.6.0', '3.6.0', '3.6.0']);
  // Members of 3.7 that have not been touched: what a pass sees that begins anew.
  await lowered(three, '3.6');
  const question = { target: '3.6.16', allowIntermediate: false, authEnabled: false, environment: [] };
  expect(upgradePath({ ...question, members: await saidBy(three) })).toMatchObject({ kind: 'path' });
  await downgrade(three, 'cancel', '3.6.0', 2);
  await arrival(three, '3.7');
});

test('cancelled midway: the cluster stays with the older minor until all run the newer one again', async () => {
  const three = await started('3.7.3');
  await downgrade(three, 'enable', '3.6.0');
  await lowered(three, '3.6');
  await moved(three, [0], '3.6.16');
  // Members of both minors start again meanwhile.
  await moved(three, [0], '3.6.16');
  await moved(three, [1], '3.7.3');
  await downgrade(three, 'cancel', '3.6.0');
  await moved(three, [0], '3.6.16');
  await lowered(three, '3.6');
  expect((await saidBy(three)).map(said => said.downgrade)).toEqual(['', '', '']);
  await moved(three, [0], '3.7.3');
  await arrival(three, '3.7');
  await downgrade(three, 'enable', '3.6.0');
});

test('cancelled while a member of 3.5 leads; a member of 3.5 is not asked', async () => {
  const three = await started('3.6.16');
  await downgrade(three, 'enable', '3.5.0');
  await lowered(three, '3.5');
  await moved(three, [0, 1], '3.5.35');
  const ids = await Promise.all(
    [0, 2].map(serial => ask(three, serial, async member => (await member.status()).memberId)),
  );
  const leads = await ask(three, 2, async member => (await member.status()).leaderId === ids[1]);
  if (leads) await ask(three, 2, member => member.moveLeader(ids[0] ?? ''));
  await downgrade(three, 'cancel', '3.5.0', 2);
  expect(await ask(three, 2, member => member.version())).toMatchObject({ cluster: '3.5.0', downgrade: '' });
  await moved(three, [0, 1], '3.6.16');
  await arrival(three, '3.6');
});

test('what is left of a downgrade to 3.5 keeps members of 3.6 from arriving until it is cancelled', async () => {
  const three = await started('3.6.16');
  await downgrade(three, 'enable', '3.5.0');
  await lowered(three, '3.5');
  // As if the members of 3.5 were upgraded again before their leader has looked.
  await moved(three, [0, 1, 2], '3.5.35', ['--experimental-downgrade-check-time=1h']);
  expect((await saidBy(three)).map(said => said.downgrade)).toEqual([undefined, undefined, undefined]);
  await moved(three, [0, 1, 2], '3.6.16');
  const end = Date.now() + 8_000;
  while (Date.now() < end)
    expect(await ask(three, 1, member => member.version())).toMatchObject({
      cluster: '3.5.0',
      downgrade: '3.5.0',
    });
  await downgrade(three, 'cancel', '3.5.0');
  await arrival(three, '3.6');
});

test('a member of the older minor does not start before the versions are lowered, and they are not while a member is away', async () => {
  const three = await started('3.7.3');
  await restart(three, 0, '3.6.16');
  expect(await three.member(0).untilExited()).not.toBe(0);
  // Enabled all the same, and without effect.
  await downgrade(three, 'enable', '3.6.0', 1);
  const end = Date.now() + 8_000;
  while (Date.now() < end)
    expect(await ask(three, 1, member => member.version())).toMatchObject({
      cluster: '3.7.0',
      storage: '3.7.0',
    });
  await restart(three, 0, '3.6.16');
  expect(await three.member(0).untilExited()).not.toBe(0);
  await moved(three, [0], '3.7.3');
  await lowered(three, '3.6');
  await moved(three, [0], '3.6.16');
});
