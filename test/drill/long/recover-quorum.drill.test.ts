/**
 * A quorum that is lost for good under writes, recovered as docs/operations/disaster.md says with the operators killed in the middle; and
 * nodes that are cut off or without power, which are never given up.
 */
import { beforeAll, expect, test } from 'vitest';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { readyEndpoints } from '../../stack/drill/endpoints.ts';
import { contradictions, startJournal } from '../../stack/drill/journal.ts';
import { leaderFirst, loseMembers, nodeOf, requestsIn, restoresIn } from '../../stack/drill/recoveries.ts';
import { Runbook } from '../../stack/drill/runbook.ts';
import { readValues } from '../../stack/drill/stored.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  manifest,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { killOperators } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const namespace = 'drill-recover-quorum';
const BUMP = 1_000_000_000;
const WRITES = 400;
const PATIENCE_MS = 240_000;
const SPEC = {
  size: 3,
  version: '3.6.16',
  pod: ASKING_FOR_CPU,
  repair: { replaceAfterSeconds: 20 },
} as const;

let world: World;
let page: Runbook;
useNamespace(namespace, opened => void (world = opened));
beforeAll(() => {
  page = new Runbook(world, namespace, 'operations/disaster.md');
});

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
const statusOf = async (name: string) => (await readCluster(world, namespace, name))?.status ?? {};

const restores = () => restoresIn(world, namespace);

test('two of three volumes are gone for good: what the third has is recovered on approval, and what is lost is in the window', async () => {
  const at = { namespace, name: 'lost' };
  await world.kube.apply(manifest(namespace, at.name, SPEC));
  await awaitRunning(world, at, PATIENCE_MS);
  const journal = startJournal(world, at, 'recovered');
  try {
    await poll(async () => journal.written().length >= WRITES);
    // The leader is among them.
    const [first = '', second = '', left = ''] = await leaderFirst(world, at);
    const { clusterID: before } = await statusOf(at.name);
    await loseMembers(world, namespace, first, second);
    const lostAt = performance.now();
    const recovery = await poll(async () => (await statusOf(at.name)).recovery, {
      timeoutMs: PATIENCE_MS,
      otherwise: async () => JSON.stringify(await statusOf(at.name), null, 1),
    });
    console.log(`offered ${seconds(lostAt)} after two of three were lost: ${JSON.stringify(recovery)}`);
    expect(recovery.member).toBe(left);
    const own = (command: string): string =>
      command
        .replaceAll('etcd recover example example-2', `etcd recover ${at.name} ${left}`)
        .replaceAll('example', at.name);
    expect(await page.type('kubectl etcd explain', own)).toContain('cannot come back');
    expect(await page.type('.status.recovery', own)).toContain(recovery.memberID);
    expect(await restores()).toEqual([]);
    const named = (recovery.givenUp ?? []).map(({ id }) => `--give-up ${id}`).join(' ');
    const approvedAt = performance.now();
    console.log(
      await page.type(
        'kubectl etcd recover',
        command => `${own(command)} --yes --revision ${recovery.revision} ${named}`,
      ),
    );
    killOperators(world);
    const [restore] = await poll(async () => (await restores()).length > 0 && restores(), {
      timeoutMs: PATIENCE_MS,
    });
    await poll(async () => (await restores())[0]?.status?.phase === 'Seeding', { timeoutMs: PATIENCE_MS });
    killOperators(world);
    console.log(await page.type('kubectl get etcdrestores'));
    await poll(async () => (journal.written().at(-1)?.revision ?? 0) > BUMP, {
      timeoutMs: PATIENCE_MS,
      otherwise: async () => JSON.stringify([await statusOf(at.name), await restores()], null, 1),
    });
    console.log(
      `first acknowledged write ${seconds(approvedAt)} after the approval, with every operator killed twice`,
    );
    await page.type('kubectl wait etcdrestore --all');
    await awaitRunning(world, at, PATIENCE_MS);
    expect(await page.type('kubectl get etcd example', command => own(command))).toContain('3/3');
    const written = await journal.stop();
    const stored = await readValues((await readyEndpoints(world, namespace, at.name))[0] ?? '', 'recovered');
    const found = new Set(stored.map(({ key }) => key));
    const lost = written.filter(({ key }) => !found.has(key));
    console.log(
      `${written.length} writes acknowledged, ${lost.length} of them lost; revision ${recovery.revision} was approved`,
    );
    // Nothing but what was said: all that is lost is above the revision that was approved.
    expect(lost.filter(({ revision }) => revision <= recovery.revision)).toEqual([]);
    expect(contradictions(written, stored, { revision: recovery.revision, bump: BUMP })).toEqual([]);
    const { clusterID, history } = await statusOf(at.name);
    expect(clusterID).not.toBe(before);
    expect(history?.find(({ type }) => type === 'recoverQuorum')).toMatchObject({ outcome: 'Succeeded' });
    // The survivor's volume is kept.
    expect((await claimsOf(world, namespace, at.name)).map(({ metadata }) => metadata.name)).toContain(left);
    expect((await restores()).map(({ metadata }) => metadata.name)).toEqual([restore?.metadata.name]);
  } finally {
    await journal.stop();
  }
}, 900_000);

