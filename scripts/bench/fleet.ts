/**
 * One hundred clusters of three that do nothing, and one replica that looks after them and is killed: what queues show that a
 * single cluster does not. The apiserver and Temporal are real, nodes and members are simulated (./simulated).
 */
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdCluster } from '../../src/api/types.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { silentLogger } from '../../src/kube/port.ts';
import { startControlPlane } from '../../test/support/control-plane.ts';
import { lookedAtAgain, runsOf } from '../../test/support/drill/recorded-work.ts';
import { holds, manifest } from '../../test/support/e2e.ts';
import { type OperatorProcess, startOperatorProcess } from '../../test/support/operator-process.ts';
import { poll } from '../../test/support/poll.ts';
import { startTemporal } from '../../test/support/temporal-server.ts';
import { root, runNode } from '../run.ts';
import type { Row } from './figures.ts';
import { SimulatedKubelet } from './simulated/kubelet.ts';

const execute = promisify(execFile);
const ACCOUNT = 'system:serviceaccount:etcd-operator:etcd-operator';
const NAMESPACE = 'fleet';
const CLUSTERS = Number(process.env['FLEET'] ?? 100);
/** After it was created, a cluster is looked at a few times more. */
const SETTLE_MS = 30_000;
const IDLE_MS = 90_000;
const PATIENCE_MS = 600_000;
const PASSES = 'etcd_operator_passes_total';
const CALLS = 'etcd_operator_kubernetes_call_duration_seconds_count';

/** Creations, ninety seconds of rest, and a kill -9 of the one replica. */
export async function measureFleet(): Promise<Row[]> {
  console.log(`the machine's load is ${loadavg()[0]?.toFixed(1)}`);
  await runNode([join(root, 'scripts/build.ts')], { inherit: true });
  const [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  const credentials = new FileCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
  const kube = createKubeClient({ credentials });
  const kubectl = (...args: string[]) => execute(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd/etcdclusters.etcd.database.coreos.com');
  await kubectl('create', 'namespace', NAMESPACE);
  const kubelet = new SimulatedKubelet(kube);
  const KUBECONFIG = await plane.kubeconfigFor(ACCOUNT);
  const environment = { KUBECONFIG, TEMPORAL_ADDRESS: temporal.address, POD_NAME: 'fleet' };
  const start = () => startOperatorProcess(environment, 'compiled');
  const clusters = async () =>
    (await kube.list({ apiVersion: API_VERSION, kind: 'EtcdCluster' }, { namespace: NAMESPACE }))
      .items as unknown as EtcdCluster[];
  const connection = await Connection.connect({ address: temporal.address });
  let operator = await start();
  try {
    await poll(async () => (await operator.health('/readyz'))?.status === 200);
    const creation = await created(clusters, () =>
      Promise.all(names().map(name => kube.apply(manifest(NAMESPACE, name, SPEC)))),
    );
    await delay(SETTLE_MS);
    const rest = await atRest(operator);
    const former = lostLeaderships(operator);
    operator.signal('SIGKILL');
    await operator.ended;
    const killed = Date.now();
    operator = await start();
    const client = new Client({ connection, namespace: 'etcd-operator' });
    const again = await poll(
      async () => {
        const after = lookedAtAgain(await runsOf(client, NAMESPACE), killed);
        return after.length === CLUSTERS && after;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 2_000 },
    );
    const share = (of: number) => (again[Math.ceil(CLUSTERS * of) - 1] ?? Number.NaN) / 1_000;
    const of = `${CLUSTERS} clusters of three`;
    return [
      { what: `${of}: all of them created`, unit: 's', measured: [creation] },
      ...rest.map(row => ({ ...row, what: `${of} at rest: ${row.what}` })),
      { what: `${of}: leadership lost until then`, unit: 'times', measured: [former] },
      { what: 'after kill -9: looked at again, p50', unit: 's', measured: [share(0.5)] },
      { what: 'after kill -9: looked at again, p99', unit: 's', measured: [share(0.99)] },
      {
        what: 'after kill -9: answers of workflow tasks refused',
        unit: 'times',
        measured: [count(operator, 'Task not found when completing')],
      },
      { what: 'after kill -9: leadership lost', unit: 'times', measured: [lostLeaderships(operator)] },
      {
        what: 'after kill -9: processor until then',
        unit: 's CPU',
        measured: [operator.processorSeconds()],
      },
    ];
  } finally {
    operator.signal('SIGKILL');
    await operator.ended;
    await connection.close();
    await kubelet.stop();
    await kube.close();
    await Promise.all([plane.stop(), temporal.stop()]);
  }
}

/** Nothing is to be lost with them, and nothing to be bound: their volumes would cost as much again. */
const SPEC = { size: 3, version: '3.6.16', storage: { emptyDir: {} } } as const;

const names = (): string[] => Array.from({ length: CLUSTERS }, (_, number) => `fleet-${number}`);

/** Seconds until all are available. */
async function created(
  clusters: () => Promise<EtcdCluster[]>,
  create: () => Promise<unknown>,
): Promise<number> {
  const begun = performance.now();
  await create();
  await poll(
    async () => {
      const made = (await clusters()).filter(cluster => holds(cluster, 'Healthy'));
      return made.length === CLUSTERS;
    },
    {
      timeoutMs: PATIENCE_MS,
      intervalMs: 1_000,
      otherwise: async () => {
        const not = (await clusters()).filter(cluster => !holds(cluster, 'Healthy'));
        return `${not.length} are not healthy: ${JSON.stringify(not[0]?.status, null, 1)}`;
      },
    },
  );
  return (performance.now() - begun) / 1_000;
}

async function atRest(operator: OperatorProcess): Promise<Row[]> {
  const [before, cpuBefore] = [await operator.metrics(), operator.processorSeconds()];
  const begun = performance.now();
  await delay(IDLE_MS);
  const [after, cpuAfter] = [await operator.metrics(), operator.processorSeconds()];
  const seconds = (performance.now() - begun) / 1_000;
  const rate = (metric: string) => (total(after, metric) - total(before, metric)) / seconds;
  return [
    { what: 'passes', unit: '1/s', measured: [rate(PASSES)] },
    { what: 'calls to the apiserver', unit: '1/s', measured: [rate(CALLS)] },
    { what: 'processor', unit: '% core', measured: [((cpuAfter - cpuBefore) / seconds) * 100] },
  ];
}

/** The sum of a metric over all its labels. */
function total(text: string, metric: string): number {
  const lines = text
    .split('\n')
    .filter(line => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

function count(operator: OperatorProcess, text: string): number {
  return operator
    .output()
    .split('\n')
    .filter(line => line.includes(text)).length;
}

function lostLeaderships(operator: OperatorProcess): number {
  return count(operator, '"because":"lost"');
}
