/**
 * `kubectl etcd` against a real apiserver with the roles and the policy of deploy/users, and real workflows that judge what it sends.
 * What passes find is scripted; the status that they would write is written here.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../../scripts/run.ts';
import { API_VERSION, workflowId } from '../../src/api/names.ts';
import type { ClosableKubeClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { WATCHER_FIELD_MANAGER } from '../../src/watcher/conditions/condition-writer.ts';
import { temporalPort } from '../../src/watcher/temporal/client.ts';
import { createWatcher } from '../../src/watcher/watcher.ts';
import type { Watcher } from '../../src/watcher/watcher-types.ts';
import { WELL } from '../plugin/bench.ts';
import { type Person, type Ran, runPlugin } from '../plugin/process.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { kubeClientOf } from '../stack/kube-client.ts';
import { ListLogger, noSurveyor } from '../watcher/fakes.ts';
import { judgingRequests } from '../worlds/judged-requests.ts';
import { Script, scriptedActivities } from '../worlds/scripted-activities.ts';
import { WorkflowBench } from '../worlds/workflow-bench.ts';

const run = promisify(execFile);
const TASK_QUEUE = 'plugin';
const script = new Script();
let plane: ControlPlane;
let bench: WorkflowBench;
let operator: ClosableKubeClient;
let watcher: Watcher;
let [admin, ana, bob, eve, carol] = ['', '', '', '', ''];
let withoutKinds: Ran;

async function kubectl(...args: string[]): Promise<void> {
  await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args]);
}

/** Waits take real time: it is a real server that is waited for. */
const etcd = (line: string, kubeconfig: string, person: Person = {}): Promise<Ran> =>
  runPlugin(line, kubeconfig, { onPause: () => setTimeout(100), ...person });

beforeAll(async () => {
  [plane, bench] = await Promise.all([startControlPlane(), WorkflowBench.start()]);
  admin = plane.kubeconfig;
  withoutKinds = await etcd('fleet', admin);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  const bind = (user: string, role: string) =>
    kubectl('create', 'rolebinding', user, '-n', 'default', `--clusterrole=${role}`, `--user=${user}`);
  await Promise.all([bind('ana', 'etcd-operator-user'), bind('bob', 'etcd-viewer')]);
  [ana, bob, eve] = (await Promise.all(['ana', 'bob', 'eve'].map(user => plane.kubeconfigFor(user)))) as [
    string,
    string,
    string,
  ];
  operator = kubeClientOf(await plane.kubeconfigFor('system:serviceaccount:etcd-operator:etcd-operator'), {
    fieldManager: WATCHER_FIELD_MANAGER,
  });
  await bench.serve({ taskQueue: TASK_QUEUE }, judgingRequests(scriptedActivities(script), operator));
  watcher = createWatcher({
    kube: operator,
    reflector: options => new Reflector({ client: operator, ...options }),
    temporal: temporalPort(() => bench.client, { taskQueue: TASK_QUEUE }),
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    surveyor: noSurveyor,
    recordEvent: () => {},
    options: { taskQueue: TASK_QUEUE },
    logger: new ListLogger(),
  });
  await watcher.start();
  const client = kubeClientOf(admin);
  const metadata = { namespace: 'default', name: 'example' };
  const cluster = { apiVersion: API_VERSION, kind: 'EtcdCluster', metadata, spec: { size: 3 } };
  await client.create(cluster);
  const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', ...metadata };
  await client.patch(ref, { status: WELL }, { type: 'merge', subresource: 'status' });
  await client.close();
}, 240_000);

afterAll(async () => {
  await watcher?.stop();
  await bench?.stop();
  await operator?.close();
  await plane?.stop();
});

test('before the operator is installed, the plugin says that', () => {
  expect(withoutKinds).toMatchObject({ code: 1, err: expect.stringContaining('is not installed there') });
});

