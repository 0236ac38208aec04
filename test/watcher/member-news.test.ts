/** Members of very many clusters that fall silent together, as when the network of this process fails for a moment. */
import { describe, expect, test } from 'vitest';
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import { Harness } from './harness.ts';
import { owned, refTo } from './objects.ts';

/** Uids follow from the last three letters of names. */
const nameOf = (index: number): string => `c${(36 ** 2 + index).toString(36)}`;
const refs = Array.from({ length: 1_000 }, (_, index) => refTo('EtcdCluster', nameOf(index)));
const [first, second, third] = refs as [ResourceRef, ResourceRef, ResourceRef, ...ResourceRef[]];
const hostOf = (ref: ResourceRef): string => {
  const index = refs.indexOf(ref);
  return `10.0.${Math.floor(index / 250)}.${index % 250}`;
};
const statusOf = ({ name }: ResourceRef, health = 'Healthy') => ({
  observedGeneration: 1,
  conditions: [{ type: 'Available', status: 'True' }],
  members: { details: [{ name: `${name}-0`, id: 'a0', health }] },
});

/** All of one namespace, of one member each, which have been told and are well. */
async function wellKnown() {
  const world = new Harness(1, { admitEveryMs: 1 });
  await world.watcher.start();
  for (const ref of refs) {
    world.put(ref, { status: statusOf(ref) });
    const status = { podIP: hostOf(ref), conditions: [{ type: 'Ready', status: 'True' }] };
    world.reflectors.put(owned('Pod', `${ref.name}-0`, ref, { status }));
  }
  await world.clock.advance(60_000);
  const before = new Map(refs.map(ref => [ref, world.temporal.signals(ref).length]));
  const told = () => refs.filter(ref => world.temporal.signals(ref).length > (before.get(ref) ?? 0));
  const fallSilent = (which: readonly ResourceRef[]) => {
    for (const ref of which) world.sayings.set(hostOf(ref), 'silent');
  };
  return { world, told, fallSilent };
}

describe('when thousands of members fall silent together', () => {
  test('and are well again a moment later, few of their clusters are told', async () => {
    const { world, told, fallSilent } = await wellKnown();
    fallSilent(refs);
    await world.clock.advance(4_000);
    world.sayings.clear();
    await world.clock.advance(120_000);
    expect(told().length).toBeGreaterThan(0);
    expect(told().length).toBeLessThan(refs.length / 5);
    await world.stop();
  });

  test('a cluster of their namespace that changes is told before them', async () => {
    const { world, fallSilent } = await wellKnown();
    world.temporal.latencyMs = 200;
    fallSilent(refs.slice(500));
    await world.clock.advance(4_000);
    const before = world.temporal.signals(first).length;
    world.put(first, { metadata: { generation: 2 }, status: statusOf(first) });
    await world.clock.advance(500);
    expect(world.temporal.signals(first).length).toBe(before + 1);
    await world.stop();
  });

  test('and stay so, all are told', async () => {
    const { world, told, fallSilent } = await wellKnown();
    const silent = refs.slice(0, 200);
    fallSilent(silent);
    await world.clock.advance(600_000);
    expect(told()).toEqual(silent);
    await world.stop();
  });

  test('what somebody changes of a cluster that waits for its turn is told, though its member is well again', async () => {
    const { world, fallSilent } = await wellKnown();
    fallSilent(refs);
    await world.clock.advance(4_000);
    world.sayings.clear();
    await world.clock.advance(5_000);
    const waiting = refs.findLast(ref => world.temporal.signals(ref).length === 1) ?? first;
    world.reflectors.put(owned('Service', `${waiting.name}-client`, waiting));
    await world.clock.advance(500);
    expect(world.temporal.signals(waiting).length).toBe(2);
    await world.stop();
  });

  test('the workflow of one that waits for its turn is started when somebody has terminated it', async () => {
    const { world, fallSilent } = await wellKnown();
    world.temporal.latencyMs = 4_000;
    fallSilent(refs);
    await world.clock.advance(10_000);
    const waiting = refs.findLast(ref => world.temporal.signals(ref).length === 1) ?? first;
    const workflow = world.temporal.workflows.get(workflowId(waiting));
    if (workflow === undefined) throw new Error('it has no workflow');
    workflow.running = false;
    await world.clock.advance(250_000);
    expect(workflow.started).toBe(2);
    await world.stop();
  });
});

test('both clusters are told of an address that pods of both claim, though they are well by their status', async () => {
  const { world, told } = await wellKnown();
  const status = { podIP: hostOf(first), conditions: [{ type: 'Ready', status: 'True' }] };
  world.reflectors.put(owned('Pod', `${second.name}-0`, second, { status }));
  await world.clock.advance(5_000);
  expect(told()).toEqual([first, second]);
  await world.stop();
});

test('one good answer of a member that wavers retracts nothing', async () => {
  const { world, told, fallSilent } = await wellKnown();
  world.temporal.latencyMs = 4_000;
  fallSilent(refs);
  await world.clock.advance(10_000);
  const waiting = refs.findLast(ref => world.temporal.signals(ref).length === 1) ?? first;
  world.sayings.clear();
  fallSilent([waiting]);
  const host = hostOf(waiting);
  for (let second = 0; second < 120; second += 1) {
    const asked = world.askedAt.get(host) ?? 0;
    if (asked % 4 === 3) world.sayings.delete(host);
    else world.sayings.set(host, 'silent');
    await world.clock.advance(1_000);
  }
  expect(told()).toContain(waiting);
  await world.stop();
});

test.each([
  ['well again', second, statusOf(second, 'Unhealthy')],
  ['well again, though no status was seen of it', third, undefined],
])(
  'a cluster whose status does not say that its member is well is told that it is %s',
  async (_, ref, status) => {
    const { world, fallSilent } = await wellKnown();
    fallSilent([ref]);
    await world.clock.advance(10_000);
    world.put(ref, status === undefined ? {} : { status });
    await world.clock.advance(5_000);
    const before = world.temporal.signals(ref).length;
    world.sayings.clear();
    await world.clock.advance(20_000);
    expect(world.temporal.signals(ref).length).toBeGreaterThan(before);
    await world.stop();
  },
);
