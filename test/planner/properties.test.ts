/** What holds for every observation, however odd: generated, shrunk to the smallest counter-example, seed printed. */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serialOf } from '../../src/api/names.ts';
import type { EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import type { Decision, PlannedStep } from '../../src/planner/model/decision.ts';
import type { Observation } from '../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../src/planner/model/workflow-state.ts';
import { plan } from '../../src/planner/plan.ts';
import { observedMembers } from '../../src/planner/report/members.ts';
import { statusOf } from '../../src/planner/report/status.ts';
import {
  ABSENT,
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  anObservation,
  aPod,
  aProbe,
  CLUSTER_ID,
  FOREIGN,
  NOW,
  OURS,
  TOKEN,
  UNKNOWN_MEMBERSHIP,
} from '../worlds/builders.ts';
import { situationOf } from '../../src/planner/situation.ts';

const names = fc.constantFrom('example-0', 'example-1', 'example-2', 'example-3', 'example-10', 'other-0');
const tokens = fc.constantFrom(TOKEN, TOKEN, 'example-0b7e6e34-2', 'another-cluster-1', undefined);
const ids = fc.constantFrom(CLUSTER_ID, CLUSTER_ID, 'beef', undefined);
const objects = fc.oneof(
  { weight: 3, arbitrary: fc.constant(ABSENT) },
  { weight: 6, arbitrary: fc.constant(OURS) },
  { weight: 1, arbitrary: fc.constant(FOREIGN) },
);
const troubles = fc.constantFrom(undefined, undefined, {
  reason: 'CrashLoopBackOff',
  message:
    'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs',
});

const pods = fc.uniqueArray(
  fc
    .record({
      name: names,
      owned: fc.boolean(),
      token: tokens,
      clusterId: ids,
      phase: fc.constantFrom('Running', 'Pending', 'Failed'),
      ready: fc.boolean(),
      deleting: fc.boolean(),
      trouble: troubles,
      firstStart: fc.constantFrom('sealed', 'open', 'fixed'),
    })
    .map(aPod),
  { selector: pod => pod.name, maxLength: 4 },
);
const claims = fc.uniqueArray(
  fc
    .record({
      name: names,
      owned: fc.boolean(),
      token: tokens,
      clusterId: ids,
      phase: fc.constantFrom('Bound', 'Pending', 'Lost'),
      deleting: fc.boolean(),
    })
    .map(aClaim),
  { selector: claim => claim.name, maxLength: 4 },
);
const probes = fc.dictionary(
  names,
  fc.oneof(
    fc.constant({ answered: false as const, message: 'timeout' }),
    fc
      .record({
        clusterId: fc.constantFrom(CLUSTER_ID, CLUSTER_ID, CLUSTER_ID, 'beef'),
        isLearner: fc.boolean(),
      })
      .map(aProbe),
  ),
);
const memberships = fc.oneof(
  fc.constant(UNKNOWN_MEMBERSHIP),
  fc
    .tuple(fc.uniqueArray(names, { minLength: 1, maxLength: 4 }), fc.subarray(['example-1', 'example-2']))
    .map(([members, unstarted]) => aMembership(members, unstarted)),
);
const statuses: fc.Arbitrary<EtcdClusterStatus> = fc
  .record(
    {
      phase: fc.constantFrom('Creating', 'Running', 'Failed'),
      incarnation: fc.integer({ min: 1, max: 5 }).map(anIncarnation),
      clusterID: fc.constant(CLUSTER_ID),
      storage: fc.constantFrom(
        { kind: 'PersistentVolumeClaim' as const },
        { kind: 'EmptyDir' as const, decidedBy: 'Spec' as const },
      ),
      lastSerial: fc.integer({ min: 0, max: 20 }),
      currentVersion: fc.constantFrom('3.6.16', '3.5.35'),
      operation: fc.record({
        type: fc.constantFrom('createCluster', 'repairCluster'),
        startedAt: fc.constant(NOW),
      }),
    },
    { requiredKeys: [] },
  )
  .map(status => status as EtcdClusterStatus);
const usually = <T>(value: T, otherwise: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: otherwise });
const clusters = fc
  .record({
    spec: fc.record({
      size: usually(3, fc.integer({ min: 1, max: 9 })),
      paused: usually(false, fc.boolean()),
      version: usually('3.6.16', fc.constant('latest')),
    }),
    status: statuses,
    deleting: usually(false, fc.boolean()),
    hasFinalizer: fc.boolean(),
    generation: fc.integer({ min: 1, max: 2 }),
  })
  .map(aCluster);
