/** A pass: it writes what it saw, loses nothing that others wrote meanwhile, and says what kept it from succeeding. */
import { describe, expect, it } from 'vitest';
import { FINALIZER } from '../../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../../src/api/schemas/types.ts';
import { KubeError } from '../../../src/kube/errors.ts';
import { OperatorWorld } from '../../worlds/operator-world.ts';
import { fault } from '../../fakes/kubernetes/kube.ts';

async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  return world;
}

/** Runs before the next `times` writes of the status: somebody else is faster. */
function before(world: OperatorWorld, times: number, change: (attempt: number) => void): void {
  let attempt = 0;
  world.kube.intercept(call => {
    if (call.verb !== 'replace' || call.subresource !== 'status' || attempt >= times) return;
    attempt += 1;
    change(attempt);
  });
}

const setStatus = (world: OperatorWorld, fields: EtcdClusterStatus): void => {
  world.kube.mutate(world.resource, object => {
    object['status'] = { ...(object['status'] as object), ...fields };
  });
};

/** Somebody edits the specification. */
function edited(world: OperatorWorld, attempt: number): void {
  world.kube.mutate(world.resource, object => {
    object.metadata.generation = (object.metadata.generation ?? 0) + 1;
    object['spec'] = { ...(object['spec'] as object), pod: { labels: { attempt: String(attempt) } } };
  });
}

/** A living cluster of which the next pass has something to say in the status. */
async function restless(): Promise<OperatorWorld> {
  const world = await living();
  await world.kube.as('kubectl').patch(world.resource, { spec: { paused: true } }, { type: 'merge' });
  return world;
}

/** What the operator calls meanwhile: verb and kind, and how often. */
async function callsOf(world: OperatorWorld, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const { length } = world.kube.calls;
  await work();
  const made = world.kube.calls.slice(length).map(({ verb, kind }) => `${verb} ${kind}`);
  return Object.fromEntries(
    [...new Set(made)].map(call => [call, made.filter(each => each === call).length]),
  );
}

/** A look at a cluster of three that lives, and the status that it writes. */
const ONE_LOOK = {
  'get EtcdCluster': 1,
  'list EtcdBackup': 2,
  'list EtcdRestore': 1,
  'list EtcdRequest': 1,
  'list Pod': 1,
  'list PersistentVolumeClaim': 1,
  'get Service': 2,
  'get PodDisruptionBudget': 1,
  'replace EtcdCluster': 1,
};

