import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { parseBenchArguments } from '../../scripts/bench/arguments.ts';
import { grown, largest } from '../../scripts/bench/fleet/count.ts';
import { percentile, printed, spread } from '../../scripts/bench/fleet/figure.ts';
import { PHASE_NAMES } from '../../scripts/bench/fleet/phases.ts';
import { samples, sum } from '../../scripts/bench/prometheus.ts';
import { deployedSettings } from '../../scripts/bench/simulated/deployment.ts';

const KNOWN = ['fleet', 'idle'];

describe('the arguments of the benchmark', () => {
  test('name the phases and the size of the fleet', () => {
    const args = ['fleet', '--clusters', '50', '--phases', 'idle, change', '--rate', '0.5'];
    expect(parseBenchArguments(args, KNOWN)).toEqual({
      names: ['fleet'],
      fleet: {
        clusters: 50,
        copies: 0,
        members: 3,
        phases: ['idle', 'change'],
        rate: 0.5,
        replicas: undefined,
        heapMebibytes: undefined,
        requestsInFlight: undefined,
        profiles: undefined,
      },
    });
  });

  test('are all phases of a hundred clusters when they name none', () => {
    expect(parseBenchArguments([], KNOWN).fleet).toMatchObject({ clusters: 100, phases: PHASE_NAMES });
  });

  test.each([
    [['flet'], 'what to measure: nothing is called flet; name any of fleet, idle'],
    [
      ['fleet', '--phases', 'idel,storm'],
      `--phases: nothing is called idel; name any of ${PHASE_NAMES.join(', ')}`,
    ],
    [['fleet', '--clusters', 'many'], '--clusters is "many": write a whole number from 1 to 15000'],
    [['fleet', '--members', '8'], '--members is "8": write a whole number from 1 to 7'],
    [['fleet', '--copies', '-5'], "Option '--copies' argument is ambiguous"],
    [['fleet', '--clusters', '0'], '--clusters is "0": write a whole number from 1 to 15000'],
    [['fleet', '--rate', '-1'], "Option '--rate' argument is ambiguous"],
    [['fleet', '--rate', '0'], '--rate is "0": write a number above 0'],
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

  test('are told the largest first, and not those that did not grow', () => {
    const counts = new Map([
      ['a', 0],
      ['b', 2],
      ['c', 30],
    ]);
    expect(largest(counts, 10)).toBe('3.00 c, 0.200 b');
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

describe('figures', () => {
  test('are percentiles by the nearest rank', () => {
    const values = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile(values, 1)]).toEqual([50, 99, 100]);
    expect(percentile([], 0.5)).toBeNaN();
  });

  test('are printed beside their targets, and say when there is none', () => {
    const figures = [...spread('took', [1_000, 2_000], { target: '≤ 1' }), ...spread('none', [])];
    expect(printed('storm', { figures, notes: ['a note'] }).split('\n')).toEqual([
      'storm        unit  measured      target  others',
      '  took, p50  s     1',
      '  took, p99  s     2             ≤ 1',
      '  none, p50  s     not measured',
      '  none, p99  s     not measured',
      '  a note',
    ]);
  });
});

test('the operator of the benchmark has the settings of the Deployment', () => {
  const { replicas, environment } = deployedSettings();
  expect(replicas).toBe(2);
  expect(environment).toMatchObject({ NODE_OPTIONS: expect.stringContaining('--max-old-space-size=') });
  expect(environment).not.toHaveProperty('POD_NAME');
});

test('the heap that the benchmark is told to give is the one that holds', () => {
  const { NODE_OPTIONS = '' } = deployedSettings(1_280).environment;
  const program = 'console.log(require("node:v8").getHeapStatistics().heap_size_limit)';
  const limit = execFileSync(process.execPath, ['-e', program], { env: { NODE_OPTIONS }, encoding: 'utf8' });
  expect(Number(limit) / 2 ** 20).toBeGreaterThan(1_279);
  expect(Number(limit) / 2 ** 20).toBeLessThan(1_400);
});
