/**
 * One hundred clusters of three that do nothing, and one replica that looks after them and is killed: what queues show that a
 * single cluster does not. The apiserver and Temporal are real, nodes and members are simulated (./simulated).
 */
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { lookedAtAgain, runsOf } from '../../test/stack/drill/recorded-work.ts';
import { holds, manifest } from '../../test/stack/e2e.ts';
import type { OperatorProcess } from '../../test/stack/operator-process.ts';
import { poll } from '../../test/stack/poll.ts';
import type { Row } from './figures.ts';
import { type SimulatedWorld, startSimulatedWorld, untilReady } from './simulated/world.ts';

const NAMESPACE = 'fleet';
/** One hundred, or what FLEET says. */
const CLUSTERS = Number(process.env['FLEET'] ?? 100);
/** After it was created, a cluster is looked at a few times more. */
const SETTLE_MS = 30_000;
const IDLE_MS = 90_000;
const PATIENCE_MS = 600_000;
const PASSES = 'etcd_operator_passes_total';
const CALLS = 'etcd_operator_kubernetes_call_duration_seconds_count';
/** Their volumes would have to be simulated as well. */
const SPEC = { size: 3, version: '3.6.16', storage: { emptyDir: {} } } as const;

const names = Array.from({ length: CLUSTERS }, (_, number) => `fleet-${number}`);
const row = (what: string, unit: string, measured: number): Row => ({ what, unit, measured: [measured] });

/** Creations, ninety seconds of rest, and a kill -9 of the one replica. */
export async function measureFleet(): Promise<Row[]> {
  console.log(`the machine's load is ${loadavg()[0]?.toFixed(1)}`);
  const world = await startSimulatedWorld(NAMESPACE);
  try {
    const former = await world.startOperator();
    try {
      await untilReady(former);
      const creation = await created(world.kube);
      console.log(`created after ${creation.toFixed(0)} s; at rest for two minutes, then killed ...`);
      await delay(SETTLE_MS);
      return [
        row(`${CLUSTERS} clusters of three: all created`, 's', creation),
        ...(await atRest(former)),
        row('until then: leadership lost', 'times', lostLeaderships(former)),
        ...(await killed(world, former)),
      ];
    } finally {
      former.signal('SIGKILL');
      await former.ended;
    }
  } finally {
    await world.stop();
  }
}

/** Seconds until all are healthy. */
async function created(kube: KubeClient): Promise<number> {
  const begun = performance.now();
  await Promise.all(names.map(name => kube.apply(manifest(NAMESPACE, name, SPEC))));
  const sick = async (): Promise<EtcdCluster[]> => {
    const { items } = await kube.list(
      { apiVersion: API_VERSION, kind: 'EtcdCluster' },
      { namespace: NAMESPACE },
    );
    return (items as unknown as EtcdCluster[]).filter(cluster => !holds(cluster, 'Healthy'));
  };
  await poll(async () => (await sick()).length === 0, {
    timeoutMs: PATIENCE_MS,
    intervalMs: 1_000,
    otherwise: async () => `not healthy, for one: ${JSON.stringify((await sick())[0]?.status, null, 1)}`,
  });
  return (performance.now() - begun) / 1_000;
}

async function atRest(operator: OperatorProcess): Promise<Row[]> {
  const begun = performance.now();
  const [before, cpuBefore] = [await operator.metrics(), operator.processorSeconds()];
  await delay(IDLE_MS);
  const [after, cpuAfter] = [await operator.metrics(), operator.processorSeconds()];
  const seconds = (performance.now() - begun) / 1_000;
  const rate = (metric: string) => (total(after, metric) - total(before, metric)) / seconds;
  return [
    row('at rest: passes', '1/s', rate(PASSES)),
    row('at rest: calls to the apiserver', '1/s', rate(CALLS)),
    row('at rest: processor', '% core', ((cpuAfter - cpuBefore) / seconds) * 100),
  ];
}

/** What it takes until a new replica has looked at every cluster. */
async function killed(world: SimulatedWorld, former: OperatorProcess): Promise<Row[]> {
  former.signal('SIGKILL');
  await former.ended;
  const at = Date.now();
  const operator = await world.startOperator();
  const connection = await Connection.connect({ address: world.temporalAddress });
  try {
    const client = new Client({ connection, namespace: 'etcd-operator' });
    const again = await poll(
      async () => {
        const after = lookedAtAgain(await runsOf(client, NAMESPACE, new Date(0)), at);
        return after.length === CLUSTERS && after;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 2_000 },
    );
    const share = (of: number) => (again[Math.ceil(CLUSTERS * of) - 1] ?? Number.NaN) / 1_000;
    const refused = count(operator, 'Task not found when completing');
    return [
      row('after kill -9: looked at again, p50', 's', share(0.5)),
      row('after kill -9: looked at again, p99', 's', share(0.99)),
      row('after kill -9: answers of workflow tasks refused', 'times', refused),
      row('after kill -9: leadership lost', 'times', lostLeaderships(operator)),
      row('after kill -9: processor until all were looked at', 's CPU', operator.processorSeconds()),
    ];
  } finally {
    await connection.close();
    operator.signal('SIGKILL');
    await operator.ended;
  }
}

/** The sum of a metric over all its labels. */
function total(text: string, metric: string): number {
  const isOfMetric = (line: string) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`);
  const lines = text.split('\n').filter(isOfMetric);
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

function count(operator: OperatorProcess, text: string): number {
  const lines = operator.output().split('\n');
  return lines.filter(line => line.includes(text)).length;
}

function lostLeaderships(operator: OperatorProcess): number {
  return count(operator, '"because":"lost"');
}
