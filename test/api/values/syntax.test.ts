import { describe, expect, test } from 'vitest';
import { cronFault, timeZoneFault } from '../../../src/api/values/cron.ts';
import { parseBytes, parseDurationSeconds, parseQuantity } from '../../../src/api/values/quantity.ts';
import { reservedEnvReason } from '../../../src/api/values/reserved-environment.ts';
import { isLabelValue, isQualifiedName } from '../../../src/api/values/syntax.ts';

test.each([
  ['0', 0],
  ['42', 42],
  [42, 42],
  ['8Gi', 8 * 2 ** 30],
  ['1.5Gi', 1.5 * 2 ** 30],
  ['.5Ki', 512],
  ['500m', 0.5],
  ['1k', 1000],
  ['1e3', 1000],
  ['1E', 1e18],
  ['-1Gi', -(2 ** 30)],
  ['8GiB', undefined],
  ['8 Gi', undefined],
  ['', undefined],
  ['Gi', undefined],
  ['1e', undefined],
  [Number.NaN, undefined],
])('the quantity %j is %s', (quantity, value) => {
  expect(parseQuantity(quantity)).toBe(value);
});

test('bytes are whole and not negative', () => {
  expect(parseBytes('1500m')).toBe(2);
  expect(parseBytes('-1')).toBeUndefined();
});

test.each([
  ['24h', 86_400],
  ['1h30m', 5400],
  ['1.5s', 1.5],
  ['250ms', 0.25],
  ['0', 0],
  ['', undefined],
  ['5', undefined],
  ['1d', undefined],
  ['-1h', undefined],
  ['1h 30m', undefined],
])('the duration %j is %s seconds', (duration, seconds) => {
  expect(parseDurationSeconds(duration)).toBe(seconds);
});

describe('a cron expression', () => {
  test.each([
    '* * * * *',
    '30 2 * * *',
    '*/5 0-6/2 1,15 JAN-MAR MON-FRI',
    '0 0 29 2 *',
    '0 0 30 2 MON',
    '5/15 * * * 7',
    '0 2 ? * SUN',
    '@daily',
    '@hourly',
    '  0 2 * * *  ',
  ])('%j is understood', expression => {
    expect(cronFault(expression)).toBeUndefined();
  });

  test.each([
    ['', 'it has 1 fields'],
    ['0 2 * *', 'it has 4 fields: write five, minute hour day month weekday'],
    ['0 0 2 * * *', 'it has 6 fields'],
    ['60 * * * *', 'minute "60": write 0 to 59'],
    ['* 24 * * *', 'hour "24": write 0 to 23'],
    ['* * 0 * *', 'day of the month "0": write 1 to 31'],
    ['* * * 13 *', 'month "13"'],
    ['* * * * 8', 'day of the week "8"'],
    ['* * * * NOPE', 'day of the week "NOPE"'],
    ['30-10 * * * *', 'minute "30-10"'],
    ['*/0 * * * *', 'minute "*/0"'],
    ['1,,2 * * * *', 'minute ""'],
    ['0 0 31 4,6,9,11 *', 'day 31 never comes in month 4, 6, 9, 11'],
    ['@sometimes', '@sometimes is no macro: write one of @hourly'],
  ])('%j is not: %s', (expression, fault) => {
    expect(cronFault(expression)).toContain(fault);
  });
});

test.each(['UTC', 'Europe/Paris', 'America/Argentina/Ushuaia'])('%s is a time zone', name => {
  expect(timeZoneFault(name)).toBeUndefined();
});

test.each(['Mars/Olympus', '', 'my zone'])('%j is no time zone', name => {
  expect(timeZoneFault(name)).toContain('write a name such as UTC or Europe/Paris');
});

test.each([
  ['tier', true],
  ['example.com/tier', true],
  ['a'.repeat(63), true],
  ['a'.repeat(64), false],
  ['example.com/', false],
  ['/tier', false],
  ['Example.com/tier', false],
  ['a/b/c', false],
  ['βάση', false],
  ['', false],
  ['-a', false],
])('the key %s is a qualified name: %s', (key, is) => {
  expect(isQualifiedName(key)).toBe(is);
});

test.each([
  ['', true],
  ['a.b_c-d', true],
  ['a b', false],
  ['-a', false],
  ['x'.repeat(64), false],
])('the value %j may be that of a label: %s', (value, may) => {
  expect(isLabelValue(value)).toBe(may);
});

test.each([
  ['ETCD_NAME', 'the operator sets it itself'],
  ['ETCD_INITIAL_CLUSTER_STATE', 'the operator sets it itself'],
  ['ETCD_LISTEN_METRICS_URLS', 'the operator sets it itself'],
  ['ETCD_PEER_TRUSTED_CA_FILE', 'the operator sets it itself'],
  ['MEMBER_INITIAL_CLUSTER', 'the operator sets it itself'],
  ['ETCD_FORCE_NEW_CLUSTER', 'endangers the data'],
  ['ETCD_CONFIG_FILE', 'endangers the data'],
])('the variable %s is not for users: %s', (name, reason) => {
  expect(reservedEnvReason(name)).toContain(reason);
});

test.each(['ETCD_AUTO_COMPACTION_RETENTION', 'ETCD_HEARTBEAT_INTERVAL', 'GOMAXPROCS', 'NAME'])(
  'the variable %s is',
  name => {
    expect(reservedEnvReason(name)).toBeUndefined();
  },
);
