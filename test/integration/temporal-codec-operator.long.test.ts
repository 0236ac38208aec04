/**
 * The operator as a process with keys for payloads, on a real apiserver and a real Temporal server: what Temporal keeps, and how users
 * with Temporal's CLI and kubectl read, rotate and ask all the same.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { MountedSecret } from '../fakes/mounted-secret.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { type OperatorProcess, startOperatorProcess } from '../stack/operator-process.ts';
import { poll } from '../stack/poll.ts';
import { freePort } from '../stack/free-ports.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';
import { everythingOf } from '../worlds/history-texts.ts';

const run = promisify(execFile);
const CLUSTER = 'sealed-canary';
const REASON = 'canary-of-a-person';
const API = 'etcd.database.coreos.com/v1beta2';
const LONG = { timeoutMs: 90_000 };

let plane: ControlPlane;
let temporal: TemporalServer;
let connection: Connection;
/** Knows of no codec. */
let plain: Client;
let secret: MountedSecret;
let operator: OperatorProcess;
let ana = '';
let environment: Record<string, string>;
let codecServer = '';

async function kubectl(args: readonly string[], input = '', kubeconfig = plane.kubeconfig): Promise<string> {
  const running = run(plane.kubectl, ['--kubeconfig', kubeconfig, ...args]);
  running.child.stdin?.end(input);
  return (await running).stdout;
}

const create = (object: object, kubeconfig?: string): Promise<string> =>
  kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: API, ...object }), kubeconfig);

const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

