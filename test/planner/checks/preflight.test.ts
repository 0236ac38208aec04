import { expect, it } from 'vitest';
import { quorumSurvivesRemoval } from '../../../src/planner/checks/preflight.ts';
import { memberViews } from '../../../src/planner/model/member-view.ts';
import { aProbe, aRunningCluster, namesOf } from '../../worlds/builders.ts';

it('a removal that leaves no quorum says what is wrong with each member that would remain', () => {
  const [leaving = '', alarmed = '', unread = ''] = namesOf(4);
  const probes = {
    [alarmed]: aProbe({ name: alarmed, errors: ['etcdserver: something'] }),
    [unread]: aProbe({ name: unread, read: { ok: false, message: 'no leader' } }),
  };
  const views = memberViews(aRunningCluster({ probes }, 4));
  const obstacle = quorumSurvivesRemoval(views, views.find(({ name }) => name === leaving)!);
  expect(obstacle?.reason).toBe('QuorumAtRisk');
  expect(obstacle?.message).toMatch(
    /only 0 of the 3 members that would remain .*; example-1: .*something.*; example-2: no leader; example-3 does not answer$/,
  );
});
