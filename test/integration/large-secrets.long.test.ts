/** A tenant with 600 Secrets of 1 MiB, and an operator with the memory that the deployment gives it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { at, listAt, loadKustomization } from '../deploy/manifests.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { type OperatorProcess, startOperatorProcess } from '../stack/operator-process.ts';
import { poll } from '../stack/poll.ts';
import { peakBytes } from '../stack/process-usage.ts';

const run = promisify(execFile);
const COUNT = 600;
/** Of what a Secret may hold, 1 MiB, nearly all. */
const BYTES = 1_000_000;
let plane: ControlPlane;
let tenant: ClosableKubeClient;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  plane = await startControlPlane();
  tenant = kubeClientOf(plane.kubeconfig);
  const crds = new URL('../../deploy/crd', import.meta.url).pathname;
  const kubectl = (...args: string[]) => run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
  await kubectl('apply', '--server-side', '-k', crds);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
  const numbers = Array.from({ length: COUNT }, (_, number) => number);
  await Promise.all(Array.from({ length: 4 }, () => makeSecrets(numbers)));
}, 300_000);

afterAll(async () => {
  operator?.signal('SIGKILL');
  await tenant?.close();
  await plane?.stop();
});

async function makeSecrets(numbers: number[]): Promise<void> {
  for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
    const data = { file: randomBytes(BYTES).toString('base64') };
    const metadata = { name: `large-${number}`, namespace: 'default' };
    await tenant.create({ apiVersion: 'v1', kind: 'Secret', metadata, data }, { timeoutMs: 60_000 });
  }
}

/** What the deployment says: the flags of Node, and the limit in bytes. */
function deployed(): { readonly flags: string; readonly limit: number } {
  const { objects } = loadKustomization('deploy/operator');
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const container = at(deployment, 'spec', 'template', 'spec', 'containers', 0);
  const flags = listAt(container, 'env').find(variable => at(variable, 'name') === 'NODE_OPTIONS');
  const gib = /^(\d+)Gi$/.exec(String(at(container, 'resources', 'limits', 'memory')))?.[1];
  return { flags: String(at(flags, 'value')), limit: Number(gib) * 2 ** 30 };
}

test('are listed and watched within it', async () => {
  const { flags, limit } = deployed();
  operator = await startOperatorProcess({
    KUBECONFIG: plane.kubeconfig,
    NODE_OPTIONS: flags,
    ROLES: 'watcher',
    LEADER_ELECTION: 'false',
    // Nobody listens there: what is watched does not wait for Temporal.
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    LOG_LEVEL: 'debug',
  });
  const { health, metrics, output } = operator;
  const otherwise = async () => `the operator says: ${output().slice(-2_000)}`;
  const listed = async () =>
    output().includes('"reflector":"Secret"') &&
    (await health('/readyz'))?.text.includes('has not listed everything') === false;
  await poll(listed, { timeoutMs: 120_000, otherwise });
  await tenant.create({
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'default' },
    spec: { size: 1 },
  });
  // One that comes while they are watched.
  await makeSecrets([COUNT]);
  const seen = /^etcd_operator_watch_events_total\{kind="Secret",enqueued="false"\} (\d+)$/m;
  await poll(async () => Number(seen.exec(await metrics())?.[1]) > COUNT, { timeoutMs: 60_000, otherwise });
  expect(peakBytes(operator.pid)).toBeLessThan(limit / 2);
  console.log(`the most memory: ${Math.round(peakBytes(operator.pid) / 2 ** 20)} MiB`);
}, 300_000);
