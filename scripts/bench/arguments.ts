/** What `npm run bench` was asked for. */
import { parseArgs } from 'node:util';
import type { TemporalKind } from '../../test/stack/temporal-server.ts';
import type { FleetOptions } from './fleet.ts';
import { PHASES, type PhaseName } from './fleet/phases.ts';

const MOST_CLUSTERS = 1_000;
const PHASE_NAMES = Object.keys(PHASES);

export interface BenchArguments {
  /** What to measure; nothing: all of it. */
  readonly names: readonly string[];
  readonly fleet: FleetOptions;
}

/** @throws Error that says what to write instead */
export function parseBenchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      clusters: { type: 'string', default: '100' },
      phases: { type: 'string', default: PHASE_NAMES.join(',') },
      rate: { type: 'string', default: '2' },
      replicas: { type: 'string', default: '2' },
      temporal: { type: 'string', default: 'development' },
    },
  });
  const phases = values.phases.split(',').map(name => name.trim());
  refuseUnknown(positionals, known, 'what to measure');
  refuseUnknown(phases, PHASE_NAMES, '--phases');
  refuseUnknown([values.temporal], ['development', 'postgres'], '--temporal');
  return {
    names: positionals,
    fleet: {
      clusters: whole('--clusters', values.clusters, MOST_CLUSTERS),
      phases: phases as PhaseName[],
      rate: whole('--rate', values.rate, 100),
      replicas: whole('--replicas', values.replicas, 10),
      temporal: values.temporal as TemporalKind,
    },
  };
}

function refuseUnknown(given: readonly string[], known: readonly string[], where: string): void {
  const unknown = given.filter(name => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`${where}: nothing is called ${unknown.join(', ')}; name any of ${known.join(', ')}`);
}

function whole(option: string, text: string, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > most)
    throw new Error(`${option} is "${text}": write a whole number from 1 to ${most}`);
  return number;
}
