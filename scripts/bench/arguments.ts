/** What `npm run bench` was asked for. */
import { parseArgs } from 'node:util';
import type { TemporalKind } from '../../test/stack/temporal-server.ts';
import type { FleetOptions } from './fleet.ts';
import { PHASE_NAMES, type PhaseName } from './fleet/phases.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

const TEMPORAL_KINDS: readonly TemporalKind[] = ['development', 'postgres'];
const MOST_CLUSTERS = 15_000;
const MOST_MEMBERS = 7;
const MOST_HEAP_MEBIBYTES = 16_384;
const MOST_IN_FLIGHT = 10_000;

export interface BenchArguments {
  /** What to measure; nothing: all of it. */
  readonly names: readonly string[];
  readonly fleet: FleetOptions;
}

/** Ends the process with a message and code 2 when the arguments are of no use. */
export function benchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  try {
    return parseBenchArguments(args, known);
  } catch (error) {
    console.error(messageOf(error));
    process.exit(2);
  }
}

/** @throws Error that says what to write instead */
export function parseBenchArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      clusters: { type: 'string', default: '100' },
      copies: { type: 'string', default: '0' },
      members: { type: 'string', default: '3' },
      phases: { type: 'string', default: PHASE_NAMES.join(',') },
      rate: { type: 'string', default: '5' },
      replicas: { type: 'string' },
      heap: { type: 'string' },
      'in-flight': { type: 'string' },
      profiles: { type: 'string' },
      temporal: { type: 'string' },
    },
  });
  refuseUnknown(positionals, known, 'what to measure');
  const phases = values.phases.split(',').map(name => name.trim());
  refuseUnknown(phases, PHASE_NAMES, '--phases');
  return {
    names: positionals,
    fleet: {
      clusters: whole('--clusters', values.clusters, MOST_CLUSTERS),
      copies: values.copies === '0' ? 0 : whole('--copies', values.copies, MOST_CLUSTERS),
      members: whole('--members', values.members, MOST_MEMBERS),
      phases: phases as PhaseName[],
      rate: positive('--rate', values.rate),
      replicas: values.replicas === undefined ? undefined : whole('--replicas', values.replicas, 10),
      heapMebibytes:
        values.heap === undefined ? undefined : whole('--heap', values.heap, MOST_HEAP_MEBIBYTES),
      requestsInFlight:
        values['in-flight'] === undefined
          ? undefined
          : whole('--in-flight', values['in-flight'], MOST_IN_FLIGHT),
      profiles: values.profiles,
      temporal: temporalKind(values.temporal),
    },
  };
}

function refuseUnknown(given: readonly string[], known: readonly string[], where: string): void {
  const unknown = given.filter(name => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`${where}: nothing is called ${unknown.join(', ')}; name any of ${known.join(', ')}`);
}

function temporalKind(name: string | undefined): TemporalKind | undefined {
  if (name === undefined) return undefined;
  refuseUnknown([name], TEMPORAL_KINDS, '--temporal');
  return TEMPORAL_KINDS.find(kind => kind === name);
}

function whole(option: string, text: string, most: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > most)
    throw new Error(`${option} is "${text}": write a whole number from 1 to ${most}`);
  return number;
}

function positive(option: string, text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 1_000))
    throw new Error(`${option} is "${text}": write a number above 0, such as 0.5 or 5, and at most 1000`);
  return number;
}
