/**
 * What `kubectl etcd` reads by the real kubectl from a real apiserver: the metrics of real members through its proxy, and everything
 * that a report gathers. There is no kubelet: the addresses of pods are written here.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdVersions } from '../../local/toolchain/versions.ts';
import { root } from '../../scripts/run.ts';
import { API_VERSION, LABEL_CLUSTER, METRICS_PORT } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { capture } from '../../src/plugin/programs.ts';
import { WELL } from '../plugin/bench.ts';
import { type Ran, runPlugin } from '../plugin/process.ts';
import { secretForms } from '../plugin/secret-forms.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { type EtcdProcess, EtcdProcessCluster } from '../stack/etcd-process.ts';
import { kubeClientOf } from '../stack/kube-client.ts';

const run = promisify(execFile);
let plane: ControlPlane;
let client: ClosableKubeClient;
let folder: string;

const kubectl = (...args: string[]) => run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
const etcd = (line: string, kubeconfig: string): Promise<Ran> =>
  runPlugin(line, kubeconfig, {
    capture: (words, options) => capture(plane.kubectl, words.slice(1), options),
  });

/** By where each stands. */
const CANARIES = {
  tlsKey: 'canary-of-a-tls-key-1a',
  store: 'canary-of-a-store-secret-2b',
  variable: 'canary-of-a-variable/3c+d',
  appliedPod: 'canary-of-an-applied-pod-4d',
  annotation: 'canary-of-an-annotation-5e',
  event: 'canary-of-a-url-in-an-event-6f',
  status: 'canary-of-a-url-in-the-status-7g',
} as const;

const metadata = { name: 'example', namespace: 'default' };
const labels = { [LABEL_CLUSTER]: 'example' };
const pem = (text: string): string =>
  `-----BEGIN PRIVATE KEY-----\n${Buffer.from(text).toString('base64')}\n-----END PRIVATE KEY-----\n`;

/** As a person writes them, and applies them with kubectl: it repeats each in an annotation. */
const MANIFESTS: readonly object[] = [
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, name: 'example-peer-tls', labels },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.key': pem(CANARIES.tlsKey), 'tls.crt': pem(CANARIES.tlsKey) },
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, name: 'example-store', labels },
    stringData: { credentials: `[default]\naws_secret_access_key = ${CANARIES.store}\n` },
  },
  {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    metadata: { ...metadata, annotations: { 'example.com/note': CANARIES.annotation } },
    spec: { size: 1, pod: { etcdEnv: [{ name: 'ETCD_X', value: CANARIES.variable }] } },
  },
  {
    apiVersion: API_VERSION,
    kind: 'EtcdBackup',
    metadata: { ...metadata, name: 'nightly' },
    spec: {
      clusterRef: { name: 'example' },
      storageType: 'S3',
      s3: { path: 'bucket/example', awsSecret: 'example-store' },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata, name: 'example-0', labels },
    spec: {
      containers: [{ name: 'etcd', image: 'etcd', env: [{ name: 'ETCD_Y', value: CANARIES.appliedPod }] }],
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...metadata, name: 'example.1' },
    involvedObject: { kind: 'EtcdCluster', ...metadata },
    reason: 'BackupFailed',
    message: `upload to https://user:${CANARIES.event}@store.example/ failed after ${CANARIES.variable}`,
  },
];

beforeAll(async () => {
  [plane, folder] = await Promise.all([startControlPlane(), mkdtemp(join(tmpdir(), 'plugin-kubectl-'))]);
  client = kubeClientOf(plane.kubeconfig);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const file = join(folder, 'manifests.json');
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: MANIFESTS }));
  await kubectl('apply', '-f', file);
  const status = {
    ...WELL,
    size: 1,
    ready: '1/1',
    members: { ready: ['example-0'], details: WELL.members.details.slice(0, 1) },
    lastOperation: {
      type: 'createCluster',
      outcome: 'Failed',
      message: `GET https://user:${CANARIES.status}@store.example/`,
    },
  };
  const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', ...metadata };
  await client.patch(ref, { status }, { type: 'merge', subresource: 'status' });
}, 240_000);

