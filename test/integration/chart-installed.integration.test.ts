/** The chart on a real kube-apiserver: what is there after it was installed, upgraded, rolled back and uninstalled. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { at, listAt } from '../deploy/manifests.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { CHART, type Helm, startHelm, TEMPORAL } from '../stack/helm.ts';
import { poll } from '../stack/poll.ts';

const run = promisify(execFile);
const CRD = 'crd/etcdclusters.etcd.database.coreos.com';
const SHARED = ['--set', 'crds.install=false,users.install=false'] as const;
/** A sentence of the CRD, and what an earlier release said there. */
const SENTENCE = 'The number of members, 1 to 7.';
const EARLIER = 'What an earlier release said of size.';

let plane: ControlPlane;
let helm: Helm;
let folder: string;

beforeAll(async () => {
  plane = await startControlPlane();
  helm = await startHelm(plane.kubeconfig);
  folder = mkdtempSync(join(tmpdir(), 'chart-'));
});
afterAll(async () => {
  await helm?.close();
  await plane?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function kubectl(...args: readonly string[]): Promise<string> {
  return (
    await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args], { maxBuffer: 64 * 1024 * 1024 })
  ).stdout;
}
const read = async (...args: readonly string[]): Promise<unknown> =>
  JSON.parse(await kubectl('get', ...args, '-o', 'json'));
/** Whether it is there. @throws Error when the server says anything else than that it is not */
async function exists(...args: readonly string[]): Promise<boolean> {
  return (await kubectl('get', ...args, '--ignore-not-found', '-o', 'name')) !== '';
}
const uidOf = async (...args: readonly string[]): Promise<unknown> =>
  at(await read(...args), 'metadata', 'uid');

async function createCluster(name: string): Promise<void> {
  await kubectl('wait', '--for=condition=Established', CRD, '--timeout=30s');
  const file = join(folder, 'cluster.json');
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'etcd.database.coreos.com/v1beta2',
      kind: 'EtcdCluster',
      metadata: { name },
      spec: {},
    }),
  );
  // Established says nothing of the handler, which may come a moment later.
  await poll(() =>
    kubectl('apply', '--server-side', '-n', 'default', '-f', file).then(
      () => true,
      () => false,
    ),
  );
}

/** The chart of an earlier release: another description in a CRD. */
function earlierChart(): string {
  const chart = join(folder, 'earlier');
  cpSync(CHART, chart, { recursive: true });
  const file = join(chart, 'templates/crds/etcdclusters.yaml');
  const text = readFileSync(file, 'utf8');
  expect(text).toContain(SENTENCE);
  writeFileSync(file, text.replaceAll(SENTENCE, EARLIER));
  return chart;
}

