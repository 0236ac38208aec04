/** Alerts seen firing as in alerts.drill.test.ts, of what is damaged: a disk, a stored backup, pods, certificates, keys, a workflow, the operator itself. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installOperator, OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { PROVOKED } from '../../stack/drill/alert-drills.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { makeWithBootstrap, renderedOtherwise } from '../../stack/drill/pods-by-hand.ts';
import { key, SealedOperator } from '../../stack/drill/sealed-operator.ts';
import { StrangeWorker } from '../../stack/drill/strange-worker.ts';
import { throwUncaught } from '../../stack/drill/uncaught-error.ts';
import { PATIENCE_MS, WatchedAlerts } from '../../stack/drill/watched-alerts.ts';
import { awaitRunning, holds, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { freshOperators, operatorProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';

const namespace = 'drill-alerts-damage';
const at = { namespace, name: 'example' };
/** Of one member. */
const earlier = { namespace, name: 'earlier' };
const SPEC = { size: 3, version: '3.6.16', pod: ASKING_FOR_CPU };
const OF_OPERATOR = { namespace: OPERATOR_NAMESPACE };
/** For tests that wait for several alerts. */
const SEVERAL_MS = 4 * PATIENCE_MS;

let world: World;
let alerts: WatchedAlerts;
let story: BackupStory;
let store: StackStore;
let operator: SealedOperator | undefined;

