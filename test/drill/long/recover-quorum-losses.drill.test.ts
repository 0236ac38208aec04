/**
 * Quorums that are lost in other ways than by their claims, each recovered as docs/operations/disaster.md says: machines that are gone, volumes that
 * are there and useless, a learner that was being added, a cluster with certificates and users while Temporal is wiped, and a database of 256 MiB.
 */
import { truncateSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EtcdClusterSpec, EtcdRequest } from '../../../src/api/schemas/types.ts';
import { DATA_DIR } from '../../../src/objects/etcd-arguments.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import type { Place } from '../../stack/drill/drill.ts';
import { type Journal, startJournal } from '../../stack/drill/journal.ts';
import {
  approveOffer,
  approveRecovery,
  leaderFirst,
  loseMembers,
  nodeOf,
  offeredRecovery,
  requestsIn,
  restoresIn,
} from '../../stack/drill/recoveries.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { readValues } from '../../stack/drill/stored.ts';
import { awaitRunning, claimsOf, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { killOperators, memberProcesses } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';
import { connect, fill, keySpace, live, requireUsers } from '../../stack/stack-keys.ts';

const namespace = 'drill-recover-losses';
const BUMP = 1_000_000_000;
const WRITES = 400;
const MEBIBYTES = 256;
const PATIENCE_MS = 240_000;
const SPEC: EtcdClusterSpec = {
  size: 3,
  version: '3.6.16',
  pod: ASKING_FOR_CPU,
  repair: { replaceAfterSeconds: 20 },
};

let world: World;
let page: Runbook;
useNamespace(namespace, opened => void (world = opened));
beforeAll(() => void (page = new Runbook(world, namespace, 'operations/disaster.md')));
afterAll(async () => {
  for (const index of world.stack.nodes.keys()) await world.stack.node.start(index + 1);
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
const statusOf = async (name: string) => (await readCluster(world, namespace, name))?.status ?? {};
const shown = (name: string) => async () =>
  JSON.stringify([await statusOf(name), await restoreOf(name)], null, 1);

const restoreOf = async (name: string) =>
  (await restoresIn(world, namespace)).find(({ spec }) => spec.etcdCluster.name === name);
const answers = async (name: string) =>
  (await requestsIn(world, namespace)).filter(({ spec }) => spec.clusterRef?.name === name);

async function make(name: string, spec: EtcdClusterSpec = {}) {
  const at = { namespace, name };
  await world.kube.apply(manifest(namespace, name, { ...SPEC, ...spec }));
  await awaitRunning(world, at, PATIENCE_MS);
  return at;
}

async function recovered(name: string): Promise<void> {
  await poll(async () => (await restoreOf(name))?.status?.phase === 'Succeeded', {
    timeoutMs: 2 * PATIENCE_MS,
    otherwise: shown(name),
  });
  await awaitRunning(world, { namespace, name }, PATIENCE_MS);
}

/** Whether what is missing is above the revision that was approved, and nothing else. */
async function expectLostWithin(
  name: string,
  { written, revision }: { written: readonly { key: string; revision: number }[]; revision: number },
): Promise<void> {
  const stored = await readValues((await readyEndpoints(world, namespace, name))[0] ?? '', name);
  const found = new Set(stored.map(({ key }) => key));
  const lost = written.filter(({ key }) => !found.has(key));
  console.log(
    `${name}: ${written.length} writes acknowledged, ${lost.length} lost; revision ${revision} was approved`,
  );
  expect(lost.filter(each => each.revision <= revision)).toEqual([]);
}

/**
 * Recovers the cluster while it is written to. @param lose takes the members away, the leader among them, and has the recovery approved;
 * answers the approved revision
 */
async function underWrites(
  at: Place,
  lose: (journal: Journal, members: readonly string[]) => Promise<number>,
): Promise<void> {
  const journal = startJournal(world, at, at.name);
  try {
    await poll(async () => journal.written().length >= WRITES, { timeoutMs: PATIENCE_MS });
    const revision = await lose(journal, await leaderFirst(world, at));
    await recovered(at.name);
    await expectLostWithin(at.name, { written: await journal.stop(), revision });
  } finally {
    await journal.stop();
  }
}

/** Waits for an acknowledged write to the recovered cluster. */
const writtenAgain = (name: string, journal: Journal) =>
  poll(async () => (journal.written().at(-1)?.revision ?? 0) > BUMP, {
    timeoutMs: PATIENCE_MS,
    otherwise: shown(name),
  });

const seeding = (name: string) =>
  poll(async () => (await restoreOf(name))?.status?.phase === 'Seeding', {
    timeoutMs: PATIENCE_MS,
    otherwise: shown(name),
  });

test(`a database of ${MEBIBYTES} MiB: a write goes through soon after the approval`, async () => {
  const at = await make('large');
  const etcd = await connect(world, at);
  await fill(etcd, MEBIBYTES);
  etcd.close();
  await underWrites(at, async (journal, [first = '', second = '']) => {
    await loseMembers(world, namespace, first, second);
    await offeredRecovery(world, at);
    const approvedAt = performance.now();
    const revision = await approveOffer(world, page, at);
    await writtenAgain(at.name, journal);
    console.log(`${MEBIBYTES} MiB: first acknowledged write ${seconds(approvedAt)} after the approval`);
    return revision;
  });
  await kubectl('delete', 'etcd', at.name);
}, 900_000);

test('certificates, users, leases, and Temporal wiped in the middle: all of it is there again', async () => {
  const at = await make('sealed', { TLS: { auto: {} } });
  const etcd = await connect(world, at);
  await live(etcd);
  await requireUsers(etcd, 'a password');
  const before = await keySpace(etcd);
  etcd.close();
  const [first = '', second = ''] = await leaderFirst(world, at);
  await loseMembers(world, namespace, first, second);
  await approveOffer(world, page, at);
  await seeding(at.name);
  await world.stack.temporal.wipe();
  killOperators(world);
  await recovered(at.name);
  const again = await connect(world, at);
  try {
    const after = await keySpace(again);
    expect(after.keys).toEqual(before.keys);
    expect(after.revision).toBeGreaterThan(BUMP);
  } finally {
    again.close();
  }
  const clientOf = await kubectl('get', 'secret', `${at.name}-client-tls`, '-o', 'name');
  expect(clientOf).toContain(at.name);
  await kubectl('delete', 'etcd', at.name);
}, 900_000);

test('two volumes that are there and useless: nothing is offered, and they are given up by their ids', async () => {
  const at = await make('useless');
  await underWrites(at, async (_, [first = '', second = '', survivor = '']) => {
    const { lastSeen = [] } = await statusOf(at.name);
    const ids = lastSeen.filter(({ name }) => name !== survivor).map(({ id }) => id);
    for (const member of [first, second]) {
      const [pid = 0] = memberProcesses(world, at, member);
      process.kill(pid, 'SIGSTOP');
      truncateSync(`/proc/${pid}/root${DATA_DIR}/member/snap/db`, 8_192);
      process.kill(pid, 'SIGKILL');
    }
    // As a person does it: with what is known, and then with what the answer names.
    const known = Number(lastSeen.find(({ name }) => name === survivor)?.revision ?? 0);
    let revision = known;
    await poll(
      async () => {
        const tried = (await answers(at.name)).length;
        await approveRecovery(page, at.name, { survivor, revision, ids }).catch(() => undefined);
        const answer = await poll(
          async () => {
            const all = await answers(at.name);
            const newest = all.toSorted((a, b) => timeOf(a) - timeOf(b)).at(-1);
            return all.length > tried && isJudged(newest) ? newest : undefined;
          },
          { timeoutMs: PATIENCE_MS, otherwise: shown(at.name) },
        );
        console.log(`useless: ${answer.status?.phase}: ${answer.status?.message}`);
        revision = Number(/has revision (\d+)/.exec(answer.status?.message ?? '')?.[1] ?? revision);
        return answer.status?.phase === 'Completed';
      },
      { timeoutMs: PATIENCE_MS, intervalMs: 10_000, otherwise: shown(at.name) },
    );
    return revision;
  });
  await kubectl('delete', 'etcd', at.name);
}, 900_000);

const isJudged = (request: EtcdRequest | undefined): boolean =>
  !['', 'Pending', 'Accepted', undefined].includes(request?.status?.phase);
const timeOf = ({ metadata }: EtcdRequest): number => Date.parse(String(metadata.creationTimestamp ?? 0));

test('a learner that is being added when the quorum is lost: it never voted, and is given up with the others', async () => {
  const at = await make('joining');
  await underWrites(at, async (_, [first = '', second = '']) => {
    // No node takes the pod of the learner.
    await world.stack.kubectl('cordon', ...world.stack.nodes);
    try {
      await loseMembers(world, namespace, first);
      const learner = await poll(
        async () => {
          const { name } = (await statusOf(at.name)).learner ?? {};
          const claims = (await claimsOf(world, namespace, at.name)).map(({ metadata }) => metadata.name);
          return name !== undefined && claims.includes(name) ? name : undefined;
        },
        { timeoutMs: PATIENCE_MS, otherwise: shown(at.name) },
      );
      await loseMembers(world, namespace, second);
      const { givenUp = [] } = await offeredRecovery(world, at);
      expect(givenUp.map(({ name }) => name).toSorted()).toEqual([second, learner].toSorted());
    } finally {
      await world.stack.kubectl('uncordon', ...world.stack.nodes);
    }
    return approveOffer(world, page, at);
  });
  await kubectl('delete', 'etcd', at.name);
}, 900_000);

test('two machines that are gone with their disks: recovered on the one that is left', async () => {
  const at = await make('machines');
  await underWrites(at, async journal => {
    const pods = await podsOf(world, namespace, at.name);
    const [home, ...others] = [...new Set(pods.map(pod => nodeOf(world, pod)))];
    expect(home).toBeDefined();
    expect(others).toHaveLength(2);
    for (const node of others) await world.stack.node.remove(node);
    const lostAt = performance.now();
    await offeredRecovery(world, at);
    console.log(`machines: offered ${seconds(lostAt)} after two of three nodes were removed`);
    const approvedAt = performance.now();
    const revision = await approveOffer(world, page, at);
    await seeding(at.name);
    killOperators(world);
    await writtenAgain(at.name, journal);
    console.log(`machines: first acknowledged write ${seconds(approvedAt)} after the approval`);
    return revision;
  });
}, 900_000);
