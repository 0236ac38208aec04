/** Each step on a world in memory: performed twice it gives the same world, also when it was killed half-way. */
import type { Step } from '../../src/planner/model/decision.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { describeSteps, type PlannedWorld } from '../worlds/performed-again.ts';

const SPEC = { size: 3, version: '3.6.16' };

async function until(kind: Step['kind'], world: OperatorWorld): Promise<PlannedWorld> {
  return { world, step: await world.runUntil(kind) };
}

async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld({ spec: SPEC });
  await world.run();
  await world.run();
  return world;
}

async function dying(): Promise<OperatorWorld> {
  const world = await living();
  await world.deleteCluster();
  return world;
}

const SCENARIOS: Readonly<Record<string, () => Promise<PlannedWorld>>> = {
  recordIncarnation: async () => until('recordIncarnation', new OperatorWorld({ spec: SPEC })),
  'recordIncarnation of a lost status': async () => {
    const world = await living();
    world.kube.mutate(world.resource, object => void delete object['status']);
    return until('recordIncarnation', world);
  },
  'recordIncarnation of what only a quorum tells': async () => {
    const { world } = await until('recordClusterId', new OperatorWorld({ spec: SPEC }));
    world.kube.mutate(world.resource, object => void delete object['status']);
    return until('recordIncarnation', world);
  },
  'recordIncarnation of a member whose claim was stamped again': async () => {
    const world = await living();
    const kubectl = world.kube.as('kubectl');
    for (const { name } of [0, 1, 2].map(serial => world.pod(`example-${serial}`)))
      await kubectl.delete(world.pod(name));
    const claim = { ...world.pod('example-1'), kind: 'PersistentVolumeClaim' };
    const { annotations = {} } = world.kube.peek(claim)?.metadata ?? {};
    world.kube.mutate(claim, object => void (object.metadata.annotations = {}));
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.perform((await until('recordIncarnation', world)).step);
    world.kube.mutate(claim, object => void (object.metadata.annotations = annotations));
    return until('recordIncarnation', world);
  },
  bootstrapMembers: async () => until('bootstrapMembers', new OperatorWorld({ spec: SPEC })),
  recordClusterId: async () => until('recordClusterId', new OperatorWorld({ spec: SPEC })),
  'ensureObjects of the client Service': async () =>
    until('ensureObjects', new OperatorWorld({ spec: SPEC })),
  'ensureObjects of everything': async () => {
    const world = await living();
    const kubectl = world.kube.as('kubectl');
    for (const { apiVersion, kind, metadata } of [
      ...world.kube.all('Service'),
      ...world.kube.all('PodDisruptionBudget'),
    ]) {
      await kubectl.delete({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name });
    }
    const objects = ['peerService', 'clientService', 'disruptionBudget'] as const;
    return { world, step: { kind: 'ensureObjects', objects } };
  },
  restartMember: async () => {
    const world = await living();
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    return until('restartMember', world);
  },
  deletePods: async () => until('deletePods', await dying()),
  releaseClaims: async () => until('releaseClaims', await dying()),
  leaveObjects: async () => {
    const world = await living();
    await world.kube.as('kubectl').delete(world.resource, { propagation: 'Orphan' });
    return until('leaveObjects', world);
  },
  removeFinalizer: async () => until('removeFinalizer', await dying()),
};

describeSteps(SCENARIOS);
