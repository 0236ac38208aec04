/** A person asks for the restart of a member that is not healthy: it takes no quorum from the others. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { rolloutCluster } from '../../../../src/planner/operations/rollout/index.ts';
import { plan } from '../../../../src/planner/plan.ts';
import { situationOf } from '../../../../src/planner/situation.ts';
import { aPod, aProbe, aRunningCluster, namesOf } from '../../../worlds/builders.ts';

const TARGET = 'example-1';
const UNREAD = { read: { ok: false, message: 'etcdserver: no leader' } } as const;

/** A cluster of so many whose last members, and the one that is to be restarted, cannot be read from. */
function withUnhealthy(size: number, others: number): Observation {
  const names = namesOf(size);
  const unhealthy = [TARGET, ...names.slice(size - others)];
  return aRunningCluster(
    {
      pods: names.map(name => aPod({ name, ready: !unhealthy.includes(name) })),
      probes: Object.fromEntries(
        names.map(name => [name, aProbe({ name, ...(unhealthy.includes(name) ? UNREAD : {}) })]),
      ),
    },
    size,
  );
}

describe('a restart', () => {
  const progress = rolloutCluster.request?.progress;
  const request = { id: 1, kind: 'restart', target: TARGET, by: 'ana' } as const;
  const judge = (observation: Observation) =>
    progress?.(situationOf(observation), request, [`pod-${TARGET}`]);

  it.each([1, 3])('of a member of %i is not done while its pod is gone and not made again', size => {
    const target = size === 1 ? 'example-0' : TARGET;
    const seen = aRunningCluster({}, size);
    const ids = [`pod-${target}`];
    const stopped = { ...seen, pods: seen.pods.filter(({ name }) => name !== target) };
    const isBack = {
      ...seen,
      pods: seen.pods.map(pod => (pod.name === target ? { ...pod, uid: 'new' } : pod)),
    };
    expect(progress?.(situationOf(stopped), { ...request, target }, ids)).toEqual(ids);
    expect(progress?.(situationOf(isBack), { ...request, target }, ids)).toMatchObject({ outcome: 'done' });
  });

  it('is not done while no quorum lists the members', () => {
    const seen = aRunningCluster({ pods: [] });
    expect(judge({ ...seen, membership: { known: false, message: 'no quorum answers' } })).toEqual([
      `pod-${TARGET}`,
    ]);
  });
});

describe('the restart of a member that is not healthy', () => {
  it.each([
    { size: 2, others: 0, is: 'restarted' },
    { size: 3, others: 0, is: 'restarted' },
    { size: 3, others: 1, is: 'left' },
    { size: 4, others: 0, is: 'restarted' },
    { size: 4, others: 1, is: 'left' },
    { size: 5, others: 1, is: 'restarted' },
    { size: 5, others: 2, is: 'left' },
    { size: 6, others: 1, is: 'restarted' },
    { size: 6, others: 2, is: 'left' },
    { size: 7, others: 2, is: 'restarted' },
  ])('of $size voters of which $others others are not healthy: it is $is', ({ size, others, is }) => {
    const request = { id: 1, kind: 'restart', target: TARGET, by: 'ana', ids: [`pod-${TARGET}`] } as const;
    const decision = plan(withUnhealthy(size, others), { requests: [request] });
    const stopped =
      decision.kind === 'operate' && decision.step.kind === 'stopMember' ? decision.step.member : undefined;
    expect(stopped).toBe(is === 'restarted' ? TARGET : undefined);
  });
});
