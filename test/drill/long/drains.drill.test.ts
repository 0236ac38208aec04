/**
 * Nodes that are drained one after the other, as they are every month, tainted as autoscalers and clouds do it, and drained while no operator
 * runs. The cluster is written to five hundred times a second.
 */
import { afterAll, expect, test } from 'vitest';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { awaitCondition, podsOf, readCluster } from '../../stack/e2e.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { poll } from '../../stack/poll.ts';

const RATE = { writesPerSecond: 500 };
const TAINT = 'maintenance.example.com/going';
/** What the cluster autoscaler puts on a node first when it thinks of taking it away, and then when it does. */
const AUTOSCALER = [
  'DeletionCandidateOfClusterAutoscaler=1:PreferNoSchedule',
  'ToBeDeletedByClusterAutoscaler=1:NoSchedule',
];
const cluster = drilledCluster('drill-drains');
const { at, drill, world } = cluster;
const kubectl = (...args: string[]) => world().stack.kubectl(...args);
const nodes = () => world().stack.nodes;

/** Only of this cluster: what else runs there is not to be moved by a test. */
const drain = (node: string, ...more: string[]) =>
  kubectl(
    'drain',
    node,
    '--ignore-daemonsets',
    '--delete-emptydir-data',
    `--pod-selector=etcd_cluster=${at.name}`,
    ...more,
  );
const scaleOperator = (replicas: number) =>
  kubectl('-n', OPERATOR_NAMESPACE, 'scale', 'deployment/etcd-operator', `--replicas=${replicas}`);
