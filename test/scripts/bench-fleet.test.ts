import { describe, expect, test } from 'vitest';
import { parseBenchArguments } from '../../scripts/bench/arguments.ts';
import { percentile } from '../../scripts/bench/figures.ts';
import { grown } from '../../scripts/bench/fleet/usage.ts';
import { samples, sum } from '../../scripts/bench/prometheus.ts';
import { deployedEnvironment } from '../../scripts/bench/simulated/deployment.ts';

const KNOWN = ['fleet', 'idle'];

describe('the arguments of the benchmark', () => {
  test('name the phases and the size of the fleet', () => {
    const args = ['fleet', '--clusters', '50', '--phases', 'idle, change', '--rate', '3'];
    expect(parseBenchArguments(args, KNOWN)).toEqual({
      names: ['fleet'],
      fleet: { clusters: 50, phases: ['idle', 'change'], rate: 3, replicas: 2, temporal: 'development' },
    });
  });

  test.each([
    [['flet'], 'what to measure: nothing is called flet; name any of fleet, idle'],
    [['fleet', '--phases', 'idel,storm'], '--phases: nothing is called idel; name any of create, idle'],
    [['fleet', '--clusters', '1001'], '--clusters is "1001": write a whole number from 1 to 1000'],
    [['fleet', '--rate', '0'], '--rate is "0": write a whole number'],
    [['fleet', '--cluster', '5'], "Unknown option '--cluster'"],
  ])('that cannot be used are refused: %j', (args, message) => {
    expect(() => parseBenchArguments(args, KNOWN)).toThrow(message);
  });
});

describe('counters', () => {
  test('of a process that was started again begin at 0', () => {
    const before = [
      { name: 'calls', of: 1, value: 10 },
      { name: 'calls', of: 2, value: 100 },
    ];
    const after = [
      { name: 'calls', of: 1, value: 15 },
      { name: 'calls', of: 3, value: 7 },
    ];
    expect(grown(before, after)).toEqual(new Map([['calls', 12]]));
  });
});

describe('metrics', () => {
  const text = [
    '# HELP calls of all',
    'calls{kind="Pod",path="a{b}"} 3',
    'calls{kind="Service",path=""} 4',
    'calls_sum{kind="Pod"} 100',
    'up 1',
  ].join('\n');

  test('are read with their labels', () => {
    expect(samples(text, 'calls')).toEqual([
      { labels: { kind: 'Pod', path: 'a{b}' }, value: 3 },
      { labels: { kind: 'Service', path: '' }, value: 4 },
    ]);
  });

  test('are summed, all of them or those with some labels', () => {
    expect([sum(text, 'calls'), sum(text, 'calls', { kind: 'Pod' }), sum(text, 'up')]).toEqual([7, 3, 1]);
    expect(sum(text, 'absent')).toBe(0);
  });
});

test('percentiles are by the nearest rank', () => {
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect([percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)]).toEqual([50, 99, 100]);
  expect(percentile([], 0.5)).toBeNaN();
});

test('the operator of the benchmark has the settings of the Deployment', () => {
  expect(deployedEnvironment()).toMatchObject({
    NODE_OPTIONS: expect.stringContaining('--max-old-space-size='),
  });
  expect(deployedEnvironment()).not.toHaveProperty('POD_NAME');
});
