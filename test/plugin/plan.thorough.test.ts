/** The plan of the plugin is the plan of the operator: both are made for the same cluster in memory, the plugin's without asking etcd. */
import { describe, expect, test } from 'vitest';
import type { EtcdCluster, EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { KubeError } from '../../src/kube/errors.ts';
import type { Decision } from '../../src/planner/model/decision.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { ReadOnlyKube } from '../../src/plugin/plan/looking-kube.ts';
import { recordedRequests } from '../../src/plugin/plan/recorded-requests.ts';
import { plannedFor } from '../../src/plugin/plan/planned.ts';
import { created, edit } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';

const stored = (world: OperatorWorld): KubeObject => world.kube.peek(world.resource) as KubeObject;

/** What the plugin plans for this world with other fields in the specification. */
async function planned(
  world: OperatorWorld,
  spec: EtcdClusterSpec,
  workflowState: WorkflowState = {},
): Promise<Decision> {
  const object = stored(world);
  const metadata = { ...object.metadata, generation: (object.metadata.generation ?? 1) + 1 };
  const proposed = { ...object, metadata, spec: { ...(object['spec'] as object), ...spec } };
  const planning = { kube: new ReadOnlyKube(world.kube), workflowState, now: world.now };
  return (await plannedFor(proposed, planning)).decision;
}

/** What users read of a decision. */
function read(decision: Decision): object {
  const { kind } = decision;
  const steps = 'plan' in decision ? decision.plan : [];
  return decision.kind === 'blocked'
    ? { kind, reason: decision.reason, message: decision.message, steps }
    : { kind, steps };
}

async function quiet(spec: EtcdClusterSpec = {}): Promise<OperatorWorld> {
  const world = await created(spec);
  // The leader is not a new one any more, and the last status says so.
  world.now += 60_000;
  await world.look();
  return world;
}

describe('the plugin and the operator plan the same', () => {
  test.each<[string, EtcdClusterSpec]>([
    ['nothing', {}],
    ['more members', { size: 5 }],
    ['fewer members', { size: 1 }],
    ['an upgrade', { version: '3.7.0' }],
    ['a refused version', { version: '3.5.35' }],
    ['another setting of etcd', { etcd: { snapshotCount: 5_000 } }],
    ['other resources', { pod: { resources: { requests: { cpu: '100m' } } } }],
    ['hibernation', { hibernated: true }],
    ['a pause', { paused: true, size: 5 }],
    ['TLS on a living cluster in plain text', { TLS: { auto: {} } }],
    ['labels of the Service', { service: { labels: { team: 'a' } } }],
  ])('%s', async (_, spec) => {
    const world = await quiet();
    const before = JSON.stringify(stored(world));
    const mine = await planned(world, spec);
    expect(JSON.stringify(stored(world))).toBe(before);
    await edit(world, spec);
    const { decision } = await world.look();
    expect(read(mine)).toEqual(read(decision));
  });

  test('a supervised upgrade, which waits for an approval', async () => {
    const world = await quiet({ upgrade: { strategy: 'Supervised' }, version: '3.5.35' });
    const mine = await planned(world, { version: '3.6.16' });
    expect(mine).toMatchObject({ kind: 'blocked', consent: { operation: 'upgradeCluster' } });
    await edit(world, { version: '3.6.16' });
    expect(read(mine)).toEqual(read((await world.look()).decision));
  });

  test('a pod that is gone is started again first', async () => {
    const world = await quiet();
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.advance();
    await world.look();
    const mine = await planned(world, { size: 5 });
    await edit(world, { size: 5 });
    expect(read(mine)).toEqual(read((await world.look()).decision));
    expect(mine).toMatchObject({ operation: 'repairCluster' });
  });
});

describe('what the status records of user requests', () => {
  test('an abort holds for the applied specification, and not for another one', async () => {
    const world = await quiet();
    await edit(world, { size: 5 });
    const { generation = 1 } = stored(world).metadata;
    const aborted = { operation: 'scaleCluster', generation, by: 'ana', reason: 'not now' };
    await world.look({ aborted });
    const workflowState = recordedRequests(stored(world) as unknown as EtcdCluster);
    expect(workflowState).toMatchObject({ aborted: { operation: 'scaleCluster', generation } });
    const kube = new ReadOnlyKube(world.kube);
    const { decision: now } = await plannedFor(stored(world), { kube, workflowState, now: world.now });
    expect(now).toMatchObject({ reason: 'Aborted', message: expect.stringContaining('ana (not now)') });
    expect(await planned(world, { size: 4 }, workflowState)).toMatchObject({ kind: 'operate' });
  });

  test('a pause holds', async () => {
    const world = await quiet();
    await world.look({ paused: { by: 'ana', reason: 'the fair' } });
    const workflowState = recordedRequests(stored(world) as unknown as EtcdCluster);
    const mine = await planned(world, { size: 5 }, workflowState);
    expect(mine).toMatchObject({
      reason: 'Paused',
      message: expect.stringMatching(/^paused by ana \(the fair\);/),
    });
  });
});

describe('what is not known is not made up', () => {
  test('members of which the status does not say that they are healthy do not answer', async () => {
    const world = await quiet();
    const { status, ...object } = stored(world) as KubeObject & { status: EtcdCluster['status'] & object };
    const details = (status.members?.details ?? []).map(detail => ({ ...detail, health: 'Unknown' }));
    const unknown = { ...object, status: { ...status, members: { ...status.members, details } } };
    const kube = new ReadOnlyKube(world.kube);
    const { decision: mine } = await plannedFor(unknown, { kube, workflowState: {}, now: world.now });
    expect(mine.kind).not.toBe('operate');
  });

  test('a right that lacks is thrown where the plan depends on it, and remembered where it does not', async () => {
    const world = await quiet();
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.advance();
    await world.look();
    world.kube.mutate(world.claim('example-1'), claim => {
      claim['spec'] = { ...(claim['spec'] as object), volumeName: 'pv-1' };
    });
    const forbidden = (kind: string) =>
      new KubeError({ code: 403, reason: 'Forbidden', message: `no ${kind}`, retry: 'never' });
    const without = (...kinds: readonly string[]) => {
      const refused = <T>(kind: string, call: () => Promise<T>): Promise<T> =>
        kinds.includes(kind) ? Promise.reject(forbidden(kind)) : call();
      const { kube } = world;
      return new ReadOnlyKube({
        get: ref => refused(ref.kind, () => kube.get(ref)),
        list: (kind, options) => refused(kind.kind, () => kube.list(kind, options)),
      } as typeof world.kube);
    };
    const hidden = without('Node', 'PersistentVolume');
    await plannedFor(stored(world), { kube: hidden, workflowState: {}, now: world.now });
    expect([...hidden.hidden].join()).toContain('persistentvolumes');
    const blind = without('Pod');
    await expect(
      plannedFor(stored(world), { kube: blind, workflowState: {}, now: world.now }),
    ).rejects.toThrow('no Pod');
  });
});