const observations: fc.Arbitrary<Observation> = fc
  .record({
    cluster: clusters,
    pods,
    claims,
    peerService: objects,
    clientService: objects,
    disruptionBudget: objects,
    defaultStorageClass: fc.constantFrom('standard', undefined),
    namesSeen: fc.array(names),
    probes,
    membership: memberships,
  })
  .map(anObservation);
const workflowStates: fc.Arbitrary<WorkflowState> = usually(
  {},
  fc.record(
    {
      paused: fc.constant({ by: 'me' }),
      aborted: fc.constant({ operation: 'createCluster', generation: 1 }),
      failed: fc.constant({ operation: 'createCluster', message: 'no', retryAt: 0 }),
    },
    { requiredKeys: [] },
  ),
);

const RUNS = { numRuns: 1_000 };
const planOf = (decision: Decision): readonly PlannedStep[] =>
  decision.kind === 'operate' || decision.kind === 'blocked' ? decision.plan : [];

/** Every step that is planned, as names of what it touches. */
function touched(decision: Decision): string[] {
  if (decision.kind !== 'operate') return [];
  const { step } = decision;
  if (step.kind === 'deletePods') return step.pods.map(pod => pod.uid);
  if (step.kind === 'releaseClaims') return step.claims.map(claim => claim.uid);
  return step.kind === 'restartMember' ? [step.claimUid] : [];
}

