/** Steps that are performed twice, or killed at one of their calls and performed again: the world must be the same. */
import { ApplicationFailure } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { ANNOTATION_CLAIM_UID } from '../../src/api/names.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import type { Step } from '../../src/planner/model/decision.ts';
import type { OperatorWorld } from './operator-world.ts';
import { Killed } from './workflow-run.ts';

/** A world that has come to the point at which this step is planned. */
export interface PlannedWorld {
  readonly world: OperatorWorld;
  readonly step: Step;
}

/** What there is, without what time and the order of creation decide. */
function snapshot(world: OperatorWorld): unknown[] {
  world.kubelet.settle();
  const kinds = ['EtcdCluster', 'Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget'];
  const all = kinds.flatMap(kind => world.kube.all(kind)).map(lasting);
  return JSON.parse(JSON.stringify(all).replaceAll(TIMES, 'a time')) as unknown[];
}

const TIMES = /2026-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g;

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

/** Each of these is performed twice, and killed at each of its calls. */
export function describeSteps(scenarios: Readonly<Record<string, () => Promise<PlannedWorld>>>): void {
  describe.each(Object.entries(scenarios))('%s', (_, scenario) => {
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
}
