/** Pods that are being deleted on nodes that do not answer: said, not waited for in haste, and taken away only upon proof. */
import { describe, expect, it } from 'vitest';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const NODES = ['node-0', 'node-1', 'node-2'];

/** A cluster that is being deleted, of which no node ends a pod. */
async function dying(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  for (const name of NODES) register(world, name, 'Unknown');
  world.kubelet.asleep = true;
  await world.deleteCluster();
  await world.step();
  world.now += 120_000;
  return world;
}

function register(world: OperatorWorld, name: string, ready: string, spec: object = {}): void {
  const status = { conditions: [{ type: 'Ready', status: ready }] };
  world.kube.seed({ apiVersion: 'v1', kind: 'Node', metadata: { name }, spec, status } as WritableObject);
}

const nodeOf = (world: OperatorWorld, pod: string) =>
  ((world.kube.peek(world.pod(pod))?.['spec'] ?? {}) as { nodeName?: string }).nodeName ?? '';
const forced = (world: OperatorWorld) =>
  world.kube.calls.filter(
    ({ verb, kind, body }) =>
      verb === 'delete' &&
      kind === 'Pod' &&
      (body as { gracePeriodSeconds?: number }).gracePeriodSeconds === 0,
  );

describe('a deletion whose pods do not end', () => {
  it('is blocked, says what to do, and is not looked at in haste', async () => {
    const world = await dying();
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'PodTerminating', nextPassSeconds: 30 });
    const progressing = world.cluster.status.conditions?.find(({ type }) => type === 'Progressing');
    expect(progressing).toMatchObject({ reason: 'AwaitingApproval' });
    const node = nodeOf(world, 'example-0');
    expect(progressing?.message).toContain(`example-0 is on Node ${node}, which is not ready`);
    expect(progressing?.message).toContain(`kubectl delete node ${node}`);
    expect(forced(world)).toEqual([]);
  });

  it('continues when the Nodes are deleted', async () => {
    const world = await dying();
    for (const name of NODES) await world.kube.as('kubectl').delete({ apiVersion: 'v1', kind: 'Node', name });
    await world.run();
    expect(world.names('Pod')).toEqual([]);
    expect(world.kube.peek(world.resource)).toBeUndefined();
  });

  it('takes away only the pod whose Node is marked as out of service', async () => {
    const world = await dying();
    const node = nodeOf(world, 'example-1');
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
    register(world, node, 'Unknown', { taints });
    const others = ['example-0', 'example-1', 'example-2'].filter(pod => nodeOf(world, pod) !== node);
    const { decision } = await world.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
    expect(world.names('Pod')).toEqual(others);
  });

  it('continues when a person approves of these very pods', async () => {
    const world = await dying();
    const { decision } = await world.look();
    if (decision.kind !== 'blocked' || decision.consent === undefined) throw new Error('asks nobody');
    const approval = { id: 1, ...decision.consent, by: 'me', expiresAt: world.now + 600_000 };
    const workflowState: WorkflowState = { approvals: [approval] };
    await world.run(workflowState);
    expect(world.names('Pod')).toEqual([]);
    expect(world.kube.peek(world.resource)).toBeUndefined();
  });

  it('asks no one while a finalizer of another owner holds a pod', async () => {
    const world = await dying();
    world.kube.mutate(
      world.pod('example-0'),
      ({ metadata }) => void (metadata.finalizers = ['example.com/hold']),
    );
    const { decision } = await world.look();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'PodTerminating' });
    expect(decision).not.toHaveProperty('consent');
    expect(decision.kind === 'blocked' && decision.message).toContain(
      'example-0 has the finalizers example.com/hold',
    );
  });

  it('looks once more before a pod is taken away', async () => {
    const world = await dying();
    for (const name of NODES) await world.kube.as('kubectl').delete({ apiVersion: 'v1', kind: 'Node', name });
    const { decision } = await world.look();
    if (decision.kind !== 'operate') throw new Error('nothing is planned');
    for (const name of NODES) register(world, name, 'True');
    await expect(world.perform(decision.step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(forced(world)).toEqual([]);
  });
});

describe('a claim', () => {
  it('gets nothing that would not be planned any more', async () => {
    const world = new OperatorWorld();
    await world.run();
    await world.run();
    const { uid = '' } = world.kube.peek(world.claim('example-0'))?.metadata ?? {};
    const annotations = { 'etcd.database.coreos.com/cluster-id': 'beef' };
    const step = { kind: 'labelClaim', claim: 'example-0', uid, labels: {}, annotations } as const;
    await expect(world.perform(step)).rejects.toMatchObject({ type: 'PreconditionChanged' });
    expect(world.kube.peek(world.claim('example-0'))?.metadata.annotations).not.toMatchObject(annotations);
  });
});