describe('a pass', () => {
  it('writes the status once, and not again while nothing changed', async () => {
    const world = await living();
    const writes = () => world.kube.calls.filter(call => call.verb === 'replace').length;
    await world.look();
    const { length } = world.events;
    const written = writes();
    await world.look();
    await world.look();
    expect(writes()).toBe(written);
    expect(world.events).toHaveLength(length);
  });

  it('reports what it decided, for which generation, and what users are shown', async () => {
    const world = await living();
    await world.kube
      .as('kubectl')
      .patch(world.resource, { spec: { pod: { labels: { a: 'b' } } } }, { type: 'merge' });
    const { generation, summary } = await world.look({ paused: { by: 'me' } });
    expect(generation).toBe(2);
    expect(summary).toMatchObject({
      phase: 'Running',
      version: '3.6.16',
      size: 3,
      membersReady: 3,
      healthy: true,
      paused: true,
    });
    expect(summary?.members[0]).toEqual({
      name: 'example-0',
      id: world.etcd.clusters[0]?.rows[0]?.id,
      role: expect.stringMatching(/Leader|Follower/),
      health: 'Healthy',
      version: '3.6.16',
      node: 'node-1',
    });
  });

  it('of a resource that is gone, or is another one of its name, says so and writes nothing', async () => {
    const world = new OperatorWorld();
    await world.deleteCluster();
    const { length } = world.kube.calls;
    expect(await world.look()).toEqual({ decision: { kind: 'gone' }, generation: 0, summary: undefined });
    const writes = world.kube.calls.slice(length).filter(call => !['get', 'list'].includes(call.verb));
    expect(writes).toEqual([]);
  });

  it('starts again when the resource changed meanwhile, and carries what was recorded', async () => {
    const world = new OperatorWorld();
    const incarnation = {
      token: 'example-1-1',
      members: [{ name: 'example-0', peerURL: 'http://example-0:2380' }],
    };
    world.kube.mutate(world.resource, ({ metadata }) => void (metadata.finalizers = [FINALIZER]));
    before(world, 1, () => setStatus(world, { incarnation, lastSerial: 0, storage: { kind: 'EmptyDir' } }));
    const { decision } = await world.look();
    expect(decision).toMatchObject({
      kind: 'operate',
      step: { kind: 'bootstrapMembers', token: 'example-1-1' },
    });
    expect(world.cluster.status).toMatchObject({ incarnation, lastSerial: 0, storage: { kind: 'EmptyDir' } });
  });

  it('writes its status after all when the specification changed meanwhile, for two calls more', async () => {
    const world = await restless();
    before(world, 2, attempt => edited(world, attempt));
    const calls = await callsOf(world, () => world.look());
    expect(calls).toEqual({ ...ONE_LOOK, 'get EtcdCluster': 3, 'replace EtcdCluster': 3 });
    const { status, metadata } = world.cluster;
    // It says what the pass saw, of the specification that the pass saw.
    expect(status.conditions?.find(({ type }) => type === 'Paused')?.status).toBe('True');
    expect([status.observedGeneration, metadata.generation]).toEqual([2, 4]);
  });

  it('keeps what another party recorded in the status meanwhile: it looks again, once', async () => {
    const world = await restless();
    before(world, 1, () => setStatus(world, { lastSerial: 7 }));
    const calls = await callsOf(world, () => world.look());
    expect(calls).toMatchObject({ 'list Pod': 2, 'get EtcdCluster': 3, 'replace EtcdCluster': 2 });
    expect(world.cluster.status.lastSerial).toBe(7);
  });

  it.each([
    { what: 'the resource', change: edited },
    {
      what: 'the status',
      change: (world: OperatorWorld, lastSerial: number) => setStatus(world, { lastSerial }),
    },
  ])(
    'ends without failing when $what changes at each write: it does nothing and looks again soon',
    async ({ change }) => {
      const world = await restless();
      const status = JSON.stringify(world.cluster.status.conditions);
      before(world, 99, attempt => change(world, attempt));
      const calls = await callsOf(world, async () => {
        const { decision, summary } = await world.look();
        expect(decision).toMatchObject({
          kind: 'blocked',
          reason: 'ChangedConcurrently',
          nextPassSeconds: 1,
        });
        expect(summary).toMatchObject({ phase: 'Running', size: 3 });
      });
      expect(JSON.stringify(world.cluster.status.conditions)).toBe(status);
      expect(calls['list Pod']).toBe(2);
      expect(Object.values(calls).reduce((sum, count) => sum + count)).toBeLessThanOrEqual(31);
    },
  );

  it('that cannot write the status hands a run that begins anew what was open before', async () => {
    const world = await restless();
    const pause = { by: 'ana', at: '2026-01-01T00:00:00Z' };
    setStatus(world, { signals: { uid: world.ref.uid, pause } });
    before(world, 99, attempt => edited(world, attempt));
    const { decision, takenOver } = await world.look({
      takesOver: { pause: true, abort: true, requests: true },
    });
    expect(decision).toMatchObject({ reason: 'ChangedConcurrently' });
    expect(takenOver).toEqual({ paused: { by: 'ana', at: Date.parse(pause.at) } });
  });

  it('of a resource that goes away while its status is written says that it is gone', async () => {
    const world = await restless();
    before(world, 99, attempt => {
      edited(world, attempt);
      if (attempt === 3) world.kube.mutate(world.resource, ({ metadata }) => void (metadata.uid = 'another'));
    });
    expect((await world.look()).decision).toEqual({ kind: 'gone' });
  });

  it('leaves the conditions of the watcher alone, and is not set off by them', async () => {
    const world = await living();
    const theirs = {
      type: 'TemporalUnavailable',
      status: 'True',
      reason: 'Unreachable',
      message: 'no answer',
      lastTransitionTime: '2026-11-21T10:00:00Z',
    } as const;
    const { namespace = '', name } = world.resource;
    const { apiVersion, kind } = world.resource;
    await world.kube
      .as('etcd-operator-watcher')
      .apply(
        { apiVersion, kind, metadata: { namespace, name }, status: { conditions: [theirs] } },
        { subresource: 'status' },
      );
    const { resourceVersion } = world.cluster.metadata;
    await world.look();
    expect(world.cluster.metadata.resourceVersion).toBe(resourceVersion);
    await world.look({ paused: {} });
    const types = world.cluster.status.conditions?.map(condition => condition.type);
    expect(types).toEqual(expect.arrayContaining(['TemporalUnavailable', 'Paused', 'Available']));
  });

  it('takes away what it no longer says, also from a status that another manager co-owns', async () => {
    const world = await living();
    const edit = (size: number) =>
      world.kube.as('kubectl').patch(world.resource, { spec: { size } }, { type: 'merge' });
    await edit(5);
    await world.look();
    const { namespace = '', name, apiVersion, kind } = world.resource;
    const { status } = world.cluster;
    expect(status.operation?.type).toBe('scaleCluster');
    await world.kube
      .as('old-client')
      .apply({ apiVersion, kind, metadata: { namespace, name }, status }, { subresource: 'status' });
    await world.run();
    expect(world.cluster.status.operation).toBeUndefined();
    await edit(3);
    await world.run();
    const { members, operation } = world.cluster.status;
    expect(members?.details?.map(member => member.name)).toEqual(['example-0', 'example-1', 'example-2']);
    expect(operation).toBeUndefined();
  });

  it('writes one line for each step that is decided on, also when it is looked at again', async () => {
    const lines: unknown[] = [];
    const world = new OperatorWorld();
    world.deps.logger.info = (message, fields) => {
      if (message === 'step decided') lines.push(fields);
    };
    await world.look();
    await world.look();
    expect(lines).toEqual([
      {
        namespace: 'shop',
        name: 'example',
        operation: 'createCluster',
        step: expect.stringMatching(/^record incarnation/) as string,
        left: expect.any(Number) as number,
      },
    ]);
  });

  it('records an event for what is news, once', async () => {
    const world = await living();
    expect(world.events.map(event => event.reason)).toEqual([
      'OperationStarted',
      'MembersCreated',
      'ClusterFormed',
      'Available',
      'OperationSucceeded',
    ]);
  });

  it('records that a Service of a living cluster was created again', async () => {
    const world = await living();
    world.kube.finishDeletion({
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'shop',
      name: 'example-client',
    });
    await world.run();
    const created = world.events.filter(({ reason }) => reason === 'ObjectCreated');
    expect(created.map(({ message }) => message)).toEqual(['created Service example-client']);
  });

  it.each([
    ['rights are missing', fault(403, 'Forbidden', 'storageclasses is forbidden'), 'Forbidden'],
    ['the API server is away', fault(0, 'NetworkError', 'ECONNREFUSED'), 'NetworkError'],
    ['the kind is unknown', fault(404, 'NotFound', 'no such path'), 'NotFound'],
  ])('that fails because %s is always to be tried again', async (_, error, type) => {
    const world = new OperatorWorld();
    world.kube.intercept(call => {
      if (call.verb === 'list') throw error;
    });
    await expect(world.look()).rejects.toMatchObject({ type, nonRetryable: false, message: error.message });
  });
});

