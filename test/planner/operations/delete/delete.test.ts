import { describe, expect, it } from 'vitest';
import { planDeletion } from '../../../../src/planner/operations/delete/index.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aRunningCluster,
  aRunningStatus,
  namesOf,
} from '../../../worlds/builders.ts';

const dying = (spec = {}) => aCluster({ spec, status: aRunningStatus(), deleting: true });

describe('deletion', () => {
  it('is not planned for a resource that is not being deleted', () => {
    expect(planDeletion(aRunningCluster())).toBeUndefined();
  });

  it('is over when our finalizer is off, also while that of somebody else holds the resource', () => {
    const cluster = aCluster({ deleting: true, hasFinalizer: false });
    expect(planDeletion(aRunningCluster({ cluster }))).toEqual({ kind: 'gone' });
  });

  it('takes pods, then claims, then lets the resource go', () => {
    expect(planDeletion(aRunningCluster({ cluster: dying() }))).toEqual({
      kind: 'operate',
      operation: 'deleteCluster',
      step: { kind: 'deletePods', pods: namesOf(3).map(name => ({ name, uid: `pod-${name}` })) },
      timing: { startToCloseSeconds: 20, scheduleToCloseSeconds: 60, heartbeatSeconds: 9 },
      plan: [
        {
          kind: 'deletePods',
          summary: 'delete pods example-0, example-1, example-2 and wait until they are gone',
        },
        { kind: 'releaseClaims', summary: 'delete claims example-0, example-1, example-2' },
        { kind: 'removeFinalizer', summary: 'remove the finalizer' },
      ],
    });
  });

  it('waits for pods that are already being deleted', () => {
    const pods = [aPod({ deleting: true })];
    expect(planDeletion(aRunningCluster({ cluster: dying(), pods }))).toMatchObject({
      step: { kind: 'deletePods', pods: [{ name: 'example-0', uid: 'pod-example-0' }] },
    });
  });

  it('takes the claims when the pods are gone, except those that are already being deleted', () => {
    const claims = [aClaim(), aClaim({ name: 'example-1', deleting: true })];
    expect(planDeletion(aRunningCluster({ cluster: dying(), pods: [], claims }))).toMatchObject({
      step: { kind: 'releaseClaims', claims: [{ name: 'example-0', uid: 'claim-example-0' }] },
    });
  });

  it('leaves the claims when storage.retain says Retain', () => {
    const cluster = dying({ storage: { retain: 'Retain' } });
    expect(planDeletion(aRunningCluster({ cluster, pods: [] }))).toMatchObject({
      step: { kind: 'removeFinalizer' },
      plan: [{ kind: 'removeFinalizer' }],
    });
  });

  it('touches no pod and no claim of others', () => {
    const observation = aRunningCluster({
      cluster: dying(),
      pods: [aPod({ owned: false })],
      claims: [aClaim({ owned: false })],
    });
    expect(planDeletion(observation)).toMatchObject({ plan: [{ kind: 'removeFinalizer' }] });
  });
});