describe('a release', () => {
  const NAME = ['prod', '-n', 'ops'] as const;
  const deployment = (): Promise<unknown> => read('deployment', 'prod-etcd-operator', '-n', 'ops');
  const levelOf = (object: unknown): unknown =>
    at(
      listAt(object, 'spec', 'template', 'spec', 'containers', 0, 'env').find(
        variable => at(variable, 'name') === 'LOG_LEVEL',
      ),
      'value',
    );
  let crd: unknown;
  let cluster: unknown;

  test('is installed under any name and in any namespace', async () => {
    const said = await helm.run(
      'install',
      'prod',
      earlierChart(),
      '-n',
      'ops',
      '--create-namespace',
      ...TEMPORAL,
    );
    expect(said).toContain('watches all namespaces and uses Temporal at temporal-frontend.temporal.svc:7233');
    expect(at(await deployment(), 'spec', 'replicas')).toBe(2);
    for (const object of [
      ['networkpolicy', 'prod-etcd-operator', '-n', 'ops'],
      ['pdb', 'prod-etcd-operator', '-n', 'ops'],
      ['serviceaccount', 'prod-etcd-operator', '-n', 'ops'],
      ['role', 'prod-etcd-operator-lease', '-n', 'ops'],
      ['clusterrole', 'prod-etcd-operator'],
      ['clusterrole', 'etcd-viewer'],
      ['validatingadmissionpolicy', 'etcd-request-by'],
    ])
      expect([object, await exists(...object)]).toEqual([object, true]);
    await createCluster('example');
    crd = await uidOf(CRD);
    cluster = await uidOf('etcd', 'example', '-n', 'default');
    expect(JSON.stringify(await read(CRD))).toContain(EARLIER);
  });

  test('lets its account do what the operator does', async () => {
    const account = 'system:serviceaccount:ops:prod-etcd-operator';
    for (const what of [
      ['list', 'etcdclusters', '-A'],
      ['get', 'secrets', '-A'],
      ['create', 'leases', '-n', 'ops'],
    ])
      expect([what, (await kubectl('auth', 'can-i', ...what, `--as=${account}`)).trim()]).toEqual([
        what,
        'yes',
      ]);
  });

  test('is upgraded with its values and its CRDs, and clusters stay', async () => {
    const values = ['--set', 'replicas=3,config.LOG_LEVEL=debug,networkPolicy.enabled=false'];
    await helm.run('upgrade', 'prod', CHART, '-n', 'ops', ...TEMPORAL, ...values);
    expect([at(await deployment(), 'spec', 'replicas'), levelOf(await deployment())]).toEqual([3, 'debug']);
    expect(await exists('networkpolicy', 'prod-etcd-operator', '-n', 'ops')).toBe(false);
    const upgraded = JSON.stringify(await read(CRD));
    expect([upgraded.includes(SENTENCE), upgraded.includes(EARLIER)]).toEqual([true, false]);
    expect([await uidOf(CRD), await uidOf('etcd', 'example', '-n', 'default')]).toEqual([crd, cluster]);
  });

  test('is rolled back, with its CRDs', async () => {
    await helm.run('rollback', ...NAME, '1');
    expect([at(await deployment(), 'spec', 'replicas'), levelOf(await deployment())]).toEqual([2, 'info']);
    expect(await exists('networkpolicy', 'prod-etcd-operator', '-n', 'ops')).toBe(true);
    expect(JSON.stringify(await read(CRD))).toContain(EARLIER);
    expect([await uidOf(CRD), await uidOf('etcd', 'example', '-n', 'default')]).toEqual([crd, cluster]);
  });

  test('is not upgraded to values that cannot be, and stays as it is', async () => {
    expect(await helm.refusal('upgrade', 'prod', CHART, '-n', 'ops', '--set-string', 'replicas=2')).toContain(
      'got string, want integer',
    );
    expect(at(await deployment(), 'spec', 'replicas')).toBe(2);
  });

  test('leaves CRDs alone that it is not to install any more', async () => {
    await helm.run('upgrade', 'prod', CHART, '-n', 'ops', ...TEMPORAL, ...SHARED);
    expect([await uidOf(CRD), await uidOf('etcd', 'example', '-n', 'default')]).toEqual([crd, cluster]);
    expect(await exists('clusterrole', 'etcd-admin')).toBe(true);
    // And takes them again.
    await helm.run('upgrade', 'prod', CHART, '-n', 'ops', ...TEMPORAL);
    expect(JSON.stringify(await read(CRD))).toContain(SENTENCE);
  });

  test('is uninstalled, and CRDs, clusters, roles for users and the policy remain', async () => {
    const said = await helm.run('uninstall', ...NAME);
    expect(said).toContain('kept due to the resource policy');
    for (const object of [
      ['deployment', 'prod-etcd-operator', '-n', 'ops'],
      ['clusterrole', 'prod-etcd-operator'],
      ['clusterrolebinding', 'prod-etcd-operator'],
    ])
      expect([object, await exists(...object)]).toEqual([object, false]);
    expect([await uidOf(CRD), await uidOf('etcd', 'example', '-n', 'default')]).toEqual([crd, cluster]);
    for (const object of [
      ['clusterrole', 'etcd-admin'],
      ['validatingadmissionpolicybinding', 'etcd-request-by'],
    ])
      expect([object, await exists(...object)]).toEqual([object, true]);
  });

  test('is installed again under its name, and takes what it had kept', async () => {
    await helm.run('install', 'prod', CHART, '-n', 'ops', ...TEMPORAL);
    expect([await uidOf(CRD), await uidOf('etcd', 'example', '-n', 'default')]).toEqual([crd, cluster]);
  });
});

