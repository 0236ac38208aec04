/** A tenant with 600 Secrets of 1 MiB beside the deployed operator, whose replicas begin again and list everything. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClosableKubeClient } from '../../../src/kube/client.ts';
import { awaitRunning, manifest, type World } from '../../stack/e2e.ts';
import { kubeClientOf } from '../../stack/kube-client.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { operatorProcesses, readyOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const at = { namespace: 'drill-secrets', name: 'example' };
const COUNT = 600;
/** Of what a Secret may hold, 1 MiB, nearly all. */
const BYTES = 1_000_000;

let world: World;
let tenant: ClosableKubeClient;
useNamespace(at.namespace, opened => void (world = opened));

beforeAll(() => {
  // The disk of a busy machine takes so many megabytes slowly.
  tenant = kubeClientOf(world.stack.kubeconfig, { attemptTimeoutMs: 60_000 });
});
afterAll(() => tenant.close());

async function makeSecrets(numbers: number[]): Promise<void> {
  for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
    const data = { file: randomBytes(BYTES).toString('base64') };
    const metadata = { name: `large-${number}`, namespace: at.namespace };
    await tenant.create({ apiVersion: 'v1', kind: 'Secret', metadata, data }, { timeoutMs: 60_000 });
  }
}

/** How often each replica's container was started again, by pod. */
async function restarts(): Promise<Readonly<Record<string, number | undefined>>> {
  const replicas = await readyOperators(world);
  return Object.fromEntries(
    replicas.map(pod => {
      const { containerStatuses = [] } = pod['status'] as { containerStatuses?: { restartCount: number }[] };
      return [pod.metadata.uid, containerStatuses[0]?.restartCount];
    }),
  );
}

test('both replicas begin and look after a cluster within the memory that they are given', async () => {
  const numbers = Array.from({ length: COUNT }, (_, number) => number);
  await Promise.all(Array.from({ length: 2 }, () => makeSecrets(numbers)));
  const before = Object.keys(await restarts());
  await world.stack.kubectl('-n', 'etcd-operator', 'rollout', 'restart', 'deployment/etcd-operator');
  await world.stack.kubectl(
    '-n',
    'etcd-operator',
    'rollout',
    'status',
    'deployment/etcd-operator',
    '--timeout=300s',
  );
  const begun = await poll(
    async () => {
      const found = await restarts();
      const isNew = Object.keys(found).length === 2 && before.every(uid => !(uid in found));
      return isNew ? found : undefined;
    },
    { timeoutMs: 120_000 },
  );
  await world.kube.apply(manifest(at.namespace, at.name, { size: 1 }));
  await awaitRunning(world, at, 180_000);
  // One that comes while they are watched.
  await makeSecrets([COUNT]);
  await world.kube.apply(manifest(at.namespace, at.name, { size: 2 }));
  await awaitRunning(world, at, 180_000);
  expect(Object.values(begun)).toEqual([0, 0]);
  expect(await restarts()).toEqual(begun);
  const most = operatorProcesses(world).map(
    pid => /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
  );
  console.log(
    `the most memory of each: ${most.map(kib => `${Math.round(Number(kib) / 1024)} MiB`).join(', ')}`,
  );
}, 900_000);