describe('for every observation', () => {
  it('the same observation leads to the same decision, and is not changed by it', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const before = structuredClone(observation);
        expect(plan(observation, workflowState)).toEqual(
          plan(structuredClone(observation), structuredClone(workflowState)),
        );
        expect(observation).toEqual(before);
      }),
      RUNS,
    );
  });

  it('nothing bootstraps once the cluster id is recorded, nor a member that a quorum knows as started', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const decision = plan(observation, workflowState);
        const { clusterID } = observation.cluster.status;
        const kinds = planOf(decision).map(step => step.kind);
        expect(clusterID !== undefined && kinds.includes('bootstrapMembers')).toBe(false);
        if (decision.kind !== 'operate' || decision.step.kind !== 'bootstrapMembers') return;
        expect(clusterID).toBeUndefined();
        const { membership } = observation;
        if (!membership.known) return;
        const unstarted = membership.members.filter(member => !member.started).map(member => member.name);
        expect(unstarted).toEqual(expect.arrayContaining([...decision.step.members]));
      }),
      RUNS,
    );
  });

  it('no step touches a pod or a claim of others', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const foreign = [...observation.pods, ...observation.claims]
          .filter(object => !object.owned)
          .map(object => object.uid);
        for (const uid of touched(plan(observation, workflowState))) expect(foreign).not.toContain(uid);
      }),
      RUNS,
    );
  });

  it('nothing is done while a foreign object stands under a name of ours, save deletion and care for the members', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const { peerService, clientService, disruptionBudget } = observation;
        const foreign = [peerService, clientService, disruptionBudget].some(
          ({ exists, owned }) => exists && !owned,
        );
        const decision = plan(observation, workflowState);
        if (!foreign || decision.kind !== 'operate') return;
        // A lost status, a finalizer and stamps are written again in any case: that touches nothing but the resource.
        const isOfResource = ['recordIncarnation', 'stampResource'].includes(decision.step.kind);
        const isCare = ['repairCluster', 'replaceMember', 'scaleCluster'].includes(decision.operation);
        // Without their Service the members do not find each other.
        const isForeignToPeers = peerService.exists && !peerService.owned;
        const isAllowed = isOfResource || (isCare && !isForeignToPeers);
        expect(decision.operation === 'deleteCluster' || isAllowed).toBe(true);
      }),
      RUNS,
    );
  });

  it('nothing is done that users paused, but for the last word to a deleted cluster of which nothing is left', () => {
    fc.assert(
      fc.property(observations, observation => {
        const decision = plan(observation, { paused: {} });
        const steps = decision.kind === 'operate' ? planOf(decision).map(({ kind }) => kind) : [];
        expect(steps.filter(kind => kind !== 'removeFinalizer')).toEqual([]);
      }),
      RUNS,
    );
  });

  it('the first step is the first of the plan, and every plan says what it does', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const decision = plan(observation, workflowState);
        for (const { summary } of planOf(decision)) expect(summary).not.toBe('');
        const first = decision.kind === 'operate' ? decision.plan[0]?.kind : undefined;
        expect(first).toBe(decision.kind === 'operate' ? decision.step.kind : undefined);
        expect(decision.kind === 'blocked' && decision.message === '').toBe(false);
        expect(JSON.parse(JSON.stringify(decision))).toEqual(decision);
      }),
      RUNS,
    );
  });

  it('the report never drops or changes the identity, and is a status that JSON can hold', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const decision = plan(observation, workflowState);
        const members = observedMembers(situationOf(observation));
        const status = statusOf(
          { situation: situationOf(observation, workflowState), decision, members },
          { workflowId: 'w', now: NOW },
        );
        const { incarnation, clusterID, storage, lastSerial } = observation.cluster.status;
        expect(status.incarnation).toEqual(incarnation);
        expect(status.clusterID).toBe(clusterID);
        expect(status.storage).toEqual(storage);
        expect(status.lastSerial).toBe(lastSerial);
        expect(JSON.parse(JSON.stringify(status))).toEqual(status);
        const types = status.conditions?.map(condition => condition.type) ?? [];
        expect(new Set(types).size).toBe(types.length);
      }),
      RUNS,
    );
  });

  it('Available is True only when a read went through and a pod of ours is ready', () => {
    fc.assert(
      fc.property(observations, workflowStates, (observation, workflowState) => {
        const decision = plan(observation, workflowState);
        const members = observedMembers(situationOf(observation));
        const { conditions } = statusOf(
          { situation: situationOf(observation, workflowState), decision, members },
          { workflowId: 'w', now: NOW },
        );
        if (conditions?.find(({ type }) => type === 'Available')?.status !== 'True') return;
        expect(Object.values(observation.probes).some(probe => probe.answered && probe.read.ok)).toBe(true);
        expect(observation.pods.some(pod => pod.owned && pod.ready)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('for every set of names', () => {
  const serials = fc.oneof(
    fc.nat(100),
    fc.integer({ min: 999_999_980, max: 1_000_000_020 }),
    fc.integer({ min: 0, max: 2_000_000_000 }),
  );
  const seen = fc.array(serials.map(serial => `example-${serial}`));

  it('the first serials are above everything seen, and every member has a name that can be read back', () => {
    fc.assert(
      fc.property(seen, fc.integer({ min: 1, max: 7 }), fc.nat(50), (namesSeen, size, lastSerial) => {
        const cluster = aCluster({ spec: { size }, status: { lastSerial } });
        const decision = plan(anObservation({ namesSeen, cluster }), {});
        const exhausted = decision.kind === 'blocked' && decision.reason === 'SerialsExhausted';
        if (exhausted) return;
        if (decision.kind !== 'operate' || decision.step.kind !== 'recordIncarnation')
          throw new Error(`not planned: ${JSON.stringify(decision)}`);
        const { members } = decision.step.incarnation;
        const chosen = members.map(({ name }) => serialOf(name) ?? -1);
        const before = namesSeen.map(name => serialOf(name) ?? -1);
        expect(new Set(chosen).size).toBe(size);
        for (const serial of chosen) expect(serial).toBeGreaterThan(Math.max(lastSerial, ...before));
        for (const { name } of members) expect(namesSeen).not.toContain(name);
      }),
      RUNS,
    );
  });
});

describe('the generated observations', () => {
  it('reach every operation and every obstacle that creation, repair and deletion know', () => {
    const reached = new Set<string>();
    for (const [observation, workflowState] of fc.sample(fc.tuple(observations, workflowStates), {
      numRuns: 4_000,
      seed: 1,
    })) {
      const decision = plan(observation, workflowState);
      if (decision.kind === 'operate') reached.add(decision.step.kind);
      if (decision.kind === 'blocked') reached.add(decision.reason);
    }
    const wanted = [
      ...['recordIncarnation', 'bootstrapMembers', 'recordClusterId', 'ensureObjects', 'restartMember'],
      ...['deletePods', 'releaseClaims', 'removeFinalizer'],
      ...['SpecInvalid', 'NameTaken', 'ClusterIdMismatch', 'IdentityUnknown'],
      ...['Paused', 'Aborted', 'StepFailed'],
    ];
    expect([...reached]).toEqual(expect.arrayContaining(wanted));
  });
});
