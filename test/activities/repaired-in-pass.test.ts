/** Services and budgets that somebody deleted or edited: the pass that finds it repairs them (docs/decisions/0121-a-pass-repairs-shared-objects.md). */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { fault } from '../fakes/kubernetes/kube.ts';
import { createActivities } from '../../src/activities/index.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { Killed } from '../worlds/workflow-run.ts';

const SHARED = ['Service', 'PodDisruptionBudget'];

/** A cluster of three that is available and at rest. */
async function available(): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16' } });
  await world.drive();
  await world.look();
  world.kube.calls.length = 0;
  world.events.length = 0;
  return world;
}

async function deleteShared(world: OperatorWorld, isDeleted: (name: string) => boolean): Promise<void> {
  const kubectl = world.kube.as('kubectl');
  for (const { apiVersion, kind, metadata } of SHARED.flatMap(kind => world.kube.all(kind)))
    if (isDeleted(metadata.name))
      await kubectl.delete({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name });
}

/** As the workflow says it while it has nothing under way. */
const FREE = { mayRepair: 'all' } as const;

const isClientService = (name: string): boolean => name === 'example-client';

function shared(world: OperatorWorld): string[] {
  return SHARED.flatMap(kind => world.names(kind)).sort();
}

function changeStatus(world: OperatorWorld, change: Partial<EtcdClusterStatus>): void {
  world.kube.mutate(world.resource, object => {
    object['status'] = { ...(object['status'] as EtcdClusterStatus), ...change };
  });
}

describe('a cluster whose client Service was deleted', () => {
  it('has it again after one pass, without an operation', async () => {
    const world = await available();
    const { status } = world.cluster;
    await deleteShared(world, isClientService);
    const { decision, repaired } = await world.look(FREE);
    expect(decision.kind).toBe('idle');
    expect(repaired).toMatchObject({ kind: 'ensureObjects', objects: ['clientService'] });
    expect(shared(world)).toContain('example-client');
    expect(world.cluster.status).toEqual(status);
    expect(world.events).toMatchObject([
      { reason: 'ObjectCreated', message: 'created Service example-client' },
    ]);
    expect(world.passes.at(-1)).toMatchObject({ repaired: 'ensureObjects', ended: undefined });
  });

  it('is read once before that', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    await world.look(FREE);
    const own = world.kube.calls.filter(({ manager }) => manager === 'etcd-operator');
    const before = own.slice(
      0,
      own.findIndex(({ verb }) => verb === 'create'),
    );
    expect(before.filter(({ kind }) => kind === 'EtcdCluster').map(({ verb }) => verb)).toEqual(['get']);
    expect(own.filter(({ verb }) => ['replace', 'patch', 'apply'].includes(verb))).toEqual([]);
  });

  it('gets an operation when that is refused, which says why', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    const stop = world.kube.intercept(({ verb, kind }) => {
      if (verb === 'create' && kind === 'Service') throw fault(403, 'Forbidden', 'a webhook says no');
    });
    const { decision, repaired } = await world.look(FREE);
    expect(repaired).toBeUndefined();
    expect(decision).toMatchObject({ operation: 'repairCluster', step: { kind: 'ensureObjects' } });
    expect(world.cluster.status.operation).toMatchObject({ type: 'repairCluster' });
    await expect(world.drive({}, { failure: true })).rejects.toThrow('a webhook says no');
    stop();
    await world.drive();
    expect(shared(world)).toContain('example-client');
    expect(world.cluster.status.operation).toBeUndefined();
  });

  it.each([
    ['an operation is under way', {}],
    ['it is paused', { ...FREE, paused: { by: 'admin' } }],
    [
      'the same has failed',
      { ...FREE, failed: { operation: 'repairCluster', step: 'ensureObjects', message: 'no', retryAt: 1 } },
    ],
    [
      'another operation has failed',
      { ...FREE, failed: { operation: 'moveLeader', message: 'no', retryAt: 1 } },
    ],
  ])('is left to an operation while %s', async (_, workflowState) => {
    const world = await available();
    await deleteShared(world, isClientService);
    expect(await world.look(workflowState)).not.toHaveProperty('repaired');
    expect(shared(world)).not.toContain('example-client');
  });

  it('is left to another operation that is recorded', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    changeStatus(world, { operation: { type: 'rolloutCluster', step: 'stopMember' } });
    expect(await world.look(FREE)).toMatchObject({ decision: { step: { kind: 'ensureObjects' } } });
    expect(shared(world)).not.toContain('example-client');
  });

  it('is left to an operation after a look that took long: a restore may have begun', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    const { signal } = new AbortController();
    const stop = world.kube.intercept(({ verb, kind }) =>
      verb === 'list' && kind === 'Pod' ? world.deps.time.pause(3_000, signal) : undefined,
    );
    expect(await world.look(FREE)).toMatchObject({ decision: { step: { kind: 'ensureObjects' } } });
    stop();
    expect(shared(world)).not.toContain('example-client');
  });

  it('is left to an operation by another attempt of the pass: users may have asked for a pause meanwhile', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    const { assess } = createActivities(world.deps);
    const second = new ActivityEnvironment({ attempt: 2 });
    const context = { workflowState: FREE, workflowId: 'entity' };
    expect(await second.run(assess, world.ref, context)).toMatchObject({
      decision: { step: { kind: 'ensureObjects' } },
    });
    expect(shared(world)).not.toContain('example-client');
  });

  it('is reported as repaired, and repaired once, when its status is changed by others all the time', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    changeStatus(world, { ready: '0/3' });
    let round = 100;
    const stop = world.kube.intercept(({ verb, kind, manager }) => {
      if (manager !== 'etcd-operator') return;
      if (verb === 'replace' && kind === 'EtcdCluster') changeStatus(world, { lastSerial: (round += 1) });
    });
    expect(await world.look(FREE)).toMatchObject({
      repaired: { kind: 'ensureObjects' },
      decision: { reason: 'ChangedConcurrently' },
    });
    stop();
    expect(world.kube.calls.filter(({ verb }) => verb === 'create')).toHaveLength(1);
    expect(shared(world)).toContain('example-client');
  });

  it('is created within six seconds, or by an operation', async () => {
    const world = await available();
    await deleteShared(world, () => true);
    const { signal } = new AbortController();
    const stop = world.kube.intercept(({ verb }) =>
      verb === 'create' ? world.deps.time.pause(6_000, signal) : undefined,
    );
    const { decision, repaired } = await world.look(FREE);
    stop();
    expect(repaired).toBeUndefined();
    // The peer Service, which comes first, is there.
    expect(shared(world)).toEqual(['example']);
    expect(decision).toMatchObject({ step: { objects: ['clientService', 'disruptionBudget'] } });
  });

  it('keeps its clients out while a restore is under way', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    const { incarnation } = world.cluster.status;
    if (incarnation === undefined) throw new Error('no incarnation is recorded');
    const restore = { name: 'r', uid: 'u', token: 't', location: 's3://backups' };
    changeStatus(world, { incarnation: { ...incarnation, restore } });
    await world.look(FREE);
    expect(shared(world)).not.toContain('example-client');
  });

  it('is reported when something else has its name', async () => {
    const world = await available();
    await deleteShared(world, isClientService);
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'example-client', namespace: 'shop' },
    });
    const { decision, repaired } = await world.look(FREE);
    expect(repaired).toBeUndefined();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'NameTaken' });
  });
});

