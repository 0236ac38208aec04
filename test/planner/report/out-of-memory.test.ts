/** What is reported of members that the kernel ended for the memory that they used. */
import { describe, expect, it } from 'vitest';
import type { MemberProbe } from '../../../src/planner/model/member-probe.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { plan } from '../../../src/planner/plan.ts';
import { conditionsOf } from '../../../src/planner/report/conditions.ts';
import { observedMembers } from '../../../src/planner/report/members.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { aPod, aRunningCluster, namesOf, NOW, UNKNOWN_MEMBERSHIP } from '../../worlds/builders.ts';

const message =
  'the kernel ended it because it used more memory than its limit of 8Mi (OOMKilled); raise spec.pod.resources.limits.memory';
const HOUR = 3_600_000;

function reported(observation: Observation) {
  const situation = situationOf(observation);
  const members = observedMembers(situation);
  const conditions = conditionsOf({
    situation,
    decision: plan(observation, {}),
    members,
  });
  const of = (type: string) => conditions.find(condition => condition.type === type);
  return { of, details: members.map(({ detail }) => detail) };
}

function withKilled(
  at: number,
  more: Partial<PodFacts> = {},
  others: Partial<Observation> = {},
): Observation {
  const killed: Partial<PodFacts> = { restarts: 4, lastExit: { reason: 'OOMKilled', message, at }, ...more };
  const pods = namesOf(3).map((name, index) => aPod({ name, ...(index === 1 && killed) }));
  return aRunningCluster({ pods, ...others });
}

describe('a member that was ended for its memory', () => {
  it('is reported for an hour, also when it is well again', () => {
    const { of, details } = reported(withKilled(Date.parse(NOW) - HOUR / 2));
    expect(of('OutOfMemory')).toMatchObject({ status: 'True', reason: 'MembersKilled' });
    expect(of('OutOfMemory')?.message).toMatch(
      /^example-1 was started again 4 times, last after .*Z: .*limit of 8Mi/,
    );
    const once = reported(withKilled(Date.parse(NOW), { restarts: 1 })).of('OutOfMemory');
    expect(once?.message).toMatch(/^example-1 was started again once, last after /);
    expect(of('Healthy')).toMatchObject({ status: 'True' });
    expect(details[1]).toMatchObject({ name: 'example-1', restarts: 4, lastExit: message });
    expect(reported(withKilled(Date.parse(NOW) - HOUR)).of('OutOfMemory')).toBeUndefined();
  });

  it('is unhealthy while it does not come up, and not taken for one that the network hides', () => {
    const silent: MemberProbe = { answered: false, message: 'timeout' };
    const pods = namesOf(1).map(name =>
      aPod({
        name,
        ready: false,
        restarts: 2,
        lastExit: { reason: 'OOMKilled', message, at: Date.parse(NOW) - 5_000 },
      }),
    );
    const probes = { 'example-0': silent };
    const observation = aRunningCluster({ pods, probes, membership: UNKNOWN_MEMBERSHIP }, 1);
    const { of } = reported(observation);
    expect(of('Available')).toMatchObject({ status: 'False', reason: 'NoMembers' });
    expect(of('Available')?.message).toBe(`example-0: ${message}`);
    expect(of('Healthy')).toMatchObject({ status: 'False', reason: 'MembersUnhealthy' });
  });
});

it('a pod that its node does not begin says where the cause is found', () => {
  const pods = namesOf(3).map((name, index) =>
    aPod({ name, ...(index === 1 && { phase: 'Pending', ready: false, ip: undefined, node: 'node-2' }) }),
  );
  const probes: Observation['probes'] = { ...aRunningCluster().probes };
  delete (probes as Record<string, unknown>)['example-1'];
  const { of } = reported(aRunningCluster({ pods, probes }));
  expect(of('Healthy')?.message).toMatch(
    /^example-1: its pod is Pending, node node-2 has not started it: kubectl describe pod example-1/,
  );
});
