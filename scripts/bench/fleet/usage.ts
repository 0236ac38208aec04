/** What a phase costs: CPU time and memory of every process, calls to the API server, requests to Temporal and its actions. */
import { setTimeout as delay } from 'node:timers/promises';
import type { OperatorProcess } from '../../../test/stack/operator-process.ts';
import { processorSeconds, residentBytes } from '../../../test/stack/process-usage.ts';
import { poll } from '../../../test/stack/poll.ts';
import { samples, sum } from '../prometheus.ts';
import type { SimulatedWorld } from '../simulated/world.ts';
import type { Row } from '../figures.ts';

/** Counters of Temporal's server reach its page up to a second later. */
const REPORTED_MS = 1_500;
/** As its metrics spell `etcd-operator`. */
const TEMPORAL_NAMESPACE = 'etcd_operator';
const OPERATOR = 'etcd_operator_';

export interface Count {
  readonly name: string;
  /** Which process counts: another one begins at 0. */
  readonly of: number;
  readonly value: number;
}

/** By name, by how much counters have grown in between. What a process counted after `before` and until it ended is lost. */
export function grown(before: readonly Count[], after: readonly Count[]): Map<string, number> {
  const known = new Map(before.map(({ name, of, value }) => [`${of} ${name}`, value]));
  const sums = new Map<string, number>();
  for (const { name, of, value } of after)
    sums.set(name, (sums.get(name) ?? 0) + value - (known.get(`${of} ${name}`) ?? 0));
  return sums;
}

/** The sum over all of a kind that two readings differ by. */
export const total = (before: readonly Count[], after: readonly Count[]): number =>
  [...grown(before, after).values()].reduce((all, value) => all + value, 0);

/** What a phase that is about so many clusters cost the operator and its servers. */
export function costs(before: Reading, after: Reading, clusters: number): Row[] {
  const seconds = (after.at - before.at) / 1_000;
  const row = (what: string, unit: string, value: number): Row => ({ what, unit, measured: [value] });
  const counted = (['calls', 'requests', 'actions', 'signals', 'passes'] as const).flatMap(kind => {
    const count = total(before[kind], after[kind]);
    return [row(NAMES[kind], '1/s', count / seconds), row(`${NAMES[kind]} for each`, '', count / clusters)];
  });
  return [
    row('length of the phase', 's', seconds),
    ...[...grown(before.processor, after.processor)].map(([program, used]) =>
      row(`CPU of ${program}`, '% of a core', (used / seconds) * 100),
    ),
    row('memory of the largest replica (RSS)', 'MiB', Math.max(...after.resident) / 2 ** 20),
    ...counted,
  ];
}

const NAMES = {
  calls: 'API calls',
  requests: 'Temporal requests',
  actions: 'Temporal actions',
  signals: 'signals',
  passes: 'passes',
} as const;

/** Counters of all processes at one moment. */
export interface Reading {
  /** Milliseconds, of the clock that never goes back. */
  readonly at: number;
  /** Seconds of CPU time, by program. */
  readonly processor: readonly Count[];
  /** Calls of the operator to the API server, as that counts them: watches and leases included. */
  readonly calls: readonly Count[];
  /** The same as the operator counts them, by method and kind. */
  readonly callsByKind: readonly Count[];
  /** Requests of the operator to Temporal's frontend, long polls included, by method. */
  readonly requests: readonly Count[];
  /** What Temporal's server counts as actions, by type. */
  readonly actions: readonly Count[];
  readonly passes: readonly Count[];
  /** Those that Temporal took. */
  readonly signals: readonly Count[];
  /** Bytes of each replica. */
  readonly resident: readonly number[];
}

