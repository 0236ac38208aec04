/**
 * The operator as the Operator Lifecycle Manager installs it from a catalog with its bundle, on a stack of its own where nothing else was
 * installed: upgraded while it works, uninstalled, installed again for one namespace and then for two. Clusters are served all the while, and
 * no member restarts.
 */
import { afterAll, expect, test } from 'vitest';
import { ensureOperatorImage } from '../../../local/images/index.ts';
import { down } from '../../../local/stack/index.ts';
import { parseVersion } from '../../../scripts/release/semver.ts';
import { currentVersion } from '../../../scripts/version.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { guard } from '../../stack/drill/installation.ts';
import {
  awaitCondition,
  awaitRunning,
  createNamespace,
  discard,
  manifest,
  readCluster,
  sample,
  startBareWorld,
  testStack,
} from '../../stack/e2e.ts';
import { type Olm, startOlm } from '../../stack/olm.ts';
import { OlmInstallation } from '../../stack/olm-installation.ts';
import { poll } from '../../stack/poll.ts';

const STACK = `${testStack()}-olm`;
const NAMESPACE = 'drill-olm';
const OPERATORS = 'operators';
const ACCOUNT = `system:serviceaccount:${OPERATORS}:etcd-operator`;
const WAIT = { timeoutMs: 240_000 };
const CURRENT = currentVersion();
const NEXT = minorAfter(CURRENT);
/** Another than an operator without settings would serve. */
const TASK_QUEUE = 'by-olm';
const SETTINGS = { TEMPORAL_ADDRESS: 'temporal-frontend.temporal.svc:7233', TASK_QUEUE };
/** What is only in the Subscription. */
const ENV = { LOG_LEVEL: 'debug' };

/** What the page on installing says to create. */
const settings = (more: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'etcd-operator', namespace: OPERATORS },
  data: { ...SETTINGS, ...more },
});

let olm: Olm;
let operator: OlmInstallation;

// Before those of the cluster, and so after them: they run in reverse.
afterAll(async () => {
  await olm?.stop();
  await down(STACK, { wipe: true });
});

const cluster = drilledCluster(NAMESPACE, 3, {}, async () => {
  await down(STACK, { wipe: true });
  const world = await startBareWorld(STACK);
  // The next release is this checkout under another tag.
  await world.stack.loadImages([await ensureOperatorImage(world.stack.toolchain, { tag: NEXT })]);
  olm = await startOlm(world);
  await createNamespace(world, OPERATORS);
  operator = new OlmInstallation(world, olm, OPERATORS);
  const offer = await olm.prepare(CURRENT);
  await offer();
  await operator.group();
  await operator.subscribe(ENV);
  // It is not started without its settings.
  const missing = 'configmap "etcd-operator" not found';
  await poll(async () => (await operator.waitsFor()).includes(missing), WAIT);
  await olm.apply(settings());
  await operator.reaches(CURRENT, 'Succeeded');
  await operator.ready();
  return world;
});
const { at, world } = cluster;
const { members, untouched, whileSizeChanges, servesAlone, uidOf } = guard(cluster);

const kubectl = (...args: string[]): Promise<string> => world().stack.kubectl(...args);

function minorAfter(version: string): string {
  const [major, minor] = parseVersion(version) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`${version} is not a version`);
  return `${major}.${minor + 1}.0`;
}

/** Whether a user may do something. */
async function may(user: string, ...what: string[]): Promise<boolean> {
  const args = ['auth', 'can-i', ...what, `--as=${user}`];
  return (await kubectl(...args).catch((error: Error) => error.message)).trim() === 'yes';
}

/** What the replicas say that they may not do. */
async function refusals(): Promise<readonly string[]> {
  return (await operator.logs()).split('\n').filter(line => /forbidden/i.test(line));
}

/** Asks for a size, and waits until there are so many members, all of them well. */
async function resized(size: number): Promise<void> {
  await cluster.apply({ size });
  await poll(async () => (await members()).size === size, WAIT);
  await awaitCondition(world(), at, { type: 'Healthy', ...WAIT });
}

test('OLM installs what the bundle has, and its rights are enough for a cluster of the samples', async () => {
  const csv = await operator.reaches(CURRENT, 'Succeeded');
  expect(csv.metadata.annotations['olm.targetNamespaces']).toBe('');
  const requirements = csv.status?.requirementStatus ?? [];
  expect(requirements.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['CustomResourceDefinition', 'ServiceAccount']),
  );
  expect(requirements.filter(({ status }) => status !== 'Present')).toEqual([]);
  expect(await operator.variable('LOG_LEVEL')).toBe('debug');
  const budget = ['get', 'pdb', 'etcd-operator', '-n', OPERATORS];
  expect(await kubectl(...budget, '-o', 'jsonpath={.status.expectedPods}')).toBe('2');
  const example = sample(NAMESPACE);
  const place = { namespace: NAMESPACE, name: example.metadata.name };
  await world().kube.apply(example);
  const { status } = await awaitRunning(world(), place, WAIT.timeoutMs);
  const workflow = await world().temporal(
    'workflow',
    'describe',
    '-w',
    status?.workflowID ?? '',
    '-o',
    'json',
  );
  expect(workflow).toContain(`"${TASK_QUEUE}"`);
  await discard(world(), NAMESPACE, example.metadata.name);
  expect(await refusals()).toEqual([]);
});

