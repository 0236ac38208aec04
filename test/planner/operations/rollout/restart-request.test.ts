/** A person asks for the restart of a member that is not healthy: it takes no quorum from the others. */
import { describe, expect, it } from 'vitest';
import type { Observation } from '../../../../src/planner/model/observation.ts';
import { plan } from '../../../../src/planner/plan.ts';
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
