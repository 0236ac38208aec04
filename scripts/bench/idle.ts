/** What the operator costs while nothing happens to the one cluster that it looks after. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../src/kube/port.ts';
import { podsOf, type World } from '../../test/stack/e2e.ts';
import { poll } from '../../test/stack/poll.ts';
import { untilSettled } from '../../test/stack/settled.ts';
import { node } from '../run.ts';
import type { Row } from './figures.ts';
import { sum } from './prometheus.ts';

/** A lease is renewed each 5.5 s: in two minutes some twenty times, so that one call more or less hardly shows. */
const SECONDS = 120;
/** What one reconcile loop with informers needs for one cluster of three members (docs/comparison.md); wanted here are 0.2 at most. */
const ETCD_IO_CALLS_A_SECOND = 0.5;
const OPERATOR = { namespace: 'etcd-operator', port: 9464, prefix: 'etcd_operator_' } as const;
const MEMBER_METRICS_PORT = 2381;

/** Calls to the apiserver and processor time of all replicas together; memory of each. Waits first until the cluster has come to rest. */
export async function measureIdle(world: World, namespace: string, name: string): Promise<Row[]> {
  await untilSettled(world, { namespace, name });
  const { items: replicas } = await world.kube.list(
    { apiVersion: 'v1', kind: 'Pod' },
    { namespace: OPERATOR.namespace, labelSelector: 'app.kubernetes.io/name=etcd-operator' },
  );
  if (replicas.length === 0) throw new Error(`there is no operator pod in ${OPERATOR.namespace}`);
  const members = await podsOf(world, namespace, name);
  const operators = () => scrapeAll(replicas, OPERATOR.port);
  const etcds = () => scrapeAll(members, MEMBER_METRICS_PORT);
  const begun = performance.now();
  const [before, etcdBefore] = await Promise.all([operators(), etcds()]);
  await delay(SECONDS * 1000);
  const [after, etcdAfter] = await Promise.all([operators(), etcds()]);
  const seconds = (performance.now() - begun) / 1000;
  const grown = (texts: readonly [string[], string[]], metric: string): number =>
    (total(texts[1], metric) - total(texts[0], metric)) / seconds;
  const calls = `${OPERATOR.prefix}kubernetes_call_duration_seconds_count`;
  const processor = `${OPERATOR.prefix}process_cpu_seconds_total`;
  const memory = `${OPERATOR.prefix}process_resident_memory_bytes`;
  return [
    {
      what: `idle: calls to the apiserver, ${replicas.length} replicas, leases included (wanted: 0.2)`,
      unit: '1/s',
      measured: [grown([before, after], calls)],
      floor: { what: 'etcd-io (docs/comparison.md)', measured: [ETCD_IO_CALLS_A_SECOND] },
    },
    {
      what: `idle: processor, ${replicas.length} replicas`,
      unit: '% core',
      measured: [grown([before, after], processor) * 100],
      floor: {
        what: `the ${members.length} members`,
        measured: [grown([etcdBefore, etcdAfter], 'process_cpu_seconds_total') * 100],
      },
    },
    {
      what: 'idle: memory of a replica',
      unit: 'MiB',
      measured: after.map(text => total([text], memory) / 2 ** 20),
      floor: { what: 'a bare Node process', measured: [await bareProcess()] },
    },
  ];
}

function scrapeAll(pods: readonly KubeObject[], port: number): Promise<string[]> {
  return Promise.all(
    pods.map(async pod => {
      const { podIP } = (pod['status'] ?? {}) as { podIP?: string };
      const response = await fetch(`http://${podIP}:${port}/metrics`, { signal: AbortSignal.timeout(5_000) });
      if (!response.ok) throw new Error(`${pod.metadata.name} answered ${response.status} to /metrics`);
      return response.text();
    }),
  );
}

/** The sum of a metric over all its labels and all texts. */
function total(texts: readonly string[], metric: string): number {
  if (!texts.some(text => text.includes(`\n${metric}`))) throw new Error(`nobody reports ${metric}`);
  return texts.reduce((all, text) => all + sum(text, metric), 0);
}

/** MiB resident of a Node process that holds nothing of ours. */
async function bareProcess(): Promise<number> {
  const child = spawn(node, ['-e', 'console.log(0); setInterval(() => {}, 1000)'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await new Promise(resolve => child.stdout.once('data', resolve));
    return await poll(async () => {
      const [, kibibytes] =
        /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
      return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
    });
  } finally {
    child.kill('SIGKILL');
  }
}
