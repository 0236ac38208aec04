/** The figures that every phase has: what it cost the operator and its servers. */
import { grown, largest } from './count.ts';
import type { Figure } from './figure.ts';
import { type Reading, total } from './usage.ts';

type Targets = Partial<Record<'processor' | 'memory' | 'calls' | 'callsEach' | 'requestsEach', string>>;

export interface CostOptions {
  /** How many clusters the phase is about. */
  readonly clusters: number;
  readonly targets?: Targets;
  readonly peers?: Targets;
  /** What a fleet that the phase is not about costs by itself meanwhile; its part is taken from what each cluster costs. */
  readonly atRest?: AtRest | undefined;
}

/** A second. */
interface AtRest {
  readonly calls: number;
  readonly requests: number;
}

export const atRest = (before: Reading, after: Reading): AtRest => ({
  calls: total(before.calls, after.calls) / secondsOf(before, after),
  requests: total(before.requests, after.requests) / secondsOf(before, after),
});

const secondsOf = (before: Reading, after: Reading): number => (after.at - before.at) / 1_000;

export function cost(before: Reading, after: Reading, options: CostOptions): Figure[] {
  const { clusters, targets = {}, peers = {} } = options;
  const seconds = secondsOf(before, after);
  const each = (kind: 'calls' | 'requests' | 'actions' | 'passes' | 'signals') =>
    total(before[kind], after[kind]) / clusters;
  const resting = (kind: keyof AtRest): number => ((options.atRest?.[kind] ?? 0) * seconds) / clusters;
  const lessRest = options.atRest === undefined ? '' : ', less those of the fleet at rest';
  const calls = total(before.calls, after.calls);
  const processor = [...grown(before.processor, after.processor)].map(([program, used]) => ({
    what: `CPU of ${program === 'operator' ? 'all replicas of the operator' : program}`,
    unit: '% of a core',
    value: (used / seconds) * 100,
    ...(program === 'operator' && { target: targets.processor, peer: peers.processor }),
  }));
  return [
    { what: 'length of the phase', unit: 's', value: seconds },
    ...processor,
    {
      what: 'memory of the largest replica (RSS)',
      unit: 'MiB',
      value: Math.max(...after.resident) / 2 ** 20,
      target: targets.memory,
      peer: peers.memory,
    },
    { what: 'the most memory of a replica so far', unit: 'MiB', value: Math.max(...after.peak) / 2 ** 20 },
    { what: 'API calls', unit: '1/s', value: calls / seconds, target: targets.calls, peer: peers.calls },
    {
      what: `API calls for each cluster${lessRest}`,
      unit: '',
      value: each('calls') - resting('calls'),
      target: targets.callsEach,
    },
    { what: 'Temporal requests', unit: '1/s', value: total(before.requests, after.requests) / seconds },
    {
      what: `Temporal requests for each cluster${lessRest}`,
      unit: '',
      value: each('requests') - resting('requests'),
      target: targets.requestsEach,
    },
    { what: 'Temporal actions', unit: '1/s', value: total(before.actions, after.actions) / seconds },
    { what: 'Temporal actions for each cluster', unit: '', value: each('actions') },
    { what: 'signals for each cluster', unit: '', value: each('signals') },
    { what: 'passes for each cluster', unit: '', value: each('passes') },
  ];
}

/** What the calls and requests of each cluster were, the most frequent first. */
export function parts(before: Reading, after: Reading, clusters: number): string[] {
  const of = (kind: 'callsByKind' | 'requests' | 'actions') =>
    largest(grown(before[kind], after[kind]), clusters);
  return [
    `API calls for each: ${of('callsByKind')}`,
    `Temporal requests for each: ${of('requests')}`,
    `Temporal actions for each: ${of('actions')}`,
  ];
}
