/** The operator of one namespace, and of several, with the rights that deploy/namespaced gives it, on an apiserver that enforces them. */
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
/** Part of what /readyz says until then (src/main/listeners/health.ts). */
const NOT_LISTED = 'has not listed all resources';
const ACCOUNT = 'system:serviceaccount:etcd:etcd-operator';
let plane: ControlPlane;
let users: ClosableKubeClient;
let operator: OperatorProcess | undefined;

async function kubectl(...args: string[]): Promise<string> {
  return (await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args])).stdout;
}

beforeAll(async () => {
  plane = await startControlPlane();
  users = kubeClientOf(plane.kubeconfig);
  const folder = (name: string): string => new URL(`../../deploy/${name}`, import.meta.url).pathname;
  await kubectl('create', 'namespace', 'etcd');
  for (const name of ['crd', 'namespaced/cluster', 'namespaced'])
    await kubectl('apply', '--server-side', '-k', folder(name));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s');
}, 180_000);

afterAll(async () => {
  operator?.signal('SIGKILL');
  await users?.close();
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
      output().includes('watcher started') && (await health('/readyz'))?.text.includes(NOT_LISTED) === false,
    { timeoutMs: 90_000, otherwise },
  );
  for (const namespace of ['default', 'etcd'])
    await users.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: 'example', namespace },
      spec: { size: 1 },
    });
  const seen = /^etcd_operator_watch_events_total\{kind="EtcdCluster",enqueued="true"\} (\d+)$/m;
  await poll(async () => seen.test(await metrics()), { timeoutMs: 60_000, otherwise });
  expect(seen.exec(await metrics())?.[1]).toBe('1');
  expect(output()).not.toContain('"code":403');
}, 180_000);

/** As docs/operations/install.md has it, "For several namespaces". */
async function grantIn(namespace: string): Promise<void> {
  const role = new URL('../../deploy/namespaced/role.yaml', import.meta.url).pathname;
  const bound = `sed 's/namespace: etcd-operator$/namespace: etcd/' '${role}'`;
  const apply = `'${plane.kubectl}' --kubeconfig '${plane.kubeconfig}' apply --server-side -n ${namespace} -f -`;
  await run('sh', ['-c', `${bound} | ${apply}`]);
}

test('of several namespaces it watches those in which it has rights, and others as soon as it has them', async () => {
  for (const namespace of ['shop', 'web', 'closed']) await kubectl('create', 'namespace', namespace);
  for (const namespace of ['shop', 'web']) await grantIn(namespace);
  const make = (namespace: string) =>
    users.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { name: 'listed', namespace },
      spec: { size: 1 },
    });
  for (const namespace of ['shop', 'web', 'closed']) await make(namespace);
  await kubectl(
    '-n',
    'etcd',
    'set',
    'env',
    'deployment/etcd-operator',
    'WATCH_NAMESPACE=shop,web,closed,missing',
  );
  const shown = '{.spec.template.spec.containers[0].env[?(@.name=="WATCH_NAMESPACE")].value}';
  const several = await startOperatorProcess({
    KUBECONFIG: await plane.kubeconfigFor(ACCOUNT),
    WATCH_NAMESPACE: await kubectl(
      '-n',
      'etcd',
      'get',
      'deployment',
      'etcd-operator',
      '-o',
      `jsonpath=${shown}`,
    ),
    POD_NAMESPACE: 'etcd',
    LEASE_NAME: 'several',
    LEADER_ELECTION: 'false',
    ROLES: 'watcher',
    TEMPORAL_ADDRESS: '127.0.0.1:9',
  });
  try {
    const { health, metrics, output } = several;
    const otherwise = async () => `the operator says: ${output().slice(-2_000)}`;
    const watched = async (clusters: number, unwatched: number) => {
      const text = await metrics();
      return (
        text.includes(`etcd_operator_unwatched_namespaces ${unwatched}\n`) &&
        text.includes(`etcd_operator_watch_events_total{kind="EtcdCluster",enqueued="true"} ${clusters}\n`)
      );
    };
    await poll(() => watched(2, 2), { timeoutMs: 90_000, otherwise });
    const ready = async () => (await health('/readyz'))?.text.includes(NOT_LISTED) === false;
    await poll(ready, { timeoutMs: 60_000, otherwise });
    // The log follows within a second.
    await poll(async () => output().includes('is not watched'), { timeoutMs: 30_000, otherwise });
    for (const namespace of ['closed', 'missing'])
      expect(output()).toMatch(new RegExp(`"${namespace}".*a namespace of WATCH_NAMESPACE is not watched`));
    await kubectl('create', 'namespace', 'missing');
    await grantIn('missing');
    await make('missing');
    await poll(() => watched(3, 1), { timeoutMs: 120_000, otherwise });
    const isTold = async () => /"missing".*a namespace is watched now/.test(output());
    await poll(isTold, { timeoutMs: 30_000, otherwise });
  } finally {
    several.signal('SIGKILL');
  }
}, 300_000);