afterAll(async () => {
  await client?.close();
  await plane?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('no secret of the cluster is in any byte of a report that an administrator makes', async () => {
  const stored = (await kubectl('get', 'etcdclusters,pods', '-o', 'yaml')).stdout;
  // They are there to be found, once as they are and once in what kubectl repeats.
  expect(stored.split(CANARIES.variable).length - 1).toBeGreaterThan(1);
  expect(stored.split(CANARIES.appliedPod).length - 1).toBeGreaterThan(1);
  const to = join(folder, 'report.tar.gz');
  const { code, out, err } = await etcd(`report example --to ${to}`, plane.kubeconfig);
  expect(code).toBe(0);
  const plain = gunzipSync(await readFile(to)).toString('latin1');
  for (const [where, canary] of Object.entries(CANARIES))
    for (const form of [...secretForms(canary), ...secretForms(pem(canary))]) {
      expect(plain.includes(form), `${where} as ${form}`).toBe(false);
      expect(`${out}${err}`.includes(form), `${where} as ${form} on the terminal`).toBe(false);
    }
  // What support needs is there: names, also those of Secrets, events and versions.
  for (const text of [
    'name: ETCD_X',
    'name: ETCD_Y',
    'awsSecret: example-store',
    'BackupFailed',
    'store.example',
  ])
    expect(plain).toContain(text);
  expect(plain).toMatch(/Server Version: v\d/);
});

/** An address of this machine that is not refused by the apiserver, which leads nobody to the loopback. */
function address(): string {
  const found = Object.values(networkInterfaces())
    .flatMap(list => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal);
  if (found === undefined) throw new Error('this machine has no address but that of the loopback');
  return found.address;
}

describe('the figures of members', () => {
  let cluster: EtcdProcessCluster | undefined;
  let [bob, carol] = ['', ''];

  async function serve(version: string): Promise<EtcdProcess> {
    cluster = await EtcdProcessCluster.unstarted({ version });
    const member = cluster.member(0);
    member.start([
      `--initial-cluster=${member.name}=${member.peerUrl}`,
      `--listen-metrics-urls=http://${address()}:${METRICS_PORT}`,
      '--quota-backend-bytes=1073741824',
    ]);
    await member.untilHealthy();
    return member;
  }

  beforeAll(async () => {
    [bob, carol] = await Promise.all([plane.kubeconfigFor('bob'), plane.kubeconfigFor('carol')]);
    for (const user of ['bob', 'carol'])
      await kubectl('create', 'rolebinding', `${user}-views`, '--clusterrole=etcd-viewer', `--user=${user}`);
    // As docs/operations/kubectl-etcd.md says: this port, and no other.
    const right = ['--verb=get', '--resource=pods/proxy', `--resource-name=example-0:${METRICS_PORT}`];
    await kubectl('create', 'role', 'example-figures', ...right);
    await kubectl('create', 'rolebinding', 'carol-figures', '--role=example-figures', '--user=carol');
    const ref = { apiVersion: 'v1', kind: 'Pod', ...metadata, name: 'example-0' };
    const status = { phase: 'Running', podIP: address(), podIPs: [{ ip: address() }] };
    await client.patch(ref, { status }, { type: 'merge', subresource: 'status' });
  });
  afterAll(() => cluster?.stop());

  test('need a right that a viewer does not have, and that can be given for this port alone', async () => {
    const { code, out } = await etcd('status example', bob);
    expect(code).toBe(0);
    expect(out).toContain(
      'Lag, database and quota of example-0 are not known: bob may not get pods/proxy in namespace default',
    );
    const other = etcd('status example', carol);
    expect((await other).out).not.toContain('may not');
    const path = '/api/v1/namespaces/default/pods/example-0:2379/proxy/version';
    const elsewhere = run(plane.kubectl, ['--kubeconfig', carol, 'get', '--raw', path]);
    await expect(elsewhere).rejects.toMatchObject({ stderr: expect.stringContaining('Forbidden') });
  });

  test.each(etcdVersions)('are those of a real etcd %s, and of none that is silent', async version => {
    const served = await serve(version);
    const { code, out } = await etcd('status example -o json', carol);
    expect(code).toBe(0);
    const { askedFromMembersNow } = JSON.parse(out);
    expect(askedFromMembersNow).toMatchObject({
      members: [{ name: 'example-0', isLeader: true, hasLeader: true, lag: 0, dbQuota: 1_073_741_824 }],
      notAnswered: [],
    });
    const [figures] = askedFromMembersNow.members;
    expect(figures.appliedIndex).toBeGreaterThan(1);
    expect(figures.committedIndex).toBe(figures.appliedIndex);
    expect(figures.dbSize).toBeGreaterThanOrEqual(figures.dbSizeInUse);
    expect(figures.dbSizeInUse).toBeGreaterThan(0);
    served.freeze();
    const frozen = await etcd('status example', carol);
    served.thaw();
    expect(frozen).toMatchObject({
      code: 0,
      out: expect.stringContaining('of example-0 are not known: no answer within 3 s'),
    });
    await cluster?.stop();
    cluster = undefined;
  });
});
