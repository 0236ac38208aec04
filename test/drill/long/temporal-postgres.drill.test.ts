/**
 * Upgrades with a real Temporal on PostgreSQL (decision 57), on a stack of their own: its database dies, its disk takes no more,
 * the server dies, while the cluster is written to. Each member is restarted once, and each step is done once.
 */
import { afterAll, expect, test } from 'vitest';
import { down } from '../../../local/stack/index.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import type { Drill } from '../../stack/drill/drill.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import { awaitCondition, holds, podsOf, readCluster, startWorld, testStack } from '../../stack/e2e.ts';
import { restartsOf } from '../../stack/operator-processes.ts';
import { poll } from '../../stack/poll.ts';

const STACK = `${testStack()}-pg`;
const SIZE = 3;
/** Longer than any call of the operator to Temporal is tried for. */
const AWAY_MS = 40_000;

// Before that of the cluster, and so after it: they run in reverse.
afterAll(() => down(STACK, { wipe: true }));

const cluster = drilledCluster('drill-temporal-postgres', SIZE, { version: '3.6.5' }, () =>
  startWorld(STACK, { temporal: 'postgres' }),
);
const { at, drill, world } = cluster;
const { arrive, edit, reached } = upgradesOf(cluster);

interface Member {
  readonly uid: string;
  readonly restarts: number;
}

async function members(): Promise<Record<string, Member>> {
  const pods = await podsOf(world(), at.namespace, at.name);
  return Object.fromEntries(
    pods.map(pod => [pod.metadata.name, { uid: pod.metadata.uid ?? '', restarts: restartsOf(pod) }]),
  );
}

const once = (before: Readonly<Record<string, Member>>): Record<string, Member> =>
  Object.fromEntries(
    Object.entries(before).map(([name, { uid, restarts }]) => [name, { uid, restarts: restarts + 1 }]),
  );

interface Event {
  readonly reason: string;
  readonly message: string;
  readonly count?: number;
}

/** Each member is reported once: nothing that was done was done again. */
async function upgradedOnce(version: string): Promise<void> {
  const listed = await cluster.kubectl('get', 'events', '--output=json');
  const { items } = JSON.parse(listed) as { items: Event[] };
  const reported = items.filter(
    ({ reason, message }) => reason === 'MemberUpgraded' && message.includes(version),
  );
  expect(reported).toHaveLength(SIZE);
  expect(new Set(reported.map(({ message }) => message)).size).toBe(SIZE);
  expect(reported.map(({ count }) => count ?? 1)).toEqual(reported.map(() => 1));
}

/** Waits for so long, and sees that clients are served meanwhile. */
async function served({ acknowledged }: Pick<Drill, 'acknowledged'>, ms: number): Promise<void> {
  const before = acknowledged();
  const end = performance.now() + ms;
  await poll(async () => performance.now() > end, { timeoutMs: ms + 60_000 });
  expect(acknowledged()).toBeGreaterThan(before);
}

async function upgrade(title: string, to: string, disturb: (drill: Drill) => Promise<void>): Promise<void> {
  const before = await members();
  await drill(title, async running => {
    await edit({ version: to });
    await reached(to, 1);
    await disturb(running);
    await arrive(to, 600_000);
  });
  expect(await members()).toEqual(once(before));
  await upgradedOnce(to);
}

test('PostgreSQL is killed in the middle of an upgrade, and is away for a while', async () => {
  await upgrade('PostgreSQL killed', '3.6.16', async running => {
    await world().stack.postgres.stop();
    try {
      await served(running, AWAY_MS);
      await awaitCondition(world(), at, { type: 'TemporalUnavailable', timeoutMs: 120_000 });
    } finally {
      await world().stack.postgres.start();
    }
  });
});

test('PostgreSQL takes no writes for a minute, as with a full disk, and then Temporal is killed', async () => {
  const { temporal } = world().stack;
  await upgrade('PostgreSQL read-only, Temporal killed', '3.7.3', async running => {
    await setReadOnly('on');
    try {
      await served(running, 60_000);
    } finally {
      await setReadOnly('off');
    }
    await temporal.stop();
    await served(running, 10_000);
    await temporal.start();
  });
  await poll(async () => !holds(await readCluster(world(), at.namespace, at.name), 'TemporalUnavailable'));
});

/** New transactions of every connection, also of those that are open, may only read. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const { postgres } = world().stack;
  await postgres.sql(`SET default_transaction_read_only = off;
    ALTER SYSTEM SET default_transaction_read_only = ${value};
    SELECT pg_reload_conf();`);
}
