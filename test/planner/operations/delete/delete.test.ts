import { describe, expect, it } from 'vitest';
import { situationOf } from '../../../../src/planner/situation.ts';
import type { Decision, Step } from '../../../../src/planner/model/decision.ts';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { planDeletion } from '../../../../src/planner/operations/delete/index.ts';
import {
  aClaim,
  aCluster,
  aPod,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  namesOf,
  TOKEN,
} from '../../../worlds/builders.ts';

const dying = (spec = {}) => aCluster({ spec, status: aRunningStatus(), deleting: true });

describe('deletion', () => {
  it('is not planned for a resource that is not being deleted', () => {
    expect(planDeletion(situationOf(aRunningCluster()))).toBeUndefined();
  });

  it('is over when our finalizer is off, also while that of another owner holds the resource', () => {
    const cluster = aCluster({ deleting: true, hasFinalizer: false });
    expect(planDeletion(situationOf(aRunningCluster({ cluster })))).toEqual({ kind: 'gone' });
  });

  it('takes pods, then claims, then lets the resource go', () => {
    expect(planDeletion(situationOf(aRunningCluster({ cluster: dying() })))).toEqual({
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
    expect(planDeletion(situationOf(aRunningCluster({ cluster: dying(), pods })))).toMatchObject({
      step: { kind: 'deletePods', pods: [{ name: 'example-0', uid: 'pod-example-0' }] },
    });
  });

  it('takes the claims when the pods are gone, except those that are already being deleted', () => {
    const claims = [aClaim(), aClaim({ name: 'example-1', deleting: true })];
    expect(planDeletion(situationOf(aRunningCluster({ cluster: dying(), pods: [], claims })))).toMatchObject({
      step: { kind: 'releaseClaims', claims: [{ name: 'example-0', uid: 'claim-example-0' }] },
    });
  });

  it('leaves the claims when storage.retain says Retain, and has them say whose they were', () => {
    const cluster = dying({ storage: { retain: 'Retain' } });
    const left = aRunningCluster({ cluster, pods: [] });
    const first = planDeletion(situationOf(left));
    expect(first).toMatchObject({
      step: { kind: 'leaveObjects', claims: namesOf(3).map(name => ({ name })), pods: [], objects: [] },
      plan: [{ kind: 'leaveObjects' }, { kind: 'removeFinalizer' }],
    });
    const { note: leftBy } = stepOf(first, 'leaveObjects');
    expect(JSON.parse(leftBy ?? '')).toEqual({
      uid: cluster.uid,
      incarnation: TOKEN,
      clusterID: CLUSTER_ID,
      voters: namesOf(3),
      security: 'plain text',
      domain: '',
      takeUp: `create EtcdCluster shop/example with the annotation etcd.database.coreos.com/take-up: ${TOKEN}`,
    });
    const claims = left.claims.map(claim => ({ ...claim, leftBy }));
    expect(planDeletion(situationOf({ ...left, claims }))).toMatchObject({
      plan: [{ kind: 'removeFinalizer' }],
    });
  });

  it('touches no pod and no claim of others', () => {
    const observation = aRunningCluster({
      cluster: dying(),
      pods: [aPod({ owned: false })],
      claims: [aClaim({ owned: false })],
    });
    expect(planDeletion(situationOf(observation))).toMatchObject({ plan: [{ kind: 'removeFinalizer' }] });
  });
});

describe('deletion with --cascade=orphan', () => {
  const orphaning = (given: Partial<Observation> = {}): Observation => {
    const cluster = { ...dying(), orphaning: true as const };
    return aRunningCluster({ cluster, ...given });
  };
  const leaves = { plan: [{ kind: 'leaveObjects' }, { kind: 'removeFinalizer' }] };

  it('stops no pod and deletes no claim: everything is let go', () => {
    expect(planDeletion(situationOf(orphaning()))).toMatchObject({
      ...leaves,
      step: {
        pods: namesOf(3).map(name => ({ name })),
        claims: namesOf(3).map(name => ({ name })),
        objects: ['peerService', 'clientService', 'disruptionBudget'],
      },
    });
  });

  it('is known by what has lost its owner when Kubernetes has finished before the operator looks', () => {
    const unowned = { exists: true, owned: false, unowned: true as const };
    const cluster = dying();
    const shared = { peerService: unowned, clientService: unowned, disruptionBudget: unowned };
    const pods = namesOf(3).map(name => aPod({ name, owned: false, unowned: true }));
    expect(planDeletion(situationOf(aRunningCluster({ cluster, ...shared, pods })))).toMatchObject(leaves);
    expect(planDeletion(situationOf(aRunningCluster({ cluster, pods })))).toMatchObject(leaves);
    // One that is hibernated has no pods.
    expect(planDeletion(situationOf(aRunningCluster({ cluster, ...shared, pods: [] })))).toMatchObject({
      ...leaves,
      step: { pods: [], claims: namesOf(3).map(name => ({ name })) },
    });
  });

  it('lets the resource go when all that is left says whose it was', () => {
    const first = planDeletion(situationOf(orphaning()));
    const { note: leftBy } = stepOf(first, 'leaveObjects');
    const gone = { exists: true, owned: false, unowned: true as const };
    const pods = namesOf(3).map(name => aPod({ name, owned: false, unowned: true, leftBy }));
    const claims = namesOf(3).map(name => aClaim({ name, leftBy }));
    const observation = orphaning({
      pods,
      claims,
      peerService: gone,
      clientService: gone,
      disruptionBudget: gone,
    });
    expect(planDeletion(situationOf(observation))).toMatchObject({ plan: [{ kind: 'removeFinalizer' }] });
    const [, ...others] = pods;
    expect(planDeletion(situationOf({ ...observation, pods: [aPod(), ...others] }))).toMatchObject(leaves);
  });

  it('also holds for a deletion that had begun to stop pods', () => {
    const pods = [aPod({ deleting: true }), aPod({ name: 'example-1' })];
    expect(planDeletion(situationOf(orphaning({ pods })))).toMatchObject(leaves);
  });

  it('is not taken from a pod of another incarnation or a Service of another owner', () => {
    const pods = [
      aPod(),
      aPod({ name: 'example-7', owned: false, unowned: true, token: 'example-12345678-1' }),
    ];
    const observation = aRunningCluster({
      cluster: dying(),
      pods,
      peerService: { exists: true, owned: false },
    });
    expect(planDeletion(situationOf(observation))).toMatchObject({ step: { kind: 'deletePods' } });
  });
});

function stepOf<Kind extends Step['kind']>(
  decision: Decision | undefined,
  kind: Kind,
): Extract<Step, { kind: Kind }> {
  if (decision?.kind !== 'operate' || decision.step.kind !== kind) throw new Error(`no step ${kind}`);
  return decision.step as Extract<Step, { kind: Kind }>;
}
