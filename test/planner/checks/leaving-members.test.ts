import { describe, expect, it } from 'vitest';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import { minAvailableNow } from '../../../src/planner/checks/disruptions.ts';
import { plan } from '../../../src/planner/plan.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
  OURS,
} from '../../worlds/builders.ts';

/** Members with their data in their pods; `left`: of which nodes says so what. */
function inPods(
  nodeStates: Readonly<Record<string, PodFacts['nodeState']>>,
  names: readonly string[] = namesOf(3),
): Observation {
  return {
    ...aRunningCluster(),
    cluster: aCluster({
      spec: { size: 3, storage: { emptyDir: {} } },
      status: { ...aRunningStatus(), storage: { kind: 'EmptyDir' } },
    }),
    claims: [],
    membership: aMembership(names),
    pods: names.map(name => aPod({ name, nodeState: nodeStates[name] })),
    probes: Object.fromEntries(names.map(name => [name, aProbe({ name, memberId: idOf(name) })])),
    disruptionBudget: { ...OURS, minAvailable: names.length },
  };
}

const STAYING = { 'example-0': {}, 'example-1': {}, 'example-2': {}, 'example-3': {} };
const CORDONED = { ...STAYING, 'example-1': { left: 'is cordoned' } };

describe('a member with its data in its pod', () => {
  it('may not be evicted where nodes can be read, and as one of three where they cannot', () => {
    expect(minAvailableNow(situationOf(inPods(STAYING)))).toBe(3);
    expect(minAvailableNow(situationOf(inPods({})))).toBe(2);
  });

  it('is replaced when its node is cordoned: a learner first, for which the budget is raised', () => {
    expect(plan(inPods(CORDONED), {})).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'applyObjects', minAvailable: 4 },
      plan: [{}, { kind: 'addLearner' }, {}, {}, { kind: 'promoteLearner' }, { kind: 'removeMember' }],
    });
  });

  it('is removed when its successor votes, and is not counted as lost', () => {
    const decision = plan(inPods(CORDONED, [...namesOf(3), 'example-3']), {});
    expect(decision).toMatchObject({
      operation: 'replaceMember',
      step: {
        kind: 'removeMember',
        member: 'example-1',
        reason: 'its data is in its pod, and node node-1 is cordoned',
      },
    });
    expect(decision).not.toHaveProperty('step.replacement');
  });

  it('goes last when it leads', () => {
    const left = { left: 'is cordoned' };
    const decision = plan(inPods({ 'example-0': left, 'example-2': left }), {});
    const removed = 'plan' in decision ? decision.plan.filter(({ kind }) => kind === 'removeMember') : [];
    expect(removed.map(({ summary }) => summary)).toEqual([
      expect.stringContaining('example-2'),
      expect.stringContaining('example-0'),
    ]);
  });

  it('stays while another one does not answer', () => {
    const { probes, ...observation } = inPods(CORDONED);
    const { 'example-2': _, ...answering } = probes;
    const decision = plan({ ...observation, probes: answering }, {});
    expect(decision).not.toMatchObject({ step: { kind: 'addLearner' } });
  });

  it('stays when its node is not cordoned any more, and the successor goes', () => {
    expect(plan(inPods(STAYING, [...namesOf(3), 'example-3']), {})).toMatchObject({
      operation: 'scaleCluster',
      step: { kind: 'removeMember', member: 'example-3' },
    });
  });
});