describe('a person who may ask', () => {
  test('looks: status, fleet, explain', async () => {
    const { code, out } = await etcd('status example', ana);
    expect(code).toBe(0);
    expect(out).toMatch(/example-0 +Healthy +yes +Leader/);
    expect((await etcd('fleet', ana)).out).toMatch(/default +example +OK +3\/3/);
    expect((await etcd('explain example', ana)).out).toContain('it matches its specification');
  });

  test('pauses and resumes in their own name, and a second resume is refused', async () => {
    const paused = await etcd('pause example --wait --reason maintenance', ana, { answers: ['y'] });
    expect(paused).toMatchObject({ code: 0, err: expect.stringContaining('asked by ana.') });
    expect(paused.out).toMatch(/^etcdrequest\/pause-\S+ Completed: paused/);
    const { items } = JSON.parse((await etcd('requests example -o json', ana)).out);
    expect(items).toMatchObject([{ spec: { action: 'Pause', by: 'ana', reason: 'maintenance' } }]);
    expect(await etcd('resume example --wait --yes', ana)).toMatchObject({ code: 0 });
    const again = await etcd('resume example --wait --yes', ana);
    expect(again).toMatchObject({ code: 3, out: expect.stringContaining('Refused: nothing to resume') });
  });

  test('approves what nothing waits for: refused', async () => {
    const line = 'approve example --operation replaceMember --id 8e9e05c5 --yes --wait';
    expect(await etcd(line, ana)).toMatchObject({
      code: 3,
      out: expect.stringContaining('nothing waits for this approval'),
    });
  });

  test('--dry-run is checked by the server, and stores nothing', async () => {
    const before = JSON.parse((await etcd('requests -o json', ana)).out).items.length;
    const { code, out } = await etcd('restart example example-1 --dry-run -o json', ana);
    expect(code).toBe(0);
    // What the CRD fills in, which the plugin does not send.
    expect(JSON.parse(out).spec).toMatchObject({ member: 'example-1', ttlSecondsAfterFinished: 86_400 });
    expect(JSON.parse((await etcd('requests -o json', ana)).out).items).toHaveLength(before);
  });

  test('looks at all namespaces: the right that is missing is named', async () => {
    expect(await etcd('fleet -A', ana)).toMatchObject({
      code: 4,
      err: expect.stringContaining('ana may not list etcdclusters in all namespaces'),
    });
    expect(await etcd('fleet -A', admin)).toMatchObject({ code: 0 });
  });
});

describe('a person with too few rights', () => {
  test('a user who may only look is shown the right that asking takes', async () => {
    expect(await etcd('status example', bob)).toMatchObject({ code: 0 });
    for (const line of ['pause example --yes', 'pause example --dry-run']) {
      const { code, err } = await etcd(line, bob);
      expect(code).toBe(4);
      expect(err).toContain('bob may not create etcdrequests in namespace default');
    }
  });

  test('and is helped by the command that the message names', async () => {
    const { err } = await etcd('status example', eve);
    expect(err).toContain('eve may not get etcdclusters in namespace default');
    const line = /^kubectl (create rolebinding .*)$/m.exec(err)?.[1];
    await kubectl(...(line ?? '').split(' '));
    await expect.poll(() => etcd('status example', eve), { timeout: 30_000 }).toMatchObject({ code: 0 });
  });
});

describe('plans of what is not applied', () => {
  let file: string;

  async function write(spec: object, name = 'example'): Promise<void> {
    const cluster = { apiVersion: API_VERSION, kind: 'EtcdCluster', metadata: { name }, spec };
    await writeFile(file, JSON.stringify(cluster));
  }

  beforeAll(async () => {
    file = join(await mkdtemp(join(tmpdir(), 'plugin-plans-')), 'new.yaml');
    const resources = ['pods', 'persistentvolumeclaims', 'services', 'poddisruptionbudgets.policy'];
    const rule = ['--verb=get,list', `--resource=${resources.join(',')}`];
    await kubectl('create', 'clusterrole', 'looks-at-pods', ...rule);
    for (const role of ['etcd-admin', 'looks-at-pods'])
      await kubectl(
        'create',
        'rolebinding',
        `carol-${role}`,
        '-n',
        'default',
        `--clusterrole=${role}`,
        '--user=carol',
      );
    await kubectl(
      'create',
      'rolebinding',
      'bob-pods',
      '-n',
      'default',
      '--clusterrole=looks-at-pods',
      '--user=bob',
    );
    carol = await plane.kubeconfigFor('carol');
  });
  afterAll(() => rm(dirname(file), { recursive: true, force: true }));

  test('the API server judges the specification, and stores nothing', async () => {
    const before = await etcd('status example -o json', carol);
    await write({ size: 5 });
    // Whether there is a default StorageClass decides how the cluster would be made, and lies in no namespace.
    const { code, out } = await etcd(`diff example -f ${file}`, admin);
    expect(out).toContain('spec.size\n  - 3\n  + 5');
    expect(out).not.toContain('whether the API server would accept');
    expect(code).toBe(0);
    expect(await etcd(`diff example -f ${file}`, carol)).toMatchObject({
      code: 4,
      err: expect.stringContaining('carol may not list storageclasses, which lie in no namespace'),
    });
    await write({ size: 9 });
    expect(await etcd(`plan example -f ${file}`, carol)).toMatchObject({
      code: 3,
      err: expect.stringContaining('must be from 1 to 7'),
    });
    expect(await etcd('status example -o json', carol)).toEqual(before);
  });

  test('a user who may look at pods plans, and is shown what was not checked', async () => {
    await write({ size: 5, storage: { emptyDir: {} } });
    const { code, out } = await etcd(`plan example -f ${file}`, bob);
    expect(out).toContain('you have no right to update etcdclusters');
    expect(code).toBe(0);
  });

  test('a user who may not look at pods is shown that right', async () => {
    // In pods, for no StorageClass is looked at: of two refusals the first that arrives is reported.
    await write({ size: 3, storage: { emptyDir: {} } });
    expect(await etcd(`plan example -f ${file}`, ana)).toMatchObject({
      code: 4,
      err: expect.stringMatching(/ana may not (list|get) \w+ in namespace default[^]*--clusterrole=view/),
    });
  });

  test('a new cluster: the steps of its creation', async () => {
    await write({ size: 3, storage: { emptyDir: {} } }, 'young');
    const { code, out } = await etcd(`plan young -f ${file}`, carol);
    expect(out).toContain('createCluster');
    expect(code).toBe(0);
  });

  test('a restore is checked by the API server, and not created', async () => {
    const client = kubeClientOf(admin);
    const metadata = { namespace: 'default', name: 'nightly' };
    const backup = { apiVersion: API_VERSION, kind: 'EtcdBackup', metadata };
    const s3 = { path: 'bucket/example', awsSecret: 'aws' };
    await client.create({ ...backup, spec: { clusterRef: { name: 'example' }, storageType: 'S3', s3 } });
    const entry = { location: 's3://bucket/example/1', time: '2026-11-23T11:00:00Z', verified: 'Checksum' };
    const ref = { ...backup, ...metadata };
    await client.patch(ref, { status: { history: [entry] } }, { type: 'merge', subresource: 'status' });
    await client.close();
    const { code, out, err } = await etcd('restore example --from nightly --dry-run', carol);
    expect(err).toContain('s3://bucket/example/1');
    expect(out).toContain('revisionBump');
    expect(code).toBe(0);
    expect(await etcd('restore example --from nightly --dry-run', bob)).toMatchObject({
      code: 4,
      err: expect.stringContaining('bob may not create etcdrestores in namespace default'),
    });
  });
});