test.each([
  { how: 'cut off', away: 'disconnect', back: 'connect' },
  { how: 'without power', away: 'stop', back: 'start' },
] as const)(
  'two of three nodes are $how: nothing is offered, a request is refused, and they come back with every write',
  async ({ how, away, back }) => {
    const at = { namespace, name: `away-${back}` };
    await world.kube.apply(manifest(namespace, at.name, SPEC));
    await awaitRunning(world, at, PATIENCE_MS);
    const journal = startJournal(world, at, at.name);
    try {
      await poll(async () => journal.written().length >= WRITES);
      const pods = await podsOf(world, namespace, at.name);
      const [left = '', ...others] = pods.map(({ metadata }) => metadata.name);
      const home = nodeOf(world, pods[0] as (typeof pods)[number]);
      const nodes = [...new Set(pods.map(pod => nodeOf(world, pod)))].filter(node => node !== home);
      expect(nodes.length).toBeGreaterThan(0);
      const { clusterID: before, lastSeen = [] } = await statusOf(at.name);
      const ids = lastSeen.filter(({ name }) => others.includes(name)).map(({ id }) => `--give-up ${id}`);
      for (const node of nodes) await world.stack.node[away](node);
      try {
        // The operator, Temporal or both may have been there: as soon as one is back, it is judged.
        await poll(
          async () => (await statusOf(at.name)).conditions?.some(({ reason }) => reason === 'QuorumLost'),
          { timeoutMs: PATIENCE_MS, otherwise: async () => JSON.stringify(await statusOf(at.name), null, 1) },
        );
        expect((await statusOf(at.name)).recovery).toBeUndefined();
        const sent = await page.type(
          'kubectl etcd recover',
          command =>
            `${command.replace('example example-2', `${at.name} ${left}`)} --yes --revision 1 ${ids.join(' ')}`,
        );
        console.log(sent);
        const refused = await poll(
          async () =>
            (await requestsIn(world, namespace)).find(
              ({ spec, status }) => spec.clusterRef?.name === at.name && status?.phase === 'Refused',
            ),
          {
            timeoutMs: PATIENCE_MS,
            otherwise: async () => JSON.stringify(await requestsIn(world, namespace), null, 1),
          },
        );
        console.log(`${how}: ${refused.status?.message}`);
        expect(refused.status?.message).toMatch(/may come back/);
      } finally {
        for (const node of nodes) await world.stack.node[back](node);
      }
      await awaitCondition(world, at, { type: 'Healthy', timeoutMs: PATIENCE_MS });
      const { clusterID } = await statusOf(at.name);
      expect(clusterID).toBe(before);
      const written = await journal.stop();
      const stored = await readValues((await readyEndpoints(world, namespace, at.name))[0] ?? '', at.name);
      const found = new Set(stored.map(({ key }) => key));
      expect(written.filter(({ key }) => !found.has(key))).toEqual([]);
      expect((await restores()).filter(({ spec }) => spec.etcdCluster.name === at.name)).toEqual([]);
    } finally {
      await journal.stop();
    }
  },
  900_000,
);
