import { describe, expect, it, test } from 'vitest';
import { OPERATION_REQUESTS } from '../../../src/api/actions.ts';
import type { Observation } from '../../../src/planner/model/observation.ts';
import { judgeRequests } from '../../../src/planner/requests/judge.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aCluster,
  anIncarnation,
  anObservation,
  aRunningCluster,
  aRunningStatus,
  UNKNOWN_MEMBERSHIP,
} from '../../worlds/builders.ts';

test('no two requests share an action, a command or a message', () => {
  for (const field of ['action', 'command', 'kind'] as const) {
    const values = OPERATION_REQUESTS.map(request => request[field]);
    expect(new Set(values).size).toBe(values.length);
  }
});

describe('a request about a member', () => {
  const status = aRunningStatus();
  const judged = (observation: Observation, ids?: readonly string[]) => {
    const request = { id: 1, kind: 'replaceMember', target: 'example-1', by: 'ana' } as const;
    return judgeRequests(situationOf(observation), [{ ...request, ...(ids && { ids }) }])[0];
  };
  const changed = (given: object): Observation => {
    const { membership, ...others } = aRunningCluster();
    if (!membership.known) throw new Error('the builder knows its members');
    const members = membership.members.map(member =>
      member.name === 'example-1' ? { ...member, ...given } : member,
    );
    return { ...others, membership: { ...membership, members } };
  };

  it.each<[string, Observation, string]>([
    [
      'is being deleted',
      aRunningCluster({ cluster: aCluster({ status, deleting: true }) }),
      'the cluster is being deleted',
    ],
    [
      'is being created',
      anObservation({ cluster: aCluster({ status: { phase: 'Creating', incarnation: anIncarnation() } }) }),
      'the cluster is still being created',
    ],
    [
      'is put to sleep',
      aRunningCluster({ cluster: aCluster({ status, spec: { size: 3, hibernated: true } }) }),
      'the cluster is hibernated: set spec.hibernated to false first',
    ],
    [
      'has no quorum',
      aRunningCluster({ membership: UNKNOWN_MEMBERSHIP }),
      'no quorum answers, so the member list is not known: no member answers a linearizable read',
    ],
  ])('is refused while the cluster %s', (_, observation, message) => {
    expect(judged(observation)).toMatchObject({ outcome: 'refused', message });
  });

  it('is refused for one that the operator does not change, or that does not vote yet', () => {
    expect(judged(changed({ peerUrls: ['http://elsewhere:2380'] }))).toMatchObject({
      outcome: 'refused',
      message: 'example-1 was added manually, and the operator does not change it',
    });
    expect(judged(changed({ isLearner: true }))).toMatchObject({
      outcome: 'refused',
      message: expect.stringContaining('example-1 is a learner') as unknown,
    });
  });

  it('that was accepted is refused when the cluster is deleted, and waits while it has no quorum', () => {
    const deleted = aRunningCluster({ cluster: aCluster({ status, deleting: true }) });
    expect(judged(deleted, ['a1'])).toMatchObject({ outcome: 'refused' });
    expect(judged(aRunningCluster({ membership: UNKNOWN_MEMBERSHIP }), ['a1'])).toMatchObject({
      outcome: 'accepted',
      ids: ['a1'],
    });
  });
});