describe('releases of one name for two namespaces', () => {
  const install = (namespace: string, ...more: readonly string[]): readonly string[] => [
    ...['install', 'etcd-operator', CHART, '-n', namespace, '--create-namespace', ...TEMPORAL],
    ...['--set', `watchNamespace=${namespace}`, ...more],
  ];

  test('stand beside each other when one alone has the CRDs', async () => {
    await helm.run(...install('shop', ...SHARED));
    expect(await helm.refusal(...install('web'))).toContain('invalid ownership metadata');
    await helm.run(...install('web', ...SHARED));
    for (const namespace of ['shop', 'web'])
      expect(await exists('deployment', 'etcd-operator', '-n', namespace)).toBe(true);
  });

  test('may do nothing to Secrets of each other', async () => {
    const may = async (account: string, namespace: string): Promise<string> =>
      (
        await kubectl(
          ...['auth', 'can-i', 'get', 'secrets', '-n', namespace],
          `--as=system:serviceaccount:${account}:etcd-operator`,
        ).catch((error: { stdout: string }) => error.stdout)
      ).trim();
    expect([await may('shop', 'shop'), await may('shop', 'web')]).toEqual(['yes', 'no']);
    expect([await may('web', 'web'), await may('web', 'shop')]).toEqual(['yes', 'no']);
  });

  test('are uninstalled one by one', async () => {
    await helm.run('uninstall', 'etcd-operator', '-n', 'shop');
    expect(await exists('clusterrolebinding', 'web-etcd-operator-nodes')).toBe(true);
    expect(await exists('clusterrolebinding', 'shop-etcd-operator-nodes')).toBe(false);
    expect(await exists('deployment', 'etcd-operator', '-n', 'web')).toBe(true);
  });
});

describe('what kubectl applied', () => {
  const install = ['install', 'etcd-operator', CHART, '-n', 'etcd-operator', ...TEMPORAL];

  test('is refused by name, and taken over when that is asked for', async () => {
    await helm.run('uninstall', 'prod', '-n', 'ops');
    const cluster = await uidOf('etcd', 'example', '-n', 'default');
    const refused = await helm.refusal(...install, '--create-namespace');
    expect(refused).toMatch(
      /CustomResourceDefinition "etcd\w+\.etcd\.database\.coreos\.com" in namespace "" exists/,
    );
    await kubectl('apply', '--server-side', '--force-conflicts', '-k', join(root, 'deploy'));
    expect(await helm.refusal(...install)).toContain('invalid ownership metadata');
    // The selector of a Deployment cannot be changed: this one is deleted first, as install.md says.
    await kubectl('-n', 'etcd-operator', 'delete', 'deployment', 'etcd-operator');
    await helm.run(...install, '--take-ownership');
    expect(await uidOf('etcd', 'example', '-n', 'default')).toEqual(cluster);
    expect(at(await read(CRD), 'metadata', 'annotations', 'meta.helm.sh/release-name')).toBe('etcd-operator');
    expect(at(await read(CRD), 'metadata', 'annotations', 'helm.sh/resource-policy')).toBe('keep');
  });
});

test('what helm template prints is what the server takes, field by field and name by name', async () => {
  const values = join(folder, 'everything.json');
  writeFileSync(
    values,
    JSON.stringify({
      temporal: { bundled: true },
      watchNamespace: 'default',
      networkPolicy: { helperNamespaces: ['kube-system'] },
      imagePullSecrets: [{ name: 'pull' }],
      priorityClassName: 'system-cluster-critical',
      nodeSelector: { 'kubernetes.io/arch': 'arm64' },
      podDisruptionBudget: { maxUnavailable: '50%' },
      serviceAccount: { annotations: { a: 'b' } },
      env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }],
      config: { MAX_CACHED_WORKFLOWS: 100_000, BACKUP_ENDPOINTS_ALLOWED: ['*.example.org'] },
    }),
  );
  const file = join(folder, 'rendered.yaml');
  // The longest names that there are.
  const [release, namespace] = ['r'.repeat(53), 'n'.repeat(63)];
  await kubectl('create', 'namespace', namespace);
  writeFileSync(file, await helm.run('template', release, CHART, '-n', namespace, '--values', values));
  const applied = await kubectl(
    'apply',
    '--server-side',
    '--force-conflicts',
    '--validate=strict',
    '-f',
    file,
  );
  expect(applied).toMatch(/^deployment\.apps\/r+-[0-9a-f]{8}-temporal serverside-applied$/m);
  expect(applied).toMatch(
    /^clusterrole\.rbac\.authorization\.k8s\.io\/n{63}-r+-[0-9a-f]{8}-nodes serverside-applied$/m,
  );
});
