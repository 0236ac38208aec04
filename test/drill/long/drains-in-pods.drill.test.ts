/** Nodes drained one after the other under members with their data in their pods, as docs/operations/drain.md has it, while the cluster is written to. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { podsOf, readCluster } from '../../stack/e2e.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const PATIENCE_MS = 300_000;
const cluster = drilledCluster('drill-drains-in-pods', 3, { storage: { emptyDir: {} }, repair: {} });
const { at, drill, world } = cluster;
let page: Runbook;

beforeAll(() => void (page = new Runbook(world(), at.namespace, 'operations/drain.md')));
afterAll(async () => {
  for (const node of await nodes()) await world().stack.kubectl('uncordon', node);
});

async function nodes(): Promise<string[]> {
  const { items } = await world().kube.list({ apiVersion: 'v1', kind: 'Node' });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

/** The commands of the page are about another node and cluster; others on the stack stay where they are. */
const of = (node: string) => (command: string) =>
  command
    .replaceAll('node-1', node)
    .replaceAll('example', at.name)
    .replace('--ignore-daemonsets', `--ignore-daemonsets --pod-selector=etcd_cluster=${at.name}`);

const statusNow = async () => (await readCluster(world(), at.namespace, at.name))?.status ?? {};
const podsOn = async (node: string) =>
  (await podsOf(world(), at.namespace, at.name)).filter(
    ({ spec }) => (spec as { nodeName?: string }).nodeName === node,
  );

/** The operator replaces what is on the node, and says why. */
async function movesAway(node: string): Promise<void> {
  await poll(async () => (await statusNow()).operation?.type === 'replaceMember', {
    timeoutMs: PATIENCE_MS,
    intervalMs: 50,
  });
  expect(await page.type('status.operation.why', of(node))).toContain('a node is to be drained');
}

test('each node in turn, the third within the hour too, and both operators killed while the second drain waits', async () => {
  const before = (await podsOf(world(), at.namespace, at.name)).map(({ metadata }) => metadata.name);
  let killed = 0;
  const { verdict } = await drill(
    'drains: members with their data in their pods',
    async () => {
      for (const [index, node] of (await nodes()).entries()) {
        const held = (await podsOn(node)).map(({ metadata }) => metadata.name);
        const drained = page.type('kubectl drain', of(node));
        if (held.length > 0) await movesAway(node);
        if (index === 1) killed = killOperators(world());
        await drained;
        expect(await podsOn(node)).toEqual([]);
        await page.type('kubectl uncordon', of(node));
        await poll(async () => (await statusNow()).operation === undefined, { timeoutMs: PATIENCE_MS });
      }
    },
    { size: 3, lost: 'any' },
  );
  expect(killed).toBeGreaterThan(0);
  expect(verdict.longestStallMs).toBeLessThan(10_000);
  const { replacements = [] } = await statusNow();
  expect(replacements).toEqual([]);
  const pods = await page.type('kubectl get pods', of(''));
  expect(before.filter(name => pods.includes(`${name} `))).toEqual([]);
}, 1_200_000);

test('no command of the page is left', () => {
  expect([...page.untried]).toEqual([]);
});
