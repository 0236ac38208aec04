/** Alerts seen firing as in alerts.drill.test.ts, while members, Temporal, rights and the operator are away. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import { EMPTY_WHEN_WELL, PROVOKED } from '../../stack/drill/alert-drills.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { PATIENCE_MS, WatchedAlerts } from '../../stack/drill/watched-alerts.ts';
import { awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { freshOperators, memberProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const namespace = 'drill-alerts-outages';
const at = { namespace, name: 'example' };
const OF_MEMBERS = { namespace, etcd_cluster: at.name };
const OF_OPERATOR = { namespace: OPERATOR_NAMESPACE };
/** Alerts on what happened within a quarter of an hour end so much later. */
const WINDOW_MS = 1_080_000;
/** For tests that wait for several alerts. */
const SEVERAL_MS = 4 * PATIENCE_MS;

let world: World;
let alerts: WatchedAlerts;

useNamespace(namespace, opened => void (world = opened));
beforeAll(async () => {
  await freshOperators(world, 2);
  alerts = await WatchedAlerts.start(world, namespace, at.name);
  await world.kube.apply(manifest(namespace, at.name, { size: 3, version: '3.6.16', pod: ASKING_FOR_CPU }));
  await awaitRunning(world, at, PATIENCE_MS);
});
afterAll(async () => {
  await world.stack.kubectl('uncordon', ...world.stack.nodes);
  await alerts?.stop();
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
const etcdctl = (pod: string, ...args: string[]) => kubectl('exec', pod, '--', 'etcdctl', ...args);
const operatorKubectl = (...args: string[]) => world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...args);
const applyDeploy = () =>
  world.stack.kubectl(
    ...['apply', '--server-side', '--force-conflicts', '-k'],
    new URL('../../../deploy', import.meta.url).pathname,
  );
const names = async () => (await podsOf(world, namespace, at.name)).map(({ metadata }) => metadata.name);

test(
  'the leader changes again and again',
  async () => {
    for (let change = 0; change < 6; change += 1) {
      const { leader } = (await readCluster(world, namespace, at.name))?.status ?? {};
      const next = (await names()).find(name => name !== leader) ?? '';
      const status = await etcdctl(next, 'endpoint', 'status', '--cluster', '-w', 'fields');
      const id = BigInt(
        /"MemberID" : (\d+)/.exec(await etcdctl(next, 'endpoint', 'status', '-w', 'fields'))?.[1] ?? 0,
      );
      const endpoints = [...status.matchAll(/"Endpoint" : "([^"]+)"/g)].map(([, endpoint]) => endpoint);
      await etcdctl(next, 'move-leader', id.toString(16), `--endpoints=${endpoints.join()}`);
      await poll(async () => (await leaderOf(world, at)).member === next);
    }
    await alerts.fires('EtcdMemberLeaderChanges', OF_MEMBERS);
  },
  SEVERAL_MS,
);

test(
  'a member stalls for moments: others wait for it',
  async () => {
    const { member } = await leaderOf(world, at);
    const stalled = (await names()).find(name => name !== member) ?? '';
    let isOver = false;
    const stalling = (async () => {
      while (!isOver) {
        const pids = memberProcesses(world, at, stalled);
        for (const pid of pids) process.kill(pid, 'SIGSTOP');
        await delay(700);
        for (const pid of pids) process.kill(pid, 'SIGCONT');
        await delay(1_000);
      }
    })();
    try {
      await alerts.fires('EtcdMemberPeerSlow', OF_MEMBERS);
    } finally {
      isOver = true;
      await stalling;
    }
    await awaitRunning(world, at, PATIENCE_MS);
  },
  SEVERAL_MS,
);

test(
  'one member is gone, then two, and a new cluster finds no room',
  async () => {
    const { member } = await leaderOf(world, at);
    const [first = '', second = ''] = (await names()).filter(name => name !== member);
    await world.stack.kubectl('cordon', ...world.stack.nodes);
    await world.kube.apply(manifest(namespace, 'homeless', { size: 1, version: '3.6.16' }));
    await kubectl('delete', 'pod', first);
    await alerts.fires('EtcdClusterNotCreated', { namespace, name: 'homeless' });
    await alerts.fires('EtcdClusterQuorumAtRisk', at);
    await alerts.fires('EtcdClusterMembersUnhealthy', at);
    await kubectl('delete', 'pod', second);
    await alerts.fires('EtcdMemberNoLeader', { ...OF_MEMBERS, pod: member });
    for (let write = 0; write < 8; write += 1)
      await expect(etcdctl(member, 'put', 'a', 'b', '--command-timeout=2s')).rejects.toThrow();
    await alerts.fires('EtcdMemberProposalsFailing', { ...OF_MEMBERS, pod: member });
    await alerts.fires('EtcdClusterQuorumLost', at);
    await alerts.fires('EtcdClusterUnavailable', at);
    await world.stack.kubectl('uncordon', ...world.stack.nodes);
    await kubectl('delete', 'etcd', 'homeless', '--timeout=300s');
    for (const name of [
      'EtcdClusterQuorumLost',
      'EtcdClusterUnavailable',
      'EtcdMemberNoLeader',
      'EtcdClusterQuorumAtRisk',
      'EtcdClusterMembersUnhealthy',
      'EtcdClusterNotCreated',
    ])
      await alerts.ends(name);
  },
  SEVERAL_MS,
);

test(
  'Temporal is away, and a user asks for something',
  async () => {
    await world.stack.temporal.stop();
    try {
      await world.kube.create({
        apiVersion: API_VERSION,
        kind: 'EtcdRequest',
        metadata: { namespace, name: 'unheard' },
        spec: { clusterRef: { name: at.name }, action: 'Resync', by: 'admin' },
      });
      await alerts.fires('EtcdOperatorTemporalUnreachable');
      await alerts.fires('EtcdRequestWaiting', OF_OPERATOR);
      await alerts.answers('fleet: Requests that fail (1)');
    } finally {
      await world.stack.temporal.start();
    }
    await alerts.ends('EtcdRequestWaiting');
    await alerts.ends('EtcdOperatorTemporalUnreachable');
  },
  SEVERAL_MS,
);

test(
  'the operator has no rights: it is refused, and passes fail',
  async () => {
    await world.stack.kubectl('delete', 'clusterrolebinding', 'etcd-operator');
    try {
      await kubectl('annotate', 'etcd', at.name, 'drill=refused', '--overwrite');
      await alerts.fires('EtcdOperatorForbidden');
      await alerts.answers('fleet: Calls to the API server that were refused or failed (1)');
      await world.temporal(
        ...['workflow', 'signal', '--name', 'resync', '-i', '{"by":"drill"}', '-w'],
        (await readCluster(world, namespace, at.name))?.status?.workflowID ?? '',
      );
      await alerts.fires('EtcdOperatorPassFailing', { kind: 'EtcdCluster' });
      await alerts.act('EtcdOperatorForbidden', 'deploy/rbac', OF_OPERATOR);
      await alerts.ends('EtcdOperatorPassFailing');
    } finally {
      await applyDeploy();
    }
  },
  SEVERAL_MS,
);

test(
  'no replica may hold the lease, then there is none',
  async () => {
    await operatorKubectl('delete', 'rolebinding', 'etcd-operator-lease');
    try {
      await alerts.fires('EtcdOperatorNotWatching', OF_OPERATOR);
      await operatorKubectl('scale', 'deployment/etcd-operator', '--replicas=0');
      await alerts.fires('EtcdOperatorDown');
      await alerts.act('EtcdOperatorDown', 'scale', {});
      await alerts.ends('EtcdOperatorDown');
    } finally {
      await applyDeploy();
    }
    await freshOperators(world, 2);
    await alerts.ends('EtcdOperatorNotWatching');
  },
  SEVERAL_MS,
);

test(
  'what happened within a window ends after it',
  async () => {
    for (const name of [
      'EtcdMemberLeaderChanges',
      'EtcdMemberPeerSlow',
      'EtcdMemberProposalsFailing',
      'EtcdOperatorForbidden',
    ])
      await alerts.ends(name, {}, WINDOW_MS);
  },
  2 * WINDOW_MS,
);

test('every alert that this file is about has fired, and every command of their runbooks worked', () => {
  expect([...alerts.fired].sort()).toEqual([...PROVOKED['alerts-outages.drill.test.ts']].sort());
  expect(alerts.failed).toEqual([]);
});

test('the queries of the dashboards that need outages have returned data', () => {
  expect(Object.keys(EMPTY_WHEN_WELL).filter(name => alerts.unanswered.has(name))).toEqual([]);
});
