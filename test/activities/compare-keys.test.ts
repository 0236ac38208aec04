/** The members' keys are compared before one is touched: side by side, for as long as it takes, and for these very members. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { EtcdMember, EtcdPort } from '../../src/etcd/port.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const LONG = { timeout: 240_000 };
const PATIENT = { timeout: 240_000 };

/** Holds every HashKV back until it is let go, and counts. */
class SlowHashes {
  /** Asked and not answered, by host. */
  readonly waiting = new Map<string, () => void>();
  asked = 0;
  most = 0;
  revisions = new Set<string>();
  /** Seconds that a hash takes, by the clock of the world. */
  seconds = 30;
  /** The host that answers with an error. */
  refusing: string | undefined;

  around(world: OperatorWorld): void {
    const { etcd } = world;
    const member = etcd.member.bind(etcd);
    const slow: EtcdPort = {
      member: target => {
        const dialled = member(target);
        const hashKv: EtcdMember['hashKv'] = async revision => {
          this.asked += 1;
          this.revisions.add(revision);
          await new Promise<void>(answer => {
            this.waiting.set(target.host, answer);
            this.most = Math.max(this.most, this.waiting.size);
          });
          this.waiting.delete(target.host);
          world.now += this.seconds * 1_000;
          if (target.host === this.refusing) throw new Error('the disk is too slow');
          return dialled.hashKv(revision);
        };
        return { ...dialled, hashKv };
      },
    };
    Object.assign(etcd, slow);
  }

  /** Lets one answer. */
  answer(): void {
    const [first] = this.waiting.values();
    first?.();
  }
}

async function toCompare(spec: EtcdClusterSpec = {}): Promise<{ world: OperatorWorld; slow: SlowHashes }> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.15', ...spec } });
  await world.run();
  await world.run();
  world.now += 60_000;
  const patch = { spec: { version: '3.6.16' } };
  await world.kube.as('kubectl').patch(world.resource, patch, { type: 'merge' });
  for (let step = 0; step < 10; step += 1) {
    const { decision } = await world.look();
    if (decision.kind === 'operate' && decision.step.kind === 'compareKeys') break;
    if (decision.kind === 'operate') await world.perform(decision.step);
    world.now += 5_000;
  }
  const slow = new SlowHashes();
  slow.around(world);
  return { world, slow };
}

async function stepOf(world: OperatorWorld) {
  const { decision } = await world.look();
  if (decision.kind !== 'operate') throw new Error(`${decision.kind}: ${JSON.stringify(decision)}`);
  return decision.step;
}

describe('members whose hashes take 30 seconds each', LONG, () => {
  it('are asked side by side, at one revision, and the upgrade continues', async () => {
    const { world, slow } = await toCompare();
    const step = await stepOf(world);
    expect(step).toMatchObject({ kind: 'compareKeys', members: [{}, {}, {}] });
    expect(world.cluster.status.operation).toMatchObject({
      type: 'upgradeCluster',
      step: expect.stringMatching(/^compare the data of example-0, example-1, example-2/),
    });
    const comparing = world.perform(step);
    await expect.poll(() => slow.waiting.size, PATIENT).toBe(3);
    expect(slow.revisions.size).toBe(1);
    for (let left = 3; left > 0; left -= 1) {
      slow.answer();
      await expect.poll(() => slow.waiting.size, PATIENT).toBe(left - 1);
    }
    await comparing;
    expect(slow).toMatchObject({ asked: 3, most: 3 });
    const { keyHashes } = world.cluster.status;
    expect(keyHashes?.members.map(({ hash }) => hash)).toEqual(Array(3).fill(expect.any(String)));
    expect(await stepOf(world)).toMatchObject({ kind: 'replaceImage' });
    // No pass and no look right before the member is touched asks once more.
    await world.perform(await stepOf(world));
    expect(slow.asked).toBe(3);
    expect(world.etcd.open).toBe(0);
  });

  it('have them thrown away when one restarts meanwhile', async () => {
    const { world, slow } = await toCompare();
    const comparing = world.perform(await stepOf(world));
    await expect.poll(() => slow.waiting.size, PATIENT).toBe(3);
    world.kube.mutate(world.pod('example-1'), pod => {
      const status = pod['status'] as { containerStatuses: object[] };
      pod['status'] = {
        ...status,
        containerStatuses: [{ name: 'etcd', containerID: 'containerd://another' }],
      };
    });
    await expect(comparing).rejects.toMatchObject({
      type: 'PreconditionChanged',
      message: expect.stringContaining('example-1 was restarted or stopped while it computed its hash'),
    });
    while (slow.waiting.size > 0) {
      slow.answer();
      await turn();
    }
    expect(world.cluster.status.keyHashes).toBeUndefined();
    expect(await stepOf(world)).toMatchObject({ kind: 'compareKeys' });
  });
});

describe('hashes that were compared', LONG, () => {
  async function compare({ world, slow }: Awaited<ReturnType<typeof toCompare>>) {
    const comparing = world.perform(await stepOf(world));
    await expect.poll(() => slow.waiting.size, PATIENT).toBe(3);
    while (slow.waiting.size > 0) {
      slow.answer();
      await turn();
    }
    await comparing;
  }

  async function compared() {
    const { world, slow } = await toCompare();
    await compare({ world, slow });
    return { world, slow };
  }

  it('are not taken for those of a member that restarted since', async () => {
    const { world } = await compared();
    world.kube.mutate(world.pod('example-2'), pod => {
      const status = pod['status'] as { containerStatuses: object[] };
      pod['status'] = {
        ...status,
        containerStatuses: [{ name: 'etcd', containerID: 'containerd://another' }],
      };
    });
    expect(await stepOf(world)).toMatchObject({ kind: 'compareKeys' });
  });

  it('are asked for again when minutes have passed', async () => {
    const { world } = await compared();
    world.now += 130_000;
    expect(await stepOf(world)).toMatchObject({ kind: 'compareKeys' });
  });

  it('that differ stop everything, and are reported', async () => {
    const { world, slow } = await toCompare();
    for (const process of world.etcd.clusters[0]?.processes ?? [])
      process.corrupt = process.name === 'example-1';
    await compare({ world, slow });
    expect(await stepOf(world)).toMatchObject({ kind: 'moveLeader', from: 'example-1' });
    await world.perform(await stepOf(world));
    expect(await stepOf(world)).toMatchObject({ kind: 'withdrawMembers', pods: [{ name: 'example-1' }] });
    await world.perform(await stepOf(world));
    expect((await world.look()).decision).toMatchObject({ kind: 'blocked', reason: 'CorruptMember' });
    expect(slow.asked).toBe(3);
  });
});

it('a member that does not hash its keys is said, and asked again', LONG, async () => {
  const { world, slow } = await toCompare();
  const comparing = world.perform(await stepOf(world));
  await expect.poll(() => slow.waiting.size, PATIENT).toBe(3);
  slow.refusing = [...slow.waiting.keys()][0];
  while (slow.waiting.size > 0) {
    slow.answer();
    await turn();
  }
  await comparing;
  expect((await world.look()).decision).toMatchObject({
    kind: 'blocked',
    reason: 'DataNotCompared',
    message: expect.stringContaining('the disk is too slow'),
  });
  world.now += 40_000;
  expect(await stepOf(world)).toMatchObject({ kind: 'compareKeys' });
});

it('one member alone is not compared', LONG, async () => {
  const { world, slow } = await toCompare({ size: 1 });
  await world.run();
  expect(slow.asked).toBe(0);
});