const serving = async () => (await readyEndpoints(world(), at.namespace, at.name)).length;
/** The node is drained as an autoscaler does it, and its machine thrown away. */
async function takeAway(index: number): Promise<void> {
  const node = `${world().stack.name}-${index}`;
  for (const taint of AUTOSCALER) await kubectl('taint', 'node', node, taint);
  await kubectl('drain', node, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=180s');
  expect(await serving()).toBeGreaterThanOrEqual(2);
  await world().stack.node.remove(index);
}
/** One of the members, and its node. */
async function aMember(): Promise<readonly [string, string]> {
  const [pod] = await podsOf(world(), at.namespace, at.name);
  return [pod?.metadata.name ?? '', String((pod as { spec?: { nodeName?: string } }).spec?.nodeName)];
}
/** Every member serves, and no replacement is under way or waits. */
const allInPlace = async () =>
  (await serving()) === 3 &&
  (await readCluster(world(), at.namespace, at.name))?.status?.operation === undefined;
const allServe = () => poll(async () => (await serving()) === 3, { timeoutMs: 120_000 });

afterAll(async () => {
  for (const node of nodes()) {
    await kubectl('uncordon', node);
    await kubectl('taint', 'node', node, `${TAINT}-`).catch(() => {});
  }
  await scaleOperator(2);
});

test('each node in turn, forwards and backwards: no write fails that is tried again', async () => {
  const { verdict } = await drill(
    'drains: six nodes',
    async () => {
      for (const node of [...nodes(), ...nodes().toReversed()]) {
        await drain(node, '--timeout=120s');
        expect(await serving()).toBeGreaterThanOrEqual(2);
        await kubectl('uncordon', node);
        await allServe();
        await awaitCondition(world(), at, { type: 'Healthy' });
      }
    },
    RATE,
  );
  expect(verdict.failedForGood).toBe(0);
  expect(verdict.longestStallMs).toBeLessThan(5_000);
});

test('a node pool is rolled: a machine comes, then each old one is tainted, drained and taken away with its disk', async () => {
  const { verdict } = await drill(
    'drains: a pool of three rolled by one more machine',
    async () => {
      const spare = nodes().length + 1;
      await world().stack.node.start(spare);
      for (let index = 1; index <= spare; index += 1) {
        await takeAway(index);
        await poll(allInPlace, { timeoutMs: 300_000 });
        await awaitCondition(world(), at, { type: 'Healthy', timeoutMs: 120_000 });
        if (index < spare) await world().stack.node.start(index);
      }
    },
    { ...RATE, lost: nodes().length },
  );
  expect(verdict.failedForGood).toBe(0);
  expect(verdict.longestStallMs).toBeLessThan(5_000);
}, 1_200_000);

test('a machine comes back under its name with an empty disk: its member waits until a user has it replaced', async () => {
  const shell = new Shell(world(), at.namespace);
  const status = async () => (await readCluster(world(), at.namespace, at.name))?.status;
  // The machine is back before its Node object counts as gone, however busy this host is.
  await cluster.apply({ size: 3, repair: { replaceAfterSeconds: 3_600, maxReplacementsPerHour: 100 } });
  const { verdict } = await drill(
    'drains: a machine with an empty disk',
    async () => {
      const [member, node] = await aMember();
      const index = 1 + nodes().indexOf(node);
      await takeAway(index);
      await world().stack.node.start(index);
      await poll(async () =>
        (await status())?.conditions?.some(
          ({ type, message }) => type === 'Healthy' && message?.includes('kubectl etcd replace'),
        ),
      );
      const replacing = shell.run(`kubectl etcd replace ${at.name} ${member} --yes`);
      const { operation, ids } = await poll(async () => (await status())?.awaitedApproval);
      const named = `--operation ${operation} ${ids.map(id => `--id ${id}`).join(' ')}`;
      await shell.run(`kubectl etcd approve ${at.name} ${named} --yes`);
      await replacing;
      await poll(allInPlace, { timeoutMs: 300_000 });
    },
    { ...RATE, lost: 1 },
  );
  await cluster.apply({ size: 3 });
  expect(verdict.failedForGood).toBe(0);
}, 900_000);

test('two nodes drained at once: the second waits for the first member to be back', async () => {
  await drill(
    'drains: two at once',
    async () => {
      const [first = '', second = ''] = nodes();
      const both = [first, second].map(node => drain(node, '--timeout=180s'));
      const ended = await Promise.race(both.map((each, index) => each.then(() => index)));
      const other = both[1 - ended];
      expect(await serving()).toBeGreaterThanOrEqual(2);
      await kubectl('uncordon', [first, second][ended] ?? '');
      await other;
      expect(await serving()).toBeGreaterThanOrEqual(2);
      await kubectl('uncordon', [second, first][ended] ?? '');
      await allServe();
    },
    RATE,
  );
});

test('a node that is tainted, whose pods are deleted without asking any budget, as of a machine that a cloud takes back', async () => {
  const { verdict } = await drill(
    'drains: the node of the leader tainted',
    async () => {
      const { node } = await leaderOf(world(), at);
      const name = nodes()[node - 1] ?? '';
      await kubectl('taint', 'node', name, `${TAINT}=true:NoExecute`);
      await poll(async () => (await serving()) === 2, { timeoutMs: 60_000 });
      await kubectl('taint', 'node', name, `${TAINT}-`);
      await allServe();
    },
    RATE,
  );
  expect(verdict.longestStallMs).toBeLessThan(5_000);
});

test('a pod that is deleted with a grace of one second, as a machine with a short notice does it', async () => {
  const { verdict } = await drill(
    'drains: the leader deleted with a grace of 1 s',
    async () => {
      const { member } = await leaderOf(world(), at);
      await cluster.kubectl('delete', 'pod', member, '--grace-period=1');
      await allServe();
    },
    RATE,
  );
  expect(verdict.longestStallMs).toBeLessThan(10_000);
});

test('without an operator one node is drained, and the next one is refused', async () => {
  await drill(
    'drains: no operator',
    async () => {
      const [first = '', second = ''] = nodes();
      await scaleOperator(0);
      await poll(
        async () => {
          const pods = await kubectl(
            '-n',
            OPERATOR_NAMESPACE,
            'get',
            'pods',
            '-l',
            'app.kubernetes.io/name=etcd-operator',
            '-o',
            'name',
          );
          return pods.trim() === '';
        },
        { timeoutMs: 120_000 },
      );
      await drain(first, '--timeout=120s');
      await expect(drain(second, '--timeout=15s')).rejects.toThrow(/disruption budget|timed out|deadline/i);
      expect(await serving()).toBe(2);
      expect(await podsOf(world(), at.namespace, at.name)).toHaveLength(2);
      for (const node of [first, second]) await kubectl('uncordon', node);
      await scaleOperator(2);
      await allServe();
    },
    { ...RATE, silent: true },
  );
});
