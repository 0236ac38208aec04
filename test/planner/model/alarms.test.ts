import { expect, test } from 'vitest';
import { alarmsIn, alarmText } from '../../../src/planner/model/alarms.ts';

test('alarms are read from the errors of members, each once, with ids as etcdctl prints them', () => {
  const errors = ['memberID:161 alarm:NOSPACE ', 'etcdserver: no leader', 'memberID:161 alarm:NOSPACE '];
  expect(alarmsIn(errors)).toEqual([{ memberId: 'a1', alarm: 'NOSPACE' }]);
  expect(alarmText('memberID:161 alarm:NOSPACE ')).toBe('alarm NOSPACE of member a1');
});

test('an alarm of which etcd does not say whose it is counts all the same', () => {
  expect(alarmsIn(['alarm:CORRUPT '])).toEqual([{ memberId: '0', alarm: 'CORRUPT' }]);
  expect(alarmText('alarm:CORRUPT ')).toBe('alarm CORRUPT of member 0');
});