test('OLM lets anyone who may edit a namespace create what the bundle defines', async () => {
  const create = ['create', 'etcdrequests', '-n', NAMESPACE];
  const status = ['--subresource=status', '-n', NAMESPACE];
  expect(await may('ana', ...create)).toBe(false);
  await kubectl('-n', NAMESPACE, 'create', 'rolebinding', 'ana', '--clusterrole=edit', '--user=ana');
  await poll(() => may('ana', ...create), WAIT);
  expect(await may('ana', 'update', 'etcdclusters', ...status)).toBe(false);
});

test('settings stay while OLM forgets the Subscription, as it may for a moment in an upgrade', async () => {
  await whileSizeChanges(operator, { title: 'Subscription forgotten while 3 → 5', size: 5 }, async () => {
    await operator.installed('etcd-operator.v0.0.0');
    await poll(async () => (await operator.variable('LOG_LEVEL')) === '', WAIT);
  });
  await operator.installed(`etcd-operator.v${CURRENT}`);
  await poll(async () => (await operator.variable('LOG_LEVEL')) === 'debug', WAIT);
  await operator.reaches(CURRENT, 'Succeeded');
  await operator.ready();
  await resized(3);
});

test('the next release takes over in the middle of a change of size', async () => {
  const crds = ['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdrequests'].map(
    kind => `crd/${kind}.etcd.database.coreos.com`,
  );
  const kept = [...crds, 'crd/clusterserviceversions.operators.coreos.com'].map(crd => [crd]);
  const uids = await Promise.all(kept.map(object => uidOf(...object)));
  operator.phases.clear();
  const offerNext = await olm.prepare(NEXT);
  await whileSizeChanges(operator, { title: 'upgrade by OLM while 3 → 5', size: 5 }, async () => {
    await offerNext();
    await operator.reaches(NEXT, 'Installing');
  });
  const csv = await operator.reaches(NEXT, 'Succeeded');
  expect(csv.spec.replaces).toBe(`etcd-operator.v${CURRENT}`);
  await poll(async () => (await operator.versions()).length === 1, WAIT);
  expect([...operator.phases]).toContain(`etcd-operator.v${CURRENT} Replacing`);
  const images = ['get', 'pods', '-n', OPERATORS, '-o', 'jsonpath={.items[*].spec.containers[0].image}'];
  expect((await kubectl(...images)).split(' ')).toEqual([`etcd-operator:${NEXT}`, `etcd-operator:${NEXT}`]);
  expect(await operator.variable('LOG_LEVEL')).toBe('debug');
  expect(await Promise.all(kept.map(object => uidOf(...object)))).toEqual(uids);
  // For a second or two, while OLM removes the rights of the release before, it has none.
  await poll(() => may(ACCOUNT, 'list', 'etcdclusters', '-A'), WAIT);
});

test('without its ClusterServiceVersion clusters are served, and no operator acts on them', async () => {
  const before = await members();
  await operator.uninstall();
  const left = ['get', 'deployment,role,rolebinding,serviceaccount', '-n', OPERATORS, '-o', 'name'];
  expect((await kubectl(...left)).split('\n').filter(name => name.includes('etcd-operator'))).toEqual([]);
  await servesAlone();
  await cluster.apply({ size: 4 });
  await untouched(before);
  expect(await members()).toEqual(before);
});

test('installed again for one namespace it takes over, with rights in that namespace alone', async () => {
  const before = await members();
  await world().kube.apply(manifest('default', 'stranger', { size: 1 }));
  await operator.group(at.namespace);
  await operator.subscribe(ENV);
  const csv = await operator.reaches(NEXT, 'Succeeded');
  expect(csv.metadata.annotations['olm.targetNamespaces']).toBe(at.namespace);
  await operator.ready();
  await resized(4);
  await untouched(before, 4);
  expect(await may(ACCOUNT, 'get', 'secrets', '-n', at.namespace)).toBe(true);
  expect(await may(ACCOUNT, 'get', 'secrets', '-n', 'default')).toBe(false);
  expect(await may(ACCOUNT, 'list', 'etcdclusters', '-A')).toBe(false);
  const stranger = await readCluster(world(), 'default', 'stranger');
  expect(stranger?.status).toEqual({ conditions: [expect.objectContaining({ reason: 'NotObservedYet' })] });
  expect(stranger?.metadata.finalizers).toBeUndefined();
  expect(await refusals()).toEqual([]);
});

test('a second namespace of its OperatorGroup is looked after as soon as it is named', async () => {
  const before = await members();
  await operator.group(at.namespace, 'default');
  await awaitRunning(world(), { namespace: 'default', name: 'stranger' }, WAIT.timeoutMs);
  const csv = await operator.reaches(NEXT, 'Succeeded');
  expect(csv.metadata.annotations['olm.targetNamespaces']?.split(',').sort()).toEqual(
    ['default', at.namespace].sort(),
  );
  await operator.ready();
  await untouched(before);
  expect(await may(ACCOUNT, 'list', 'etcdclusters', '-A')).toBe(false);
});

test('a changed setting is in force once the pods were deleted', async () => {
  const before = await operator.replicas();
  await olm.apply(settings({ TEMPORAL_RETENTION_DAYS: '31' }));
  await kubectl('-n', OPERATORS, 'delete', 'pod', '-l', 'app.kubernetes.io/name=etcd-operator');
  await operator.ready();
  expect((await operator.replicas()).filter(uid => before.includes(uid))).toEqual([]);
  const shown = ['node', '-p', 'process.env.TEMPORAL_RETENTION_DAYS'];
  const days = await kubectl('-n', OPERATORS, 'exec', 'deployment/etcd-operator', '--', ...shown);
  expect(days.trim()).toBe('31');
});
