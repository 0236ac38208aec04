import { expect, test } from 'vitest';
import { CONDITIONS, finding } from '../../../src/api/conditions/catalogue.ts';

test('every type and reason is CamelCase, at most as long as metav1.Condition allows, and once', () => {
  const pairs = CONDITIONS.map(row => `${row.type} ${row.reason}`);
  expect(pairs.filter(pair => !/^[A-Z][A-Za-z0-9]{1,62} [A-Z][A-Za-z0-9]{1,62}$/.test(pair))).toEqual([]);
  expect(new Set(pairs).size).toBe(pairs.length);
});

test('every row has a meaning, and says what to do when something is not well', () => {
  const wrong = ['False', 'Unknown'];
  const good =
    /^(Available|Healthy|Durable|BackedUp|VersionSupported|SpecValid|TLSSupported|TLSReady|ScheduleValid|Succeeded)$/;
  const mute = CONDITIONS.filter(
    row =>
      row.meaning === '' || (good.test(row.type) && wrong.includes(row.status) && row.whatToDo === undefined),
  );
  expect(mute).toEqual([]);
});

test('the conditions of the CoreOS operator have kept their names', () => {
  const types = CONDITIONS.map(row => row.type);
  expect(types).toEqual(expect.arrayContaining(['Available', 'Recovering', 'Scaling', 'Upgrading']));
});

test('a finding has the status of its reason, and says its meaning when nothing else is said', () => {
  expect(finding('Available', 'Unreachable')).toEqual({
    type: 'Available',
    status: 'Unknown',
    reason: 'Unreachable',
    message: 'No member could be reached. That does not mean that etcd is down.',
  });
  expect(finding('EvenSize', 'OddSize', 'three').message).toBe('three');
  expect(finding('SpecValid', 'Invalid', 'x'.repeat(40_000)).message).toHaveLength(32_768);
});

test('a reason of another type is refused, by the compiler and at run time', () => {
  // @ts-expect-error Available has no reason OddSize
  expect(() => finding('Available', 'OddSize')).toThrow(
    'no condition Available with reason OddSize is declared',
  );
});
