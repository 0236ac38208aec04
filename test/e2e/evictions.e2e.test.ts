/** Evictions through the API, as a node drain makes them: they take no quorum, whatever somebody has written into the specification. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { awaitRunning, discard, manifest, readCluster, type World } from '../stack/e2e.ts';
import { leaderOf } from '../stack/drill/drill.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'evictions';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const BUDGET = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', namespace: NAMESPACE } as const;

interface BudgetStatus {
  readonly disruptionsAllowed?: number;
  readonly desiredHealthy?: number;
  readonly expectedPods?: number;
  readonly conditions?: readonly { readonly type: string; readonly reason: string }[];
}

async function budgetOf(name: string): Promise<BudgetStatus> {
  const found = await world.kube.get({ ...BUDGET, name });
  return (found?.['status'] ?? {}) as BudgetStatus;
}

/** Whether the eviction was let through. */
async function evict(pod: string): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'eviction-'));
  const file = join(folder, 'eviction.json');
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name: pod, namespace: NAMESPACE },
  };
  writeFileSync(file, JSON.stringify(eviction));
  try {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`;
    await world.stack.kubectl('create', '--raw', path, '-f', file);
    return true;
  } catch (error) {
    if (!/disruption budget|TooManyRequests/.test(String(error))) throw error;
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('of five voters one goes, also when three are wanted and the cluster is paused', async () => {
  const name = 'five';
  await world.kube.apply(manifest(NAMESPACE, name, { size: 5, version: '3.6.16' }));
  await awaitRunning(world, { namespace: NAMESPACE, name });
  await poll(async () => (await budgetOf(name)).disruptionsAllowed === 1);
  // An integer needs no scale subresource, which the disruption controller cannot read before it has discovered the kind.
  expect(await budgetOf(name)).toMatchObject({
    desiredHealthy: 4,
    expectedPods: 5,
    conditions: [{ type: 'DisruptionAllowed', reason: 'SufficientPods' }],
  });
  const patch = JSON.stringify({ spec: { size: 3, paused: true } });
  await world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', name, '--type=merge', '-p', patch);
  await poll(async () => (await readCluster(world, NAMESPACE, name))?.status?.controlPaused === true);
  const evicted = [];
  for (let serial = 0; serial < 5; serial += 1)
    if (await evict(`${name}-${serial}`)) evicted.push(`${name}-${serial}`);
  expect(evicted).toEqual([`${name}-0`]);
  await discard(world, NAMESPACE, name);
});

test('while a cluster grows from one member to three, no voter goes, and a learner gets no clients', async () => {
  const name = 'growing';
  await world.kube.apply(manifest(NAMESPACE, name, { size: 1, version: '3.5.35' }));
  await awaitRunning(world, { namespace: NAMESPACE, name });
  const labels = `etcd_cluster=${name}`;
  await world.stack.kubectl(
    '-n',
    NAMESPACE,
    'patch',
    'etcd',
    name,
    '--type=merge',
    '-p',
    '{"spec":{"size":3}}',
  );
  let seen = 0;
  const allowed: (number | undefined)[] = [];
  await poll(
    async () => {
      const cluster = await readCluster(world, NAMESPACE, name);
      const details = cluster?.status?.members?.details ?? [];
      const learners = details.filter(({ role }) => role === 'Learner').map(member => member.name);
      const out = await world.stack.kubectl(
        ...['-n', NAMESPACE, 'get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}-client`],
        ...['-o', 'jsonpath={.items[*].endpoints[*].targetRef.name}'],
      );
      // Read first: a learner that was promoted meanwhile is admitted.
      const now = (await readCluster(world, NAMESPACE, name))?.status?.members?.details ?? [];
      const still = learners.filter(each =>
        now.some(({ name: of, role }) => of === each && role === 'Learner'),
      );
      expect(out.split(' ').filter(pod => still.includes(pod))).toEqual([]);
      if (still.length > 0) {
        seen += 1;
        allowed.push((await budgetOf(name)).disruptionsAllowed);
      }
      return cluster?.status?.ready === '3/3' && cluster.status.size === 3;
    },
    { timeoutMs: 180_000, intervalMs: 200 },
  );
  expect(seen).toBeGreaterThan(0);
  expect(allowed.filter(count => count !== 0)).toEqual([]);
  await poll(async () => (await budgetOf(name)).disruptionsAllowed === 1);
  const ready = await world.stack.kubectl('-n', NAMESPACE, 'get', 'pods', '-l', labels, '-o', 'name');
  expect(ready.trim().split('\n')).toHaveLength(3);
  await discard(world, NAMESPACE, name);
});

test('a leader that is evicted hands over while its pod goes on', async () => {
  const name = 'led';
  const at = { namespace: NAMESPACE, name };
  await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
  await awaitRunning(world, at);
  const handedOver: string[] = [];
  // Three seconds are enough for an operator that gets a processor: one that does not is given further chances.
  for (let round = 0; round < 5 && handedOver.length === 0; round += 1) {
    await poll(async () => (await budgetOf(name)).disruptionsAllowed === 1, { timeoutMs: 120_000 });
    const { member } = await leaderOf(world, at);
    const pod = { apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE, name: member };
    const uid = (await world.kube.get(pod))?.metadata.uid;
    expect(await evict(member)).toBe(true);
    const isMadeAnew = async () => {
      const found = await world.kube.get(pod);
      return found !== undefined && found.metadata.uid !== uid;
    };
    await poll(isMadeAnew, { timeoutMs: 120_000 });
    await awaitRunning(world, at);
    const said = await world.stack.kubectl(
      ...['-n', NAMESPACE, 'get', 'events', '--field-selector', 'reason=LeaderMoved'],
      ...['-o', 'jsonpath={.items[*].message}'],
    );
    if (said.includes(`from ${member} to `)) handedOver.push(member);
  }
  expect(handedOver).toHaveLength(1);
  await discard(world, NAMESPACE, name);
});