export async function reading(world: SimulatedWorld): Promise<Reading> {
  await delay(REPORTED_MS);
  const { apiserver, etcd } = world.plane.pids();
  const replicas = world.operators();
  const programs = [
    ...replicas.map(({ pid }) => ['operator', pid] as const),
    ['kube-apiserver', apiserver] as const,
    ["kube-apiserver's etcd", etcd] as const,
    ['Temporal', world.temporal.pid()] as const,
    ['simulated nodes and members', process.pid] as const,
  ];
  const [ofApiserver, ofTemporal, ofOperators] = await Promise.all([
    world.plane.metrics(),
    world.temporalMetrics(),
    Promise.all(replicas.map(async replica => [replica, await replica.metrics()] as const)),
  ]);
  const temporal = (metric: string, where: Readonly<Record<string, string>>, label: string): Count[] =>
    byLabel(ofTemporal, { metric, where: { namespace: TEMPORAL_NAMESPACE, ...where }, label }).map(
      ([name, value]) => ({ name, of: world.temporal.pid() ?? 0, value }),
    );
  const dispatched = (flow_schema: string): number =>
    sum(ofApiserver, 'apiserver_flowcontrol_dispatched_requests_total', { flow_schema });
  const operators = (metric: string, name: string, where?: Readonly<Record<string, string>>): Count[] =>
    ofOperators.map(([{ pid }, text]) => ({
      name,
      of: pid,
      value: sum(text, `${OPERATOR}${metric}`, where),
    }));
  return {
    at: performance.now(),
    processor: programs.flatMap(([name, pid]) =>
      pid === undefined ? [] : [{ name, of: pid, value: processorSeconds(pid) }],
    ),
    calls: [
      {
        name: 'calls',
        of: apiserver ?? 0,
        value: dispatched('service-accounts') + dispatched('etcd-operator'),
      },
    ],
    callsByKind: ofOperators.flatMap(([replica, text]) => callsByKind(replica, text)),
    requests: temporal('service_requests', { service_name: 'frontend' }, 'operation'),
    actions: temporal('action', {}, 'action_type'),
    passes: operators('passes_total', 'passes'),
    signals: operators('signal_duration_seconds_count', 'signals', { outcome: 'delivered' }),
    resident: replicas.map(({ pid }) => residentBytes(pid)),
  };
}

function callsByKind({ pid }: OperatorProcess, text: string): Count[] {
  const counted = new Map<string, number>();
  for (const { labels, value } of samples(text, `${OPERATOR}kubernetes_call_duration_seconds_count`)) {
    const name = `${labels['method']} ${labels['kind']}`;
    counted.set(name, (counted.get(name) ?? 0) + value);
  }
  return [...counted].map(([name, value]) => ({ name, of: pid, value }));
}

function byLabel(
  text: string,
  { metric, where, label }: { metric: string; where: Readonly<Record<string, string>>; label: string },
): [string, number][] {
  const counted = new Map<string, number>();
  for (const { labels, value } of samples(text, metric)) {
    if (!Object.entries(where).every(([name, wanted]) => labels[name] === wanted)) continue;
    const name = labels[label] ?? '';
    counted.set(name, (counted.get(name) ?? 0) + value);
  }
  return [...counted];
}

/** How many passes and signals there were until now, to see whether anything continues. */
export const work = (world: SimulatedWorld): Promise<number> =>
  counted(world, ['passes_total', 'signal_duration_seconds_count']);

/** How many passes there were until now, of the replicas that run. */
export const passes = (world: SimulatedWorld): Promise<number> => counted(world, ['passes_total']);

async function counted(world: SimulatedWorld, metrics: readonly string[]): Promise<number> {
  const texts = await Promise.all(world.operators().map(replica => replica.metrics()));
  const all = texts.flatMap(text => metrics.map(metric => sum(text, `${OPERATOR}${metric}`)));
  return all.reduce((total, value) => total + value, 0);
}

/** The replica that watches; undefined while none does. */
async function leader(world: SimulatedWorld): Promise<OperatorProcess | undefined> {
  for (const replica of world.operators()) {
    const text = await replica.metrics().catch(() => '');
    if (sum(text, `${OPERATOR}watcher_leader`) === 1) return replica;
  }
  return undefined;
}

/** Waits until a replica watches. */
export const untilWatched = (world: SimulatedWorld): Promise<OperatorProcess> =>
  poll(() => leader(world), { otherwise: () => 'no replica watches' });
