/** A member whose data differs, from end to end on a world in memory: found, kept off the clients, replaced, and CORRUPT disarmed. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_EVIDENCE,
  ANNOTATION_KEPT_UNTIL,
  CLIENTS_ADMITTED,
  CLIENTS_WITHDRAWN,
  LABEL_CLIENTS,
} from '../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { condition, created, leader, voters } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 240_000 };
const DAY_MS = 24 * 3_600_000;
const BY_POLICY = { repair: { corruption: 'Replace' } } as const;

const cluster = (world: OperatorWorld) => world.etcd.clusters[0]!;
const processes = (world: OperatorWorld) => [...cluster(world).processes];
const alarms = (world: OperatorWorld) => processes(world).flatMap(process => process.alarms);
const evidence = (world: OperatorWorld) =>
  world.kube
    .all('PersistentVolumeClaim')
    .filter(({ metadata }) => metadata.annotations?.[ANNOTATION_EVIDENCE] !== undefined);

/** Etcd has raised CORRUPT of this member, or of nobody by name. */
function raise(world: OperatorWorld, id = '0'): void {
  const text = id === '0' ? 'alarm:CORRUPT ' : `memberID:${BigInt(`0x${id}`)} alarm:CORRUPT `;
  for (const process of processes(world)) process.alarms.push(text);
}

function spoil(world: OperatorWorld, member: string): string {
  const found = processes(world).find(({ name }) => name === member)!;
  found.corrupt = true;
  return found.id;
}

async function spoiled(spec: EtcdClusterSpec = {}, member = 'example-2'): Promise<OperatorWorld> {
  const world = await created(spec);
  world.now += 60_000;
  spoil(world, member);
  return world;
}

async function settle(world: OperatorWorld): Promise<void> {
  for (let round = 0; round < 4; round += 1) await world.run();
}

function expectReplaced(world: OperatorWorld, member: string): void {
  expect(voters(world)).toHaveLength(3);
  expect(voters(world)).not.toContain(member);
  expect(alarms(world)).toEqual([]);
  expect(condition(world, 'DataCorrupt')).toBeUndefined();
  expect(condition(world, 'Healthy')?.status).toBe('True');
  expect(evidence(world).map(({ metadata }) => metadata.name)).toEqual([member]);
  const { annotations = {} } = evidence(world)[0]!.metadata;
  expect(annotations[ANNOTATION_KEPT_UNTIL]).toBe('9999-12-31T23:59:59Z');
  expect(annotations[ANNOTATION_EVIDENCE]).toMatch(/its data differs, at revision \d+/);
  expect(world.cluster.status.dataComparison).toMatchObject({ lastEqual: {} });
  expect(world.cluster.status.dataComparison?.suspects).toBeUndefined();
}

