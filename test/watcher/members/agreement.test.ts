import { describe, expect, it } from 'vitest';
import { type Answer, differenceFrom, type Survey } from '../../../src/watcher/members/agreement.ts';
import type { ReportedCluster, ReportedMember } from '../../../src/watcher/resources/reported-cluster.ts';

const NAMES = ['a-0', 'a-1', 'a-2'];
const answer = (name: string, change: Partial<Answer & { answered: true }> = {}): Answer => ({
  answered: true,
  memberId: `id-${name}`,
  leaderId: 'id-a-0',
  isLearner: false,
  version: '3.6.16',
  dbSize: 20_480,
  errors: [],
  read: { ok: true },
  ...change,
});
const member = (name: string, change: Partial<ReportedMember> = {}): ReportedMember => ({
  name,
  id: `id-${name}`,
  role: name === 'a-0' ? 'Leader' : 'Follower',
  version: '3.6.16',
  health: 'Healthy',
  ...change,
});
const reported = (change: Partial<ReportedMember> = {}): ReportedCluster => ({
  size: 3,
  listed: 3,
  members: NAMES.map(name => member(name, name === 'a-1' ? change : {})),
  available: true,
  quota: 1,
});
const survey = (change: Partial<Answer & { answered: true }> = {}, ids = NAMES): Survey => ({
  probes: Object.fromEntries(NAMES.map(name => [name, answer(name, name === 'a-1' ? change : {})])),
  membership: { known: true, members: ids.map(name => ({ id: `id-${name}`, name, peerUrls: [] })) },
});
const SILENT: Survey = { ...survey(), probes: { ...survey().probes, 'a-1': { answered: false } } };

describe('what the members say', () => {
  it('is what the status says', () => {
    expect(differenceFrom(reported(), survey())).toBeUndefined();
  });

  it.each<[string, Survey, string]>([
    ['a member was added by hand', survey({}, [...NAMES, 'x']), '4 members are listed'],
    ['a member was removed by hand', survey({}, ['a-0', 'a-1']), '2 members are listed'],
    ['a member was exchanged by hand', survey({}, ['a-0', 'a-1', 'x']), 'member id-x is not in the status'],
    ['another one leads', survey({ leaderId: 'id-a-1' }), 'a-1 is Leader'],
    ['a voter became a learner', survey({ isLearner: true }), 'a-1 is Learner'],
    ['a member runs another version', survey({ version: '3.6.17' }), 'a-1 runs 3.6.17'],
    ['another member answers in its place', survey({ memberId: 'id-x' }), 'a-1 is member id-x'],
    ['a member raises an alarm', survey({ errors: ['alarm'] }), 'a-1 is Unhealthy'],
    ['a member serves no read', survey({ read: { ok: false } }), 'a-1 is Unhealthy'],
    ['a member is silent', SILENT, 'a-1 does not answer'],
  ])('differs when %s', (_, seen, difference) => {
    expect(differenceFrom(reported(), seen)).toBe(difference);
  });

  it('differs when it is not known who the members are', () => {
    const seen: Survey = { probes: {}, membership: { known: false, message: 'no leader' } };
    expect(differenceFrom(reported(), seen)).toBe('the member list is not known: no leader');
  });

  it('does not differ because a member that was added has not started, of which the status says the number alone', () => {
    const added = { id: 'x', name: '', peerUrls: ['http://a-3:2380'] };
    const seen = survey();
    const members = seen.membership.known ? [...seen.membership.members, added] : [];
    expect(
      differenceFrom({ ...reported(), listed: 4 }, { ...seen, membership: { known: true, members } }),
    ).toBeUndefined();
  });

  it('does not differ because the status says already that a member is silent', () => {
    expect(differenceFrom(reported({ health: 'Unknown', role: undefined }), SILENT)).toBeUndefined();
  });

  it('differs when a member is well again of which the status says otherwise', () => {
    expect(differenceFrom(reported({ health: 'Unknown' }), survey())).toBe('a-1 is Healthy');
  });
});
