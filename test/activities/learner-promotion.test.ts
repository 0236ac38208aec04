/** When a learner is promoted: one that is cut off has the whole log and names its old leader; one that waits for a write says nothing. */
import { describe, expect, it } from 'vitest';
import { OperatorWorld } from '../worlds/operator-world.ts';

/** A cluster of one with a learner that has caught up and is about to be promoted. */
async function aboutToPromote({ joinersAwaitEntry = false } = {}) {
  const world = new OperatorWorld({ spec: { size: 1 } });
  await world.run();
  await world.run();
  world.etcd.clusters[0]!.joinersAwaitEntry = joinersAwaitEntry;
  await world.kube.as('kubectl').patch(world.resource, { spec: { size: 2 } }, { type: 'merge' });
  return { world, step: await world.runUntil('promoteLearner') };
}

function learnersOf(world: OperatorWorld): string[] {
  const { rows = [] } = world.etcd.clusters[0] ?? {};
  return rows.filter(row => row.isLearner).map(row => row.name);
}

describe('a learner that lacks nothing', () => {
  it('is promoted when it follows', async () => {
    const { world, step } = await aboutToPromote();
    await world.perform(step);
    expect(learnersOf(world)).toEqual([]);
  });

  it('is not promoted while it is cut off: a cluster of two would have no quorum', async () => {
    const { world, step } = await aboutToPromote();
    const { host } = [...world.etcd.clusters[0]!.processes].find(({ id }) => id === step.id)!;
    world.etcd.set(host, 'isolated');
    await world.perform(step);
    expect(learnersOf(world)).toEqual(['example-1']);
    world.etcd.set(host, 'running');
    await world.perform(step);
    expect(learnersOf(world)).toEqual([]);
  });
});

describe('an alarm', () => {
  /** etcd lists every alarm at every member (server/etcdserver/api/v3rpc/maintenance.go, Status). */
  async function promotedBeside(alarm: 'NOSPACE' | 'CORRUPT', joinersAwaitEntry = false) {
    const { world, step } = await aboutToPromote({ joinersAwaitEntry });
    const text = `memberID:${BigInt(`0x${step.id}`)} alarm:${alarm} `;
    const processes = [...world.etcd.clusters[0]!.processes];
    for (const { alarms } of processes) alarms.push(text);
    await world.perform(step);
    for (const { alarms } of processes) expect(alarms).toEqual([text]);
    return learnersOf(world);
  }

  it.each([false, true])(
    'of space keeps no learner from being promoted, and stays, also where the learner waits for an entry: %s',
    async joinersAwaitEntry => {
      expect(await promotedBeside('NOSPACE', joinersAwaitEntry)).toEqual([]);
    },
  );

  it('of data that differs keeps a learner from being promoted, and stays', async () => {
    expect(await promotedBeside('CORRUPT')).toEqual(['example-1']);
  });
});

describe('a learner that is listed as started and serves no one until something is written', () => {
  it('is promoted in a cluster that no one writes to', async () => {
    const { world, step } = await aboutToPromote({ joinersAwaitEntry: true });
    await world.perform(step);
    expect(learnersOf(world)).toEqual([]);
  });
});