describe('the failure of a step', () => {
  async function failing(error: Error): Promise<unknown> {
    const world = new OperatorWorld({
      spec: {
        size: 1,
        version: '3.6.16',
        pod: { etcdEnv: [{ name: 'CANARY', value: 'canary-7f3a9c' }] },
      },
    });
    await world.step();
    world.kube.intercept(call => {
      if (call.verb === 'create') throw error;
    });
    const { decision } = await world.look();
    if (decision.kind !== 'operate') throw new Error('nothing is planned');
    return world.perform(decision.step).catch((failure: unknown) => failure);
  }
  /** As the real client makes it: a refusal may end when rights are given, so its reader may try again later. */
  const forbidden = new KubeError({
    code: 403,
    reason: 'Forbidden',
    message: 'pods is forbidden',
    retry: 'later',
  });

  it.each([
    ['rights', forbidden, 'Forbidden', true],
    ['schema', fault(422, 'Invalid'), 'Invalid', true],
    ['a bad request', fault(400, 'BadRequest'), 'BadRequest', true],
    ['a lost race', fault(409, 'Conflict'), 'PreconditionChanged', true],
    ['an object that went away', fault(404, 'NotFound'), 'PreconditionChanged', true],
    ['an overloaded server', fault(503, 'ServiceUnavailable'), 'ServiceUnavailable', false],
    ['a server that is away', fault(0, 'NetworkError'), 'NetworkError', false],
    ['an admission that times out', fault(500, 'InternalError'), 'InternalError', false],
  ])('by %s has its type and its intent to be tried again', async (_, error, type, nonRetryable) => {
    expect(await failing(error)).toMatchObject({
      name: 'ApplicationFailure',
      type,
      nonRetryable,
      message: error.message,
    });
  });

  it('by an error of ours is tried again as it is', async () => {
    const error = new RangeError('a bug');
    expect(await failing(error)).toBe(error);
  });

  it('holds nothing of what was being written', async () => {
    const failure = (await failing(forbidden)) as Error & { details?: unknown };
    const said = JSON.stringify([failure.message, failure.stack, failure.details, failure.cause ?? null]);
    expect(said).not.toContain('canary-7f3a9c');
  });
});
