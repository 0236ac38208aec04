/**
 * The operator as a release of its chart, on a stack of its own where nothing else was installed: upgraded and rolled back while it
 * works, uninstalled, installed again for all namespaces and for one. Clusters are served all the while, and no member restarts.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { down } from '../../../local/stack/index.ts';
import { ChartRelease } from '../../stack/chart-release.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { guard } from '../../stack/drill/installation.ts';
import { Shell } from '../../stack/drill/shell.ts';
import {
  awaitCondition,
  awaitRunning,
  createNamespace,
  manifest,
  podsOf,
  readCluster,
  startBareWorld,
  testStack,
} from '../../stack/e2e.ts';
import { type Helm, startHelm, TEMPORAL } from '../../stack/helm.ts';
import { restartsOf } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const STACK = `${testStack()}-helm`;
const NAMESPACE = 'drill-helm';
const OPERATORS = 'etcd-operator';
const WAIT = { timeoutMs: 240_000 };
/** What is of the whole Kubernetes cluster, another release has. */
const SHARED = ['--set', 'crds.install=false', '--set', 'users.install=false'] as const;

let helm: Helm;
let release: ChartRelease;

// Before those of the cluster, and so after them: they run in reverse.
afterAll(async () => {
  await helm?.close();
  await down(STACK, { wipe: true });
});

const cluster = drilledCluster(NAMESPACE, 3, {}, async () => {
  await down(STACK, { wipe: true });
  const world = await startBareWorld(STACK);
  helm = await startHelm(world.stack.kubeconfig);
  await createNamespace(world, OPERATORS);
  release = new ChartRelease(world, helm, OPERATORS);
  await release.install(...TEMPORAL);
  await release.ready();
  return world;
});
const { at, world } = cluster;

const kubectl = (...args: string[]): Promise<string> => world().stack.kubectl(...args);
const status = async () => (await readCluster(world(), at.namespace, at.name))?.status;

const condition = async (name: string) => (await status())?.conditions?.find(({ type }) => type === name);

const { members, untouched, whileSizeChanges, servesAlone, uidOf } = guard(cluster);

const CRDS = ['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdrequests'].map(
  kind => `crd/${kind}.etcd.database.coreos.com`,
);

test('a change of size survives helm upgrade with other values', async () => {
  expect(await release.variable('LOG_LEVEL')).toBe('info');
  await whileSizeChanges(release, { title: 'helm upgrade while 3 → 5', size: 5 }, () =>
    release.upgrade('--set', 'config.LOG_LEVEL=debug'),
  );
  expect(await release.variable('LOG_LEVEL')).toBe('debug');
});

test('a change of size survives helm rollback', async () => {
  await whileSizeChanges(release, { title: 'helm rollback while 5 → 3', size: 3, lost: 2 }, () =>
    release.rollback(1),
  );
  expect(await release.variable('LOG_LEVEL')).toBe('info');
});

test('helm uninstall leaves clusters, and a release of the same name takes them over', async () => {
  const before = await members();
  const kept = [['etcd', at.name, '-n', at.namespace], ...CRDS.map(crd => [crd]), ['clusterrole/etcd-admin']];
  const uids = await Promise.all(kept.map(object => uidOf(...object)));
  expect(await release.uninstall()).toContain('kept due to the resource policy');
  expect(await kubectl('get', 'clusterrole,clusterrolebinding', OPERATORS, '--ignore-not-found')).toBe('');
  await servesAlone();
  // Nobody acts on it now.
  await cluster.apply({ size: 4 });
  await untouched(before);
  expect(await members()).toEqual(before);
  await release.install(...TEMPORAL);
  await release.ready();
  expect(await Promise.all(kept.map(object => uidOf(...object)))).toEqual(uids);
  await poll(async () => (await members()).size === 4, WAIT);
  await awaitCondition(world(), at, { type: 'Healthy', ...WAIT });
  await untouched(before);
});

