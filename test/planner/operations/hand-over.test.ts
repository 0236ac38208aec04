import { describe, expect, it } from 'vitest';
import { plan } from '../../../src/planner/plan.ts';
import { aCluster, aPod, aProbe, aRunningCluster, idOf, LONG_AGO } from '../../worlds/builders.ts';

const follower = (given: Partial<Parameters<typeof aProbe>[0]> = {}) =>
  aProbe({ name: 'example-1', ...given });

/** Three members, led by example-0, whose pods are these. */
function withPods(deleting: readonly string[], changes: Parameters<typeof aRunningCluster>[0] = {}) {
  const pods = ['example-0', 'example-1', 'example-2'].map(name =>
    aPod({ name, deleting: deleting.includes(name) }),
  );
  return aRunningCluster({ pods, ...changes });
}

describe('a leader whose pod is being deleted', () => {
  it('hands over to a voter that stays', () => {
    expect(plan(withPods(['example-0']), {})).toMatchObject({
      kind: 'operate',
      operation: 'moveLeader',
      step: { kind: 'moveLeader', from: 'example-0', to: 'example-1', toId: idOf('example-1') },
    });
    expect(plan(withPods(['example-0', 'example-1']), {})).toMatchObject({ step: { to: 'example-2' } });
  });

  it('hands over to nobody when no other voter stays or is healthy', () => {
    const all = withPods(['example-0', 'example-1', 'example-2']);
    expect(plan(all, {})).not.toMatchObject({ operation: 'moveLeader' });
    const probes = {
      'example-0': aProbe(),
      'example-1': follower({ errors: ['memberID:1 alarm:CORRUPT'] }),
      'example-2': aProbe({ name: 'example-2', read: { ok: false, message: 'timeout' } }),
    };
    expect(plan(withPods(['example-0'], { probes }), {})).not.toMatchObject({ operation: 'moveLeader' });
  });

  it('is what it is for: nothing is planned for a follower that goes', () => {
    expect(plan(withPods(['example-2']), {})).not.toMatchObject({ operation: 'moveLeader' });
  });

  it('stays the leader while the cluster is paused', () => {
    const cluster = aCluster({ status: aRunningCluster().cluster.status, spec: { paused: true } });
    expect(plan(withPods(['example-0'], { cluster }), {})).toMatchObject({
      kind: 'blocked',
      reason: 'Paused',
    });
  });

  it('hands over in the middle of another operation, which goes on afterwards', () => {
    const { status } = aRunningCluster().cluster;
    const operation = { type: 'rolloutCluster', startedAt: LONG_AGO } as const;
    const cluster = aCluster({ status: { ...status, operation } });
    expect(plan(withPods(['example-0'], { cluster }), {})).toMatchObject({ operation: 'moveLeader' });
  });
});

describe('a leadership that a person asked to have moved', () => {
  it('stays where it is while the members name a leader that is not among them', () => {
    const names = ['example-0', 'example-1', 'example-2'];
    const probes = Object.fromEntries(
      names.map(name => [name, aProbe({ name, leaderId: 'ffffffffffffffff' })]),
    );
    const request = { id: 1, kind: 'moveLeader', target: 'example-1', by: 'me' } as const;
    const workflowState = { requests: [{ ...request, ids: [idOf('example-1')] }] };
    expect(plan(withPods([], { probes }), workflowState)).not.toMatchObject({ operation: 'moveLeader' });
  });
});
