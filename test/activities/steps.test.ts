/** Each step on a world in memory: performed twice it gives the same world, also when it was killed half-way. */
import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CLAIM_UID } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Step } from '../../src/planner/model/decision.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { Killed } from '../worlds/workflow-run.ts';

const SPEC = { size: 3, version: '3.6.16' };

/** A world that has come to the point at which this step is planned. */
interface Scenario {
  readonly world: OperatorWorld;
  readonly step: Step;
}

async function until(kind: Step['kind'], world: OperatorWorld): Promise<Scenario> {
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

const SCENARIOS: Readonly<Record<string, () => Promise<Scenario>>> = {
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

/** What there is, without what time and the order of creation decide. */
function snapshot(world: OperatorWorld): unknown[] {
  world.kubelet.settle();
  const kinds = ['EtcdCluster', 'Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];
  return kinds.flatMap(kind => world.kube.all(kind)).map(lasting);
}

function lasting(object: KubeObject): unknown {
  const { name, annotations, labels, finalizers, ownerReferences, deletionTimestamp, uid } = object.metadata;
  const kept = {
    name,
    annotations: noted(annotations, uid),
    labels,
    finalizers,
    ownerReferences,
    deleting: deletionTimestamp !== undefined,
  };
  if (object.kind !== 'Pod') return { ...object, metadata: kept };
  const { nodeName: _, ...spec } = object['spec'] as { nodeName?: string };
  return { kind: 'Pod', metadata: kept, spec };
}

/** Uids differ from world to world; that a claim notes its own does not. */
function noted(annotations: KubeObject['metadata']['annotations'], uid: string | undefined) {
  if (annotations === undefined) return undefined;
  const { [ANNOTATION_CLAIM_UID]: note, ...others } = annotations;
  return note === undefined ? others : { ...others, [ANNOTATION_CLAIM_UID]: note === uid ? 'its own' : note };
}

/** It may find that the world has moved on, by its own doing; any other failure fails the test. */
async function performAgain(world: OperatorWorld, step: Step): Promise<void> {
  try {
    await world.perform(step);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || error.type !== 'PreconditionChanged') throw error;
  }
}

describe.each(Object.entries(SCENARIOS))('%s', (_, scenario) => {
  it('performed twice gives the same world as performed once', async () => {
    const { world, step } = await scenario();
    await world.perform(step);
    const once = snapshot(world);
    await performAgain(world, step);
    expect(snapshot(world)).toEqual(once);
  });

  it('killed at any of its API calls and tried again gives the same world', {
    timeout: 120_000,
  }, async () => {
    const whole = await scenario();
    const before = whole.world.calls;
    await whole.world.perform(whole.step);
    const calls = whole.world.calls - before;
    const expected = snapshot(whole.world);
    for (let call = 1; call <= calls; call += 1) {
      for (const arrives of [false, true]) {
        const { world, step } = await scenario();
        world.kill({ at: world.calls + call, arrives: () => arrives });
        await expect(world.perform(step)).rejects.toBeInstanceOf(Killed);
        world.reboot();
        await performAgain(world, step);
        expect(snapshot(world), `killed at call ${call} of ${calls}, which arrives: ${arrives}`).toEqual(
          expected,
        );
      }
    }
  });
});