test('a release for one namespace takes over, with rights in that namespace alone', async () => {
  const before = await members();
  // The release for all namespaces keeps what is of the whole Kubernetes cluster.
  await release.upgrade('--set', 'operator.install=false');
  await release.gone();
  const own = new ChartRelease(world(), helm, at.namespace);
  const flags = [...TEMPORAL, ...SHARED, '--set', `watchNamespace=${at.namespace}`];
  await own.install(...flags);
  await own.ready();
  // Its workflows stay at the task queue that they were started with, and it says so.
  await awaitCondition(world(), at, { type: 'PassFailing', ...WAIT });
  expect(await condition('PassFailing')).toMatchObject({
    reason: 'OtherTaskQueue',
    message: expect.stringContaining('temporal.taskQueue of the chart) to "etcd-operator"'),
  });
  await own.upgrade('--set', 'temporal.taskQueue=etcd-operator');
  await own.ready();
  await awaitCondition(world(), at, { type: 'PassFailing', status: 'False', ...WAIT });
  const account = `--as=system:serviceaccount:${at.namespace}:etcd-operator`;
  const may = async (...what: string[]): Promise<string> =>
    (await kubectl('auth', 'can-i', ...what, account).catch((error: Error) => error.message)).trim();
  expect(await may('get', 'secrets', '-n', at.namespace)).toBe('yes');
  expect(await may('get', 'secrets', '-n', 'default')).not.toBe('yes');
  expect(await may('list', 'etcdclusters', '-A')).not.toBe('yes');
  // It acts where it watches, and nowhere else.
  await world().kube.apply(manifest('default', 'stranger', { size: 1 }));
  await cluster.apply({ size: 3 });
  await poll(async () => (await members()).size === 3, WAIT);
  await awaitCondition(world(), at, { type: 'Healthy', ...WAIT });
  await untouched(before, 3);
  const stranger = await readCluster(world(), 'default', 'stranger');
  // As the API server fills it in when it is created.
  expect(stranger?.status).toEqual({ conditions: [expect.objectContaining({ reason: 'NotObservedYet' })] });
  expect(stranger?.metadata.finalizers).toBeUndefined();
});

test('with a task queue of its own it starts workflows again that were terminated, and no member restarts', async () => {
  const before = await members();
  const own = new ChartRelease(world(), helm, at.namespace);
  await own.upgrade('--set', 'temporal.taskQueue=');
  await own.ready();
  const query = 'ExecutionStatus = "Running" AND TaskQueue = "etcd-operator"';
  await world().temporal('workflow', 'terminate', '--yes', '--reason', 'a drill', '--query', query);
  const workflow = (await status())?.workflowID ?? '';
  await poll(async () => {
    const reported = await world().temporal('workflow', 'describe', '-w', workflow, '-o', 'json');
    return reported.includes('RUNNING') && reported.includes(`"etcd-operator-${at.namespace}"`);
  }, WAIT);
  await poll(async () => (await condition('PassFailing'))?.status !== 'True', WAIT);
  await cluster.apply({ size: 3, paused: true });
  await awaitCondition(world(), at, { type: 'Paused', ...WAIT });
  expect(await members()).toEqual(before);
});

describe('a release with its own Temporal, beside it', () => {
  const trial = { namespace: 'trial', name: 'example' };
  const flags = ['--set', 'watchNamespace=trial', '--set', 'temporal.bundled=true', ...SHARED];
  const pods = async () =>
    (await podsOf(world(), trial.namespace, trial.name)).map(pod => `${pod.metadata.uid} ${restartsOf(pod)}`);

  test('makes a cluster available', async () => {
    await createNamespace(world(), trial.namespace);
    const own = new ChartRelease(world(), helm, trial.namespace);
    expect(await own.install(...flags)).toContain('The bundled Temporal is for trials');
    await own.ready();
    await world().kube.apply(manifest(trial.namespace, trial.name, { size: 1, version: '3.6.16' }));
    await awaitRunning(world(), trial, 240_000);
  });

  test('whose histories the plugin reads through a port that it forwards by itself', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'helm-'));
    try {
      const file = join(folder, 'report.tar.gz');
      const command = `kubectl etcd report example --operator-namespace trial --to ${file}`;
      expect(await new Shell(world(), trial.namespace).run(command)).not.toContain('not contained');
      const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' });
      expect(names).toMatch(/workflows\/createCluster-/);
      expect(names).toMatch(/logs\/operator\.log/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('and takes it over again, after the database of its Temporal went with it', async () => {
    const before = await pods();
    const own = new ChartRelease(world(), helm, trial.namespace);
    await own.uninstall();
    expect(await pods()).toEqual(before);
    await poll(
      async () =>
        (await kubectl('get', 'pvc', '-n', 'trial', '-o', 'name')).split('\n').filter(Boolean).length === 1,
      WAIT,
    );
    await own.install(...flags);
    await own.ready();
    const paused = { size: 1, version: '3.6.16', paused: true };
    await world().kube.apply(manifest(trial.namespace, trial.name, paused));
    await awaitCondition(world(), trial, { type: 'Paused', ...WAIT });
    expect(await pods()).toEqual(before);
  });
});
