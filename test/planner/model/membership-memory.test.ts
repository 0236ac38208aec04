/** What is remembered of lost members, what holds up a change of size, and what is reported to users. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_REPLACED } from '../../../src/api/names.ts';
import type { EtcdClusterStatus, Incarnation } from '../../../src/api/schemas/types.ts';
import { operationOf } from '../../../src/planner/operations/membership/learner.ts';
import { replacedLately, replacementsAfter } from '../../../src/planner/model/replacements.ts';
import type { ClusterFacts, Observation } from '../../../src/planner/model/observation.ts';
import type { UserRequest } from '../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../src/planner/plan.ts';
import { judgeRequests } from '../../../src/planner/requests/judge.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anIncarnation,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  namesOf,
  NOW,
} from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const AGO = '2026-11-21T09:30:00Z';

/** The last of three members is lost with its claim. */
function lost(cluster: ClusterFacts, given: Partial<Observation> = {}): Observation {
  const { pods, probes } = aRunningCluster();
  const { 'example-2': _, ...left } = probes;
  const claims = namesOf(2).map(name => aClaim({ name }));
  return aRunningCluster({ cluster, claims, pods: pods.slice(0, 2), probes: left, ...given });
}

function noted(note: string, status: Partial<EtcdClusterStatus> = {}): ClusterFacts {
  const cluster = aCluster({ status: { ...aRunningStatus(), ...status } });
  const { metadata } = cluster.object;
  const annotations = { ...metadata.annotations, [ANNOTATION_REPLACED]: note };
  return { ...cluster, object: { ...cluster.object, metadata: { ...metadata, annotations } } };
}

describe('the budget of replacements', () => {
  const two = `example-7=${AGO} example-8=${AGO}`;

  it('counts what the resource remembers when the status was lost', () => {
    expect(plan(lost(noted(two)), {})).toMatchObject({ kind: 'blocked', reason: 'ReplacementBudget' });
    const long = two.replaceAll(AGO, '2026-11-21T08:59:00Z');
    expect(plan(lost(noted(long)), {})).toMatchObject({ step: { kind: 'removeMember' } });
  });

  it('does not count what somebody wrote on a resource that no cluster is stamped on', () => {
    expect(replacedLately(noted(two), Date.parse(NOW)).size).toBe(2);
    const { object, ...cluster } = noted(two);
    const annotations = { [ANNOTATION_REPLACED]: two };
    const unstamped = { ...cluster, object: { ...object, metadata: { ...object.metadata, annotations } } };
    expect(replacedLately(unstamped, Date.parse(NOW)).size).toBe(0);
  });

  it('counts a member once that both remember', () => {
    const replacements = [{ time: AGO, member: 'example-7' }];
    const both = noted(`example-7=${AGO}`, { replacements });
    expect(plan(lost(both), {})).toMatchObject({ step: { kind: 'removeMember' } });
  });
});

describe('a lost member after which fewer are asked for', () => {
  const replacements = [{ time: AGO, member: 'example-2' }];
  const two = { membership: aMembership(namesOf(2)) };
  const asked = (size: number, known: EtcdClusterStatus['replacements'] = replacements) =>
    lost(aCluster({ spec: { size }, status: { ...aRunningStatus(), replacements: known } }), two);

  it('has no successor to come: who is added later is added because more are asked for', () => {
    expect(operationOf(situationOf(asked(3)))).toBe('replaceMember');
    expect(replacementsAfter(situationOf(asked(3)))).toEqual(replacements);
    const after = replacementsAfter(situationOf(asked(2)));
    expect(after).toEqual([{ ...replacements[0], notNeeded: true }]);
    expect(operationOf(situationOf(asked(3, after)))).toBe('scaleCluster');
  });

  it('is remembered as it was while it is still listed', () => {
    const status = { ...aRunningStatus(), replacements };
    expect(replacementsAfter(situationOf(aRunningCluster({ cluster: aCluster({ status }) })))).toEqual(
      replacements,
    );
  });
});

describe('a specification that cannot be carried out', () => {
  const spec = { size: 5, etcd: { heartbeatIntervalMs: 500, electionTimeoutMs: 600 } };

  it('adds no member', () => {
    expect(
      plan(aRunningCluster({ cluster: aCluster({ spec, status: aRunningStatus() }) }), {}),
    ).toMatchObject({
      kind: 'idle',
    });
    const { etcd: _, ...usable } = spec;
    const cluster = aCluster({ spec: usable, status: aRunningStatus() });
    expect(plan(aRunningCluster({ cluster }), {})).toMatchObject({ step: { kind: 'addLearner' } });
  });

  it('keeps no lost member from being replaced', () => {
    const cluster = aCluster({ spec: { ...spec, size: 3 }, status: aRunningStatus() });
    expect(plan(lost(cluster), {})).toMatchObject({ step: { kind: 'removeMember', member: 'example-2' } });
  });
});

describe('a request to replace a member', () => {
  it('is refused when a restore takes the place of the cluster meanwhile', () => {
    const restore = { name: 'back', uid: 'r1', startedAt: NOW };
    const incarnation = { ...anIncarnation(), restore } as Incarnation;
    const cluster = aCluster({ status: { ...aRunningStatus(), incarnation } });
    const request: UserRequest = {
      id: 1,
      kind: 'replaceMember',
      target: 'example-2',
      by: 'ana',
      ids: ['b2'],
    };
    expect(judgeRequests(situationOf(aRunningCluster({ cluster })), [request])).toEqual([
      {
        id: 1,
        outcome: 'refused',
        message: 'a restore replaces the cluster, including example-2',
      },
    ]);
  });
});

describe('a removal that would leave too few healthy members', () => {
  it('names what is wrong with those that would stay', () => {
    const said = 'etcdserver: something';
    const probes = Object.fromEntries(namesOf(2).map(name => [name, aProbe({ name, errors: [said] })]));
    const decision = plan(lost(aCluster({ status: aRunningStatus() }), { probes }), {});
    expect(decision).toMatchObject({
      kind: 'blocked',
      reason: 'QuorumAtRisk',
      message: `example-2 is not removed: only 0 of the 2 members that would remain are known to be healthy; example-0: ${said}; example-1: ${said}`,
    });
  });

  it('is not one where those that would stay have no space: they vote, and the alarm waits for the lost member to go', () => {
    const alarm = 'memberID:161 alarm:NOSPACE ';
    const probes = Object.fromEntries(namesOf(2).map(name => [name, aProbe({ name, errors: [alarm] })]));
    const decision = plan(lost(aCluster({ status: aRunningStatus() }), { probes }), {});
    expect(decision).toMatchObject({ kind: 'operate', step: { kind: 'removeMember', member: 'example-2' } });
  });
});