test('a report contains what the real Temporal has of the cluster', async () => {
  const client = kubeClientOf(admin);
  const ref = {
    apiVersion: API_VERSION,
    kind: 'EtcdCluster',
    namespace: 'default',
    name: 'example',
  } as const;
  const uid = (await client.get(ref))?.metadata.uid ?? '';
  const status = { ...WELL, workflowID: workflowId({ ...ref, uid }) };
  await client.patch(ref, { status }, { type: 'merge', subresource: 'status' });
  await client.close();
  const said = { by: 'ana', reason: 'maintenance' };
  await bench.client.workflow.getHandle(status.workflowID).signal('resync', said);
  const folder = await mkdtemp(join(tmpdir(), 'plugin-report-'));
  try {
    const flags = `--temporal-address ${bench.server.address} --temporal-namespace default`;
    const { err } = await etcd(`report example --to ${folder}/report.tar.gz ${flags}`, admin);
    expect(err).not.toContain('workflows:');
    await run('tar', ['-xzf', join(folder, 'report.tar.gz'), '-C', folder]);
    const workflows = join(folder, 'etcd-report-example/workflows');
    const names = (await readdir(workflows)).toSorted();
    for (const name of names) expect(name).toMatch(/^cluster-\d{8}T\d{6}Z-[0-9a-f]{8}\.json$/);
    const texts = await Promise.all(names.map(name => readFile(join(workflows, name), 'utf8')));
    // One run continues another.
    expect(JSON.parse(texts.at(-1) ?? '')).toMatchObject({ status: 'Running', type: 'etcdCluster' });
    // What ana gave as a reason by a message, decoded.
    expect(texts.join('')).toContain('"reason": "maintenance"');
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('the real kubectl', () => {
  const flags = () => ['--kubeconfig', ana];
  const path = { ...process.env, PATH: `${join(root, 'bin')}:${process.env['PATH']}` };

  test('finds the plugin, and ends with its exit code', async () => {
    const { stdout } = await run(plane.kubectl, ['etcd', 'status', 'example', ...flags()], { env: path });
    expect(stdout).toMatch(/example-0 +Healthy/);
    const unsure = run(plane.kubectl, ['etcd', 'pause', 'example', ...flags()], { env: path });
    await expect(unsure).rejects.toMatchObject({ code: 2 });
  });

  test('completes its command lines', async () => {
    const words = ['etcd', 'replace', ...flags(), 'example', ''];
    const { stdout } = await run(plane.kubectl, ['__complete', ...words], { env: path });
    expect(stdout).toBe('example-0\nexample-1\nexample-2\n:4\n');
  });
});
