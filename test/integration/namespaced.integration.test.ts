/** The operator of one namespace, with the rights that deploy/namespaced gives it, on an apiserver that enforces them. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { type OperatorProcess, startOperatorProcess } from '../stack/operator-process.ts';
import { poll } from '../stack/poll.ts';

const run = promisify(execFile);
const ACCOUNT = 'system:serviceaccount:etcd:etcd-operator';
let plane: ControlPlane;
let people: ClosableKubeClient;
let operator: OperatorProcess | undefined;

async function kubectl(...args: string[]): Promise<string> {
  return (await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args])).stdout;
}

beforeAll(async () => {
  plane = await startControlPlane();
  people = kubeClientOf(plane.kubeconfig);
  const folder = (name: string): string => new URL(`../../deploy/${name}`, import.meta.url).pathname;
  await kubectl('create', 'namespace', 'etcd');
  for (const name of ['crd', 'namespaced/cluster', 'namespaced'])
    await kubectl('apply', '--server-side', '-k', folder(name));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
}, 180_000);

afterAll(async () => {
  operator?.signal('SIGKILL');
  await people?.close();
  await plane?.stop();
});

test('its account may nothing to Secrets elsewhere', async () => {
  const may = async (verb: string, namespace: string): Promise<string> =>
    (
      await kubectl('auth', 'can-i', verb, 'secrets', '-n', namespace, `--as=${ACCOUNT}`).catch(() => 'no')
    ).trim();
  for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'])
    expect([verb, await may(verb, 'default')]).toEqual([verb, 'no']);
  for (const verb of ['get', 'list', 'watch', 'create', 'patch'])
    expect([verb, await may(verb, 'etcd')]).toEqual([verb, 'yes']);
}, 60_000);

test('it lists and watches everything that it needs there, and sees nothing of other namespaces', async () => {
  operator = await startOperatorProcess({
    KUBECONFIG: await plane.kubeconfigFor(ACCOUNT),
    WATCH_NAMESPACE: 'etcd',
    POD_NAMESPACE: 'etcd',
    ROLES: 'watcher',
    // Nobody listens there: what is watched does not wait for Temporal.
    TEMPORAL_ADDRESS: '127.0.0.1:9',
    LOG_LEVEL: 'debug',
  });
  const { health, metrics, output } = operator;
  const otherwise = async () => `the operator says: ${output().slice(-2_000)}`;
  await poll(
    async () =>
      output().includes('watcher started') &&
      (await health('/readyz'))?.text.includes('has not listed everything') === false,
    { timeoutMs: 90_000, otherwise },
  );
  for (const namespace of ['default', 'etcd'])
    await people.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: 'example', namespace },
      spec: { size: 1 },
    });
  const seen = /^etcd_operator_watch_events_total\{kind="EtcdCluster",told="true"\} (\d+)$/m;
  await poll(async () => seen.test(await metrics()), { timeoutMs: 60_000, otherwise });
  expect(seen.exec(await metrics())?.[1]).toBe('1');
  expect(output()).not.toContain('"code":403');
}, 180_000);