useNamespace(namespace, opened => void (world = opened));
beforeAll(async () => {
  await freshOperators(world, 2);
  story = new BackupStory(world, namespace);
  store = await startStackStore(world, namespace, 'S3');
  alerts = await WatchedAlerts.start(world, namespace, at.name);
  await world.kube.apply(manifest(namespace, at.name, SPEC));
  await world.kube.apply(manifest(namespace, earlier.name, { ...SPEC, size: 1 }));
  await awaitRunning(world, at, PATIENCE_MS);
  await awaitRunning(world, earlier, PATIENCE_MS);
  // Its alert takes a week, which is seven minutes here.
  for (const { metadata } of await podsOf(world, namespace, earlier.name))
    await renderedOtherwise(world, earlier, metadata.name);
  await lookAgain(earlier.name);
});
afterAll(async () => {
  await alerts?.stop();
  await store?.stop();
  await operator?.stop();
  await installOperator(world.stack);
  // What only the keys could read.
  if (operator !== undefined) await world.stack.temporal.wipe();
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
const workflowOf = async (name: string): Promise<string> =>
  (await readCluster(world, namespace, name))?.status?.workflowID ?? '';
const lookAgain = async (name: string) =>
  world.temporal(
    ...['workflow', 'signal', '--name', 'resync', '-i', '{"by":"drill"}', '-w'],
    await workflowOf(name),
  );
const isPaused = async (): Promise<boolean> => holds(await readCluster(world, namespace, at.name), 'Paused');
const isUpToDate = async (name: string): Promise<boolean> =>
  !holds(await readCluster(world, namespace, name), 'PodsOutdated');
const followers = async (): Promise<readonly string[]> => {
  const { member } = await leaderOf(world, at);
  return (await podsOf(world, namespace, at.name))
    .map(({ metadata }) => metadata.name)
    .filter(name => name !== member);
};

test(
  'a worker of another installation polls the same task queue',
  async () => {
    const stranger = await StrangeWorker.start(world);
    try {
      await alerts.fires('EtcdOperatorTaskQueueShared', OF_OPERATOR, 2 * PATIENCE_MS);
    } finally {
      await stranger.stop();
    }
    await alerts.ends('EtcdOperatorTaskQueueShared');
  },
  SEVERAL_MS,
);

test(
  'the disk under a member is slow',
  async () => {
    const [slow = ''] = await followers();
    const node = await kubectl('get', 'pod', slow, '-o', 'jsonpath={.spec.nodeName}');
    const number = world.stack.nodes.indexOf(node) + 1;
    const ofSlow = { namespace, etcd_cluster: at.name, pod: slow };
    let isOver = false;
    const writing = story.through(at.name, async etcd => {
      while (!isOver) {
        await etcd
          .put('written')
          .value(String(performance.now()))
          .exec()
          .catch(() => {});
        await delay(20);
      }
    });
    await world.stack.disk.slow(number);
    try {
      await alerts.fires('EtcdMemberFsyncSlow', ofSlow);
      await alerts.fires('EtcdMemberCommitSlow', ofSlow);
    } finally {
      await world.stack.disk.restore(number);
      isOver = true;
      await writing;
    }
    await awaitRunning(world, at, PATIENCE_MS);
  },
  SEVERAL_MS,
);

test(
  'a stored backup comes back with another bit than it was written with',
  async () => {
    const damaged = { namespace, name: 'damaged' };
    store.front.fault = ({ method, path }) => {
      const object = path.replace(/\?.*/, '');
      const isBackup = object.includes('/example/etcd') && !object.endsWith('.json');
      return method === 'GET' && isBackup ? { kind: 'flip', byte: 5_000 } : undefined;
    };
    await story.apply('EtcdBackup', damaged.name, {
      clusterRef: { name: at.name },
      storageType: 'S3' as const,
      ...blockOf(store, 'bucket/example/etcd'),
      verify: 'Structure',
      backupPolicy: { backupIntervalInSecond: 3_600, timeoutInSecond: 120 },
    });
    await alerts.fires('EtcdBackupNotVerified', damaged);
    store.front.reset();
    await alerts.act('EtcdBackupNotVerified', '--name backup', damaged);
    await alerts.ends('EtcdBackupNotVerified');
  },
  SEVERAL_MS,
);

test(
  'a pod is made by hand with the values of the bootstrap in its arguments',
  async () => {
    const [byHand = ''] = await followers();
    // While it is paused, nobody else makes the pod.
    await world.kube.apply(manifest(namespace, at.name, { ...SPEC, paused: true }));
    await poll(isPaused);
    await makeWithBootstrap(world, at, byHand);
    await world.kube.apply(manifest(namespace, at.name, SPEC));
    await alerts.fires('EtcdClusterPodMayStartEmpty', at);
    await alerts.act('EtcdClusterPodMayStartEmpty', '--name restart', at);
    await poll(() => isUpToDate(at.name), { timeoutMs: PATIENCE_MS });
  },
  SEVERAL_MS,
);

test(
  'a pod was rendered by another release of the operator',
  async () => {
    await alerts.fires('EtcdClusterPodsOutdated', earlier, 2 * PATIENCE_MS);
    await alerts.act('EtcdClusterPodsOutdated', '--name restart', earlier);
    await poll(() => isUpToDate(earlier.name), { timeoutMs: PATIENCE_MS });
  },
  SEVERAL_MS,
);

test(
  'certificates for Temporal and keys for payloads that cannot be used',
  async () => {
    operator = await SealedOperator.start(world);
    await operator.certify({ withKeyOfAnother: true });
    await operator.keys({ second: 'no key' });
    await alerts.fires('EtcdOperatorTemporalCertificatesOutdated', OF_OPERATOR);
    await alerts.fires('EtcdOperatorTemporalKeysOutdated', OF_OPERATOR);
    await operator.certify();
    await operator.keys({ second: key(), active: 'first' });
    await alerts.ends('EtcdOperatorTemporalCertificatesOutdated');
    await alerts.ends('EtcdOperatorTemporalKeysOutdated');
  },
  SEVERAL_MS,
);

test(
  'the key is lost with which the history of a workflow was encrypted: the workflow is terminated',
  async () => {
    const workflow = await workflowOf(at.name);
    let changes = 0;
    await poll(
      async () => {
        changes += 1;
        await kubectl('annotate', 'etcd', at.name, `drill=${changes}`, '--overwrite');
        const history = await world.temporal('workflow', 'show', '-o', 'json', '-w', workflow);
        return history.includes(Buffer.from('binary/encrypted').toString('base64'));
      },
      { intervalMs: 2_000 },
    );
    await operator?.keys({ first: null, active: 'none' });
    await operator?.restart();
    // Until something changes no workflow has anything to do, and none is stuck.
    await kubectl('annotate', 'etcd', at.name, 'drill=after', '--overwrite');
    await alerts.fires('EtcdOperatorWorkflowStuck', { ...at, kind: 'EtcdCluster' }, 2 * PATIENCE_MS);
    await alerts.act('EtcdOperatorWorkflowStuck', '/tmp/history.json', { ...at, kind: 'EtcdCluster' });
    // Of other resources, too, as soon as their tasks have failed often enough.
    await poll(
      async () => {
        const stuck = await alerts.firing('EtcdOperatorWorkflowStuck');
        for (const labels of stuck) await alerts.act('EtcdOperatorWorkflowStuck', 'terminate', labels);
        return stuck.length === 0;
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 30_000 },
    );
    await world.kube.apply(manifest(namespace, at.name, { ...SPEC, paused: true }));
    await poll(isPaused);
  },
  SEVERAL_MS,
);

test('the operator throws an uncaught error', async () => {
  const [pid = 0] = operatorProcesses(world);
  await throwUncaught(pid);
  await alerts.fires('EtcdOperatorUncaughtErrors', OF_OPERATOR);
  // It survives.
  expect(operatorProcesses(world)).toContain(pid);
});

test(
  'alerts that look back for five minutes end after them',
  async () => {
    for (const name of [
      'EtcdMemberFsyncSlow',
      'EtcdMemberCommitSlow',
      'EtcdClusterPodMayStartEmpty',
      'EtcdClusterPodsOutdated',
    ])
      await alerts.ends(name);
  },
  SEVERAL_MS,
);

test('every alert that this file is about has fired, and every command of their runbooks worked', () => {
  expect([...alerts.fired].sort()).toEqual([...PROVOKED['alerts-damage.drill.test.ts']].sort());
  expect(alerts.failed).toEqual([]);
});