describe('a cluster whose client Service was edited', () => {
  const service = { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'example-client' };
  const edit = (world: OperatorWorld) =>
    world.kube.as('kubectl').patch(service, { spec: { selector: { app: 'other' } } }, { type: 'merge' });
  /** Edits it, and again each time the operator is about to read it, until what is answered is called. */
  const keepEditing = async (world: OperatorWorld): Promise<() => void> => {
    await edit(world);
    return world.kube.intercept(async ({ verb, kind, manager }) => {
      if (verb === 'get' && kind === 'Service' && manager === 'etcd-operator') await edit(world);
    });
  };

  it('has it as it should be after one pass, without an operation', async () => {
    const world = await available();
    const spec = world.kube.peek(service)?.['spec'];
    const { status } = world.cluster;
    await edit(world);
    const { decision, repaired } = await world.look(FREE);
    expect(decision.kind).toBe('idle');
    expect(repaired).toMatchObject({ kind: 'applyObjects', objects: [{ object: 'clientService' }] });
    expect(world.kube.peek(service)?.['spec']).toEqual(spec);
    expect(world.cluster.status).toEqual(status);
    expect(world.events).toMatchObject([{ reason: 'ObjectPutBack' }]);
  });

  it('is left to an operation while that has to wait, and what is missing is not', async () => {
    const world = await available();
    await edit(world);
    expect(await world.look({ mayRepair: 'missing' })).not.toHaveProperty('repaired');
    const other = await available();
    await deleteShared(other, isClientService);
    expect(await other.look({ mayRepair: 'missing' })).toHaveProperty('repaired');
  });

  it('gets an operation when a user edits it at once again', async () => {
    const world = await available();
    const spec = world.kube.peek(service)?.['spec'];
    const stop = await keepEditing(world);
    const { decision, repaired } = await world.look(FREE);
    expect(repaired).toBeDefined();
    expect(decision).toMatchObject({ operation: 'repairCluster', step: { kind: 'applyObjects' } });
    expect(world.cluster.status.operation).toMatchObject({ type: 'repairCluster' });
    stop();
    await world.drive();
    expect(world.kube.peek(service)?.['spec']).toEqual(spec);
  });

  it('is put back by the next pass when it was edited at once again, which ends what was recorded', async () => {
    const world = await available();
    const spec = world.kube.peek(service)?.['spec'];
    const stop = await keepEditing(world);
    await world.look(FREE);
    stop();
    const { decision, repaired } = await world.look({
      ...FREE,
      ran: { operation: 'repairCluster', runId: 'former' },
    });
    expect(repaired).toBeDefined();
    expect(decision.kind).toBe('idle');
    expect(world.cluster.status.history?.[0]).not.toHaveProperty('runID');
    expect(world.kube.peek(service)?.['spec']).toEqual(spec);
    const { operation, lastOperation } = world.cluster.status;
    expect(operation).toBeUndefined();
    expect(lastOperation).toMatchObject({ type: 'repairCluster', outcome: 'Succeeded' });
  });
});

describe('a cluster of which everything shared was deleted', () => {
  it('has all of it again after one pass', async () => {
    const world = await available();
    const before = shared(world);
    await deleteShared(world, () => true);
    await world.look(FREE);
    expect(shared(world)).toEqual(before);
  });

  it('has all of it again when the pass was killed at any of its API calls', async () => {
    const whole = await available();
    const before = shared(whole);
    await deleteShared(whole, () => true);
    const begun = whole.calls;
    await whole.look(FREE);
    const calls = whole.calls - begun;
    expect(calls).toBeGreaterThan(10);
    for (let call = 1; call <= calls; call += 1) {
      for (const arrives of [false, true]) {
        const world = await available();
        await deleteShared(world, () => true);
        world.kill({ at: world.calls + call, arrives: () => arrives });
        await expect(world.look(FREE)).rejects.toBeInstanceOf(Killed);
        world.reboot();
        const { assessment } = await world.drive();
        expect(assessment.decision.kind).toBe('idle');
        expect(shared(world), `killed at call ${call} of ${calls}`).toEqual(before);
      }
    }
  });
});