beforeAll(async () => {
  [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  connection = await Connection.connect({ address: temporal.address });
  plain = new Client({ connection, namespace: 'etcd-operator' });
  await kubectl(['apply', '--server-side', '-k', join(root, 'deploy')]);
  await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  const binding = ['create', 'rolebinding', 'ana', '-n', 'default'];
  await kubectl([...binding, '--clusterrole=etcd-operator-user', '--user=ana']);
  ana = await plane.kubeconfigFor('ana');
  secret = await MountedSecret.of({ first, active: 'none' });
  const port = await freePort();
  codecServer = `http://127.0.0.1:${port}`;
  environment = {
    KUBECONFIG: await plane.kubeconfigFor('system:serviceaccount:etcd-operator:etcd-operator'),
    TEMPORAL_ADDRESS: temporal.address,
    POD_NAME: 'operator-0',
    TEMPORAL_CODEC_KEYS: secret.folder,
    TEMPORAL_CODEC_SERVER_PORT: String(port),
    TEMPORAL_CODEC_SERVER_ENCODES: 'true',
  };
}, 240_000);

afterAll(async () => {
  operator?.signal('SIGKILL');
  await operator?.ended;
  await connection?.close();
  await Promise.all([plane?.stop(), temporal?.stop(), secret?.remove()]);
});

/** What Temporal shows of every workflow without a key. */
async function reported(): Promise<ReturnType<typeof everythingOf>> {
  const answers: unknown[] = [];
  for await (const { workflowId, runId } of plain.workflow.list()) {
    const handle = plain.workflow.getHandle(workflowId, runId);
    answers.push((await handle.describe()).raw, await handle.fetchHistory());
  }
  return everythingOf(answers);
}

const keysUsed = async (): Promise<Set<string | undefined>> =>
  new Set((await reported()).payloads.map(({ metadata }) => metadata['encryption-key-id']));

async function entityId(): Promise<string> {
  const path = 'jsonpath={.status.workflowID}';
  return (await kubectl(['get', 'etcd', CLUSTER, '-o', path])).trim();
}

test('with unusable keys it does not start, and says why', async () => {
  const unusable = await MountedSecret.of({ first: 'too short', active: 'first' });
  const refused = await startOperatorProcess({ ...environment, TEMPORAL_CODEC_KEYS: unusable.folder });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain(
    `${unusable.folder}/first is not base64: write 32 random bytes in base64`,
  );
  expect(refused.output()).not.toContain('too short');
  await unusable.remove();
});

test('a key becomes active while the operator runs, and nothing that Temporal keeps can be read from then on', async () => {
  operator = await startOperatorProcess(environment);
  await poll(async () => (await operator.health('/readyz'))?.status === 200, LONG);
  await secret.become({ first, active: 'first' });
  await poll(
    async () => operator.output().includes('the keys for payloads have changed and are in use'),
    LONG,
  );

  await create({ kind: 'EtcdCluster', metadata: { name: CLUSTER }, spec: { size: 3, version: '3.6.16' } });
  const pods = ['get', 'pods', '-l', `etcd_cluster=${CLUSTER}`, '-o', 'name'];
  await poll(async () => (await kubectl(pods)).split('\n').filter(Boolean).length === 3, LONG);
  const spec = { clusterRef: { name: CLUSTER }, action: 'Pause', by: 'ana', reason: REASON };
  await create({ kind: 'EtcdRequest', metadata: { name: 'pause' }, spec }, ana);
  const paused = ['get', 'etcd', CLUSTER, '-o', 'jsonpath={.status.conditions[?(@.type=="Paused")].status}'];
  await poll(async () => (await kubectl(paused)) === 'True', LONG);
  const state = ['get', 'etcdrequest', 'pause', '-o', 'jsonpath={.status.phase}'];
  await poll(async () => (await kubectl(state)).includes('Completed'), {
    ...LONG,
    otherwise: () => kubectl(state),
  });

  const { payloads, others } = await reported();
  expect(payloads.length).toBeGreaterThan(20);
  expect([...new Set(payloads.map(({ metadata }) => metadata['encoding']))]).toEqual(['binary/encrypted']);
  const within = payloads.map(({ data }) => data).join('\n');
  for (const text of [CLUSTER, REASON, '3.6.16']) expect(within).not.toContain(text);
  expect(others.filter(text => text.includes(REASON))).toEqual([]);
  // Workflow ids, and nothing else.
  const named = new Set(others.filter(text => text.includes(CLUSTER)));
  for (const text of named) expect(text).toMatch(/^etcdcluster\/default\/sealed-canary\/[0-9a-f]{8}/);
}, 300_000);

/** What the payloads of a history contain, which the CLI writes in base64. */
function contentsOf(history: string): string {
  const data = [...history.matchAll(/"data": "([^"]*)"/g)].map(([, text = '']) => text);
  return data.map(text => Buffer.from(text, 'base64').toString('latin1')).join('\n');
}

test("Temporal's CLI reads and asks through the codec server, and what it sends is encrypted", async () => {
  const id = await entityId();
  const at = ['--namespace', 'etcd-operator', '--workflow-id', id];
  const through = ['--codec-endpoint', codecServer];
  const show = ['workflow', 'show', ...at, '--output', 'json'] as const;
  expect(contentsOf(await temporal.cli(...show))).not.toContain(REASON);
  expect(contentsOf(await temporal.cli(...show, ...through))).toContain(REASON);
  const status = await temporal.cli('workflow', 'query', ...at, '--name', 'status', ...through);
  expect(status).toContain(REASON);
  const input = JSON.stringify({ by: 'ben', reason: `${REASON} again` });
  await temporal.cli('workflow', 'signal', ...at, '--name', 'pause', '--input', input, ...through);
  await poll(async () =>
    (await temporal.cli('workflow', 'query', ...at, '--name', 'status', ...through)).includes('again'),
  );
  expect([...(await keysUsed())]).toEqual(['first']);
}, 120_000);

test('a rotation needs no restart, and another operator continues with both keys', async () => {
  await secret.become({ first, second, active: 'second' });
  await poll(async () => operator.output().includes('"active":"second"'), LONG);
  const spec = { clusterRef: { name: CLUSTER }, action: 'Resume', by: 'ana' };
  await create({ kind: 'EtcdRequest', metadata: { name: 'resume' }, spec }, ana);
  const paused = ['get', 'etcd', CLUSTER, '-o', 'jsonpath={.status.conditions[?(@.type=="Paused")].status}'];
  await poll(async () => (await kubectl(paused)) !== 'True', LONG);
  expect(await keysUsed()).toEqual(new Set(['first', 'second']));

  operator.signal('SIGKILL');
  await operator.ended;
  operator = await startOperatorProcess(environment);
  await poll(async () => (await operator.health('/readyz'))?.status === 200, LONG);
  const again = { clusterRef: { name: CLUSTER }, action: 'Pause', by: 'ana', reason: 'after the restart' };
  await create({ kind: 'EtcdRequest', metadata: { name: 'again' }, spec: again }, ana);
  await poll(async () => (await kubectl(paused)) === 'True', LONG);
  expect(operator.output()).not.toContain('cannot be decrypted');
}, 300_000);