describe('a member whose data differs', LONG, () => {
  it('is found by the comparison of the day, kept off the clients, and replaced when that is approved', async () => {
    const world = await spoiled();
    world.now += DAY_MS;
    await world.run();
    expect(condition(world, 'DataCorrupt')).toMatchObject({ status: 'True', reason: 'MemberDiffers' });
    expect(condition(world, 'Progressing')).toMatchObject({ reason: 'AwaitingApproval' });
    const labels = (name: string) => world.kube.peek(world.pod(name))?.metadata.labels?.[LABEL_CLIENTS];
    expect(labels('example-2')).toBe(CLIENTS_WITHDRAWN);
    expect(labels('example-1')).not.toBe(CLIENTS_WITHDRAWN);
    expect(voters(world)).toContain('example-2');
    const { awaitedApproval } = world.cluster.status;
    const users = new Users(world);
    users.said = { approvals: [{ id: 1, ...awaitedApproval!, by: 'ana', expiresAt: world.now + 600_000 }] };
    await users.run();
    await settle(world);
    expectReplaced(world, 'example-2');
    expect(world.cluster.status.history?.map(({ type, outcome }) => `${type} ${outcome}`)).toContain(
      'replaceMember Succeeded',
    );
  });

  it('is replaced by policy when etcd raises CORRUPT, and writes go through again', async () => {
    const world = await spoiled(BY_POLICY);
    raise(world, processes(world).find(({ name }) => name === 'example-2')!.id);
    await settle(world);
    expectReplaced(world, 'example-2');
    expect(cluster(world).writesTried.length).toBeGreaterThanOrEqual(2);
  });

  it('hands over before it is removed, and etcd need not name it', async () => {
    const world = await created(BY_POLICY);
    world.now += 60_000;
    const first = leader(world);
    spoil(world, first);
    raise(world);
    await settle(world);
    expectReplaced(world, first);
    const reasons = world.events.map(({ reason }) => reason);
    expect(reasons.indexOf('LeaderMoved')).toBeGreaterThan(-1);
    expect(reasons.indexOf('LeaderMoved')).toBeLessThan(reasons.lastIndexOf('Member Removed'));
  });

  it('is nobody where all hold the same and etcd raised CORRUPT all the same: a person is asked', async () => {
    const world = await created(BY_POLICY);
    world.now += 60_000;
    raise(world);
    await settle(world);
    expect(alarms(world)).toHaveLength(3);
    expect(condition(world, 'DataCorrupt')).toMatchObject({ reason: 'AlarmStands' });
    const { awaitedApproval } = world.cluster.status;
    expect(awaitedApproval).toEqual({ operation: 'compareData', ids: ['CORRUPT of 0'] });
    const users = new Users(world);
    users.said = { approvals: [{ id: 1, ...awaitedApproval!, by: 'ana', expiresAt: world.now + 600_000 }] };
    await users.run();
    await settle(world);
    expect(alarms(world)).toEqual([]);
    expect(condition(world, 'DataCorrupt')).toBeUndefined();
  });

  it('is not removed where its volume cannot be kept as evidence', async () => {
    const world = await spoiled(BY_POLICY);
    raise(world);
    world.kube.intercept(call => {
      const isNote = call.verb === 'patch' && call.kind === 'PersistentVolumeClaim';
      if (isNote && JSON.stringify(call).includes('evidence'))
        throw new Error('claims are not to be changed');
    });
    await world.drive({}, { failure: true }).catch(() => undefined);
    expect(voters(world)).toContain('example-2');
  });

  it('leads no longer as soon as it is found, before its replacement is approved', async () => {
    const world = await created();
    world.now += 60_000;
    const first = leader(world);
    spoil(world, first);
    world.now += DAY_MS;
    await world.run();
    expect(condition(world, 'Progressing')).toMatchObject({ reason: 'AwaitingApproval' });
    expect(voters(world)).toContain(first);
    expect(leader(world)).not.toBe(first);
    expect(world.cluster.status.history?.map(({ type, outcome }) => `${type} ${outcome}`)).toContain(
      'moveLeader Succeeded',
    );
  });

  it('is said to be led to when something puts its label back', async () => {
    const world = await spoiled();
    world.now += DAY_MS;
    const step = await world.runUntil('withdrawMembers');
    let isChanged = false;
    world.kube.intercept(call => {
      if (call.name !== 'example-2') return;
      if (isChanged)
        world.kube.mutate(world.pod('example-2'), ({ metadata }) => {
          metadata.labels = { ...metadata.labels, [LABEL_CLIENTS]: CLIENTS_ADMITTED };
        });
      isChanged ||= call.verb === 'patch';
    });
    await expect(world.perform(step)).rejects.toMatchObject({
      type: 'ChangedBack',
      message: expect.stringContaining('something reverts the change, such as an admission webhook'),
    });
    expect(world.events.map(({ reason }) => reason)).not.toContain('MemberWithdrawn');
  });

  it('ends the same when the operator is killed at any of its calls', async () => {
    const undisturbed = await spoiled(BY_POLICY);
    raise(undisturbed);
    const start = undisturbed.calls;
    await settle(undisturbed);
    expectReplaced(undisturbed, 'example-2');
    const calls = undisturbed.calls - start;
    for (let at = 1; at <= calls; at += 23) {
      const world = await spoiled(BY_POLICY);
      raise(world);
      world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
      await settle(world);
      await settle(world);
      expectReplaced(world, 'example-2');
    }
  });
});
