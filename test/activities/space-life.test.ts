/** NOSPACE from end to end on a world in memory: raised quotas, free pages and history, with operators that die and members that do not answer. */
import { describe, expect, it } from 'vitest';
import { condition, created, edit } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 240_000 };
const MIB = 1024 ** 2;
const MEMBERS = ['example-0', 'example-1', 'example-2'];
const SMALL = { etcd: { quotaBackendBytes: '16Mi' } };

const cluster = (world: OperatorWorld) => world.etcd.clusters[0]!;
const processes = (world: OperatorWorld) => [...cluster(world).processes];
const disarmed = (world: OperatorWorld) =>
  world.events.filter(({ reason }) => reason === 'AlarmDisarmed').map(({ message }) => message);
const alarms = (world: OperatorWorld) => processes(world).flatMap(process => process.alarms);

/** A cluster whose databases are as large as their quota of 16 MiB. */
async function full({
  free = 0,
  versions = 60,
}: {
  free?: number;
  versions?: number;
} = {}): Promise<OperatorWorld> {
  const world = await created(SMALL);
  world.now += 60_000;
  Object.assign(cluster(world), { revision: versions + 1, keys: 60, versions });
  const text = `memberID:${BigInt(`0x${processes(world)[0]?.id}`)} alarm:NOSPACE `;
  for (const process of processes(world)) {
    Object.assign(process, { dbSize: 16 * MIB, dbFree: free });
    process.alarms.push(text);
  }
  return world;
}

function expectWritable(world: OperatorWorld): void {
  expect(alarms(world)).toEqual([]);
  expect(new Set(cluster(world).writesTried)).toEqual(new Set(MEMBERS));
  expect(disarmed(world)).toHaveLength(1);
  expect(condition(world, 'Healthy')?.status).toBe('True');
  expect(world.cluster.status.history?.[0]).toMatchObject({ type: 'reclaimSpace', outcome: 'Succeeded' });
}

describe('a full database', LONG, () => {
  it('takes writes again after its quota was raised', async () => {
    const world = await full();
    await world.run();
    expect(condition(world, 'Progressing')).toMatchObject({ status: 'False', reason: 'Blocked' });
    expect(alarms(world)).not.toEqual([]);
    await edit(world, { etcd: { quotaBackendBytes: '64Mi' } });
    for (const process of processes(world)) process.dbSize = 16 * MIB;
    await world.run();
    await world.run();
    expectWritable(world);
    expect(disarmed(world)[0]).toMatch(
      /^disarmed NOSPACE: the largest database has .*, and a write went through example-0, example-1, example-2$/,
    );
    expect(world.cluster.status.history?.[1]).toMatchObject({ type: 'rolloutCluster', outcome: 'Succeeded' });
  });

  it('that is mostly free is defragmented and takes writes again without anybody', async () => {
    const world = await full({ free: 12 * MIB });
    await world.run();
    await world.run();
    expect(processes(world).map(({ dbFree }) => dbFree)).toEqual([0, 0, 0]);
    expectWritable(world);
  });

  it('that is mostly history asks for a compaction, and takes writes again once that is approved', async () => {
    const world = await full({ versions: 600 });
    await world.run();
    expect(condition(world, 'Progressing')).toMatchObject({ status: 'False', reason: 'AwaitingApproval' });
    expect(cluster(world).compacted).toBe(1);
    const users = new Users(world);
    const approval = { id: 1, operation: 'reclaimSpace', ids: ['history before revision 601'], by: 'ana' };
    users.said = { approvals: [{ ...approval, expiresAt: world.now + 600_000 }] };
    await users.run();
    await users.run();
    await users.run();
    expect(cluster(world).compacted).toBe(601);
    expectWritable(world);
  });

  it('keeps its alarm when a write raises it again', async () => {
    const world = await full();
    for (const process of processes(world)) process.dbSize = 8 * MIB;
    const [, , last] = processes(world);
    // It grows between the look and the write.
    Object.assign(last!, { quota: 4 * MIB });
    await expect(world.drive({}, { failure: true })).rejects.toThrow(
      /refuses a write after NOSPACE was disarmed/,
    );
    expect(disarmed(world)).toEqual([]);
    expect(alarms(world)).not.toEqual([]);
  });

  it('is disarmed through another member when the leader does not answer that', async () => {
    const world = await full();
    for (const process of processes(world)) process.dbSize = 8 * MIB;
    const leaderId = cluster(world).leaderId;
    cluster(world).disarmFails = process => process.id === leaderId;
    await world.run();
    await world.run();
    expectWritable(world);
  });

  it('says that the alarm could not be disarmed through anybody, and tries again', async () => {
    const world = await full();
    for (const process of processes(world)) process.dbSize = 8 * MIB;
    cluster(world).disarmFails = () => true;
    await expect(world.drive({}, { failure: true })).rejects.toThrow(
      /could not be disarmed through any member/,
    );
    cluster(world).disarmFails = () => false;
    await world.run();
    await world.run();
    expectWritable(world);
  });

  it('ends the same when the operator is killed at any of its calls', async () => {
    const undisturbed = await full({ free: 12 * MIB });
    const start = undisturbed.calls;
    await undisturbed.run();
    for (let at = 1; at <= undisturbed.calls - start; at += 17) {
      const world = await full({ free: 12 * MIB });
      world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
      await world.run();
      await world.run();
      await world.run();
      expect(alarms(world), `killed at call ${at}`).toEqual([]);
      expect(new Set(cluster(world).writesTried), `killed at call ${at}`).toEqual(new Set(MEMBERS));
      expect(world.cluster.status.history?.[0]).toMatchObject({ type: 'reclaimSpace', outcome: 'Succeeded' });
    }
  });
});
