/**
 * The operator's own upgrade on a deployed stack: the release before (previous-sources.ts) is installed with its CRDs; this checkout is
 * rolled over it, rolled back, and rolled over it again, each time in the middle of operations of every kind, and held for a while where
 * replicas of both releases work. A cluster is written to all the while.
 */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Operation } from '../../../src/planner/model/decision.ts';
import { type ConditionWatch, watchConditions } from '../../stack/drill/condition-watch.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { gapsOf, type LeaseStory, watchLease } from '../../stack/drill/lease-story.ts';

import { runsOf, tasksTimedOutTwice } from '../../stack/drill/recorded-work.ts';
import { SmallClusters } from '../../stack/drill/small-clusters.ts';
import {
  endedBadly,
  failedTasks,
  stillUnderWay,
  timed,
  timedOutTasks,
  typesDuring,
  workOf,
} from '../../stack/drill/two-releases.ts';
import { load, seconds, twoOperators } from '../../stack/drill/two-operators.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';
import type { OperatorRelease } from '../../stack/operator-release.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'drill-operator-upgrade';
const KEY = 'before';
/** How long both releases work side by side at least, in milliseconds. */
const MIXED_MS = 60_000;
/** The Lease of a replica that died, and the time of a candidate to look; a replica that ends hands over at once. */
const UNWATCHED_MS = 17_000;
/** A condition may say so while a replica ends that had the pass. */
const AILING_MS = 60_000;

// A roll waits for everything that was begun, on two cores.
vi.setConfig({ testTimeout: 1_500_000 });

const { world, releases, roll } = twoOperators();
let small: SmallClusters;
let lease: LeaseStory;
let conditions: ConditionWatch;
const began = new Date();
const mixes: (readonly [number, number])[] = [];

const cluster = drilledCluster(NAMESPACE, 3, { version: '3.6.5' });
const { edit } = upgradesOf(cluster);

beforeAll(async () => {
  lease = watchLease(world());
  conditions = watchConditions(world(), NAMESPACE);
  small = new SmallClusters(world(), NAMESPACE);
  await small.restores.createClaim();
  await small.create('still');
  await small.create('small');
  await small.running('still', 'small');
  await small.restores.etcdctl('small', 'put', KEY, 'kept');
  await small.restores.backUp('seed', 'small');
});
afterAll(() => Promise.all([lease?.stop(), conditions?.stop()]));

interface Window {
  readonly title: string;
  readonly to: () => OperatorRelease;
  readonly how: () => Promise<void>;
  /** Clusters that no operation of the window touches. */
  readonly untouched: readonly string[];
  /** Asks for what is to be under way when the roll begins. */
  readonly begin: () => Promise<void>;
  /** Asks for more when both releases work, and right before the other one ends. */
  readonly mixed: () => Promise<void>;
  readonly last: () => Promise<void>;
  /** Of the members of the drilled cluster, how many lose their volumes. */
  readonly lost?: number;
}

async function rolled({ title, to, how, untouched, begin, mixed, last, lost = 0 }: Window): Promise<void> {
  const release = to();
  const before = await small.members(...untouched);
  const wasHeldBy = await lease.holder();
  const started = Date.now();
  let from = 0;
  let until = 0;
  await cluster.drill(
    title,
    async () => {
      await begin();
      from = await roll().mix(release, how);
      await mixed();
      await poll(async () => Date.now() - from >= MIXED_MS / 2);
      // The leader ends, and hands over to a replica of either release.
      await roll().retire((await lease.holder()) ?? '');
      await poll(async () => Date.now() - from >= MIXED_MS);
      await last();
      until = await roll().finish(release);
      mixes.push([from, until]);
      await small.converged();
    },
    { lost },
  );
  expect(await small.members(...untouched)).toEqual(before);
  expect(await conditions.now()).toEqual([]);
  const terms = lease.terms().filter(term => term.until >= started);
  console.log(
    `${title}: both releases worked for ${seconds(until - from)}; all was done ${seconds(Date.now() - until)} after the roll went on, ` +
      `${seconds(Date.now() - started)} after it was begun; watched by ${terms.map(term => roll().releaseOf(term.holder)).join(', then ')}, ` +
      `nobody watched for at most ${seconds(Math.max(0, ...gapsOf(terms)))}; load ${load()}`,
  );
  expect(terms[0]?.holder).toBe(wasHeldBy);
  expect(roll().releaseOf(terms.at(-1)?.holder ?? '')).toBe(release.title);
  expect(Math.max(...gapsOf(terms))).toBeLessThan(UNWATCHED_MS);
}

test('the release before works with the CRDs and roles of this one', async () => {
  await roll().applyPrerequisites(releases().current);
  await small.create('early');
  await small.running('early');
  await small.backUp('early', 'early');
  await small.converged();
});

test('this release is rolled over the one before', () =>
  rolled({
    title: 'forward',
    to: () => releases().current,
    how: () => roll().applyOperator(releases().current),
    untouched: ['still', 'early'],
    begin: async () => {
      await edit({ version: '3.6.16' });
      await upgradesOf(cluster).reached('3.6.16', 1);
      await small.copy('copy-1', 'seed');
      await small.create('made-1');
    },
    mixed: async () => {
      await small.scale('small', 3);
      await small.backUp('backup-1', 'still');
    },
    last: async () => {
      await small.create('made-1b');
      await small.backUp('backup-1b', 'still');
    },
  }));

test('it is rolled back', async () => {
  await rolled({
    title: 'back',
    to: () => releases().previous,
    how: () => roll().undo(),
    untouched: ['still', 'early', 'made-1', 'copy-1'],
    begin: async () => {
      await small.ask('restart-small', { clusterRef: { name: 'small' }, action: 'Restart' });
      await small.asked('restart-small', 'Accepted', 'Completed');
      await cluster.deletePodAndClaim(`${cluster.at.name}-1`);
      await small.copy('copy-2', 'seed');
    },
    mixed: async () => {
      await small.create('made-2');
      await small.backUp('backup-2', 'still');
    },
    last: async () => {
      await small.scale('made-1b', 3);
      await small.backUp('backup-2b', 'still');
    },
    lost: 1,
  });
});

test('a second update with operations in progress loses nothing', async () => {
  await rolled({
    title: 'forward again',
    to: () => releases().current,
    how: () => roll().applyOperator(releases().current),
    untouched: ['still', 'made-1', 'copy-1', 'made-2', 'copy-2'],
    begin: async () => {
      await edit({ etcd: { snapshotCount: 20_000 } });
      await small.copy('copy-3', 'seed');
    },
    mixed: async () => {
      // It takes seconds: it begins while both releases work.
      await small.kubectl('delete', 'etcd', 'made-1b', '--wait=false');
      await small.scale('small', 1);
      await small.kubectl('delete', 'pod', '-l', 'etcd_cluster=early', '--wait=false');
      await small.create('made-3');
      await small.backUp('backup-3', 'still');
    },
    last: async () => {
      await small.create('made-3b');
      await small.backUp('backup-3b', 'still');
    },
  });
  // What was asked for before the other release came ended under it, and is reported now.
  await small.asked('restart-small', 'Completed');
});

test('what was restored holds what was backed up', async () => {
  for (const copy of ['copy-1', 'copy-2', 'copy-3'])
    expect(await small.restores.etcdctl(copy, 'get', KEY, '--print-value-only')).toBe('kept');
});

test('no condition said for long that something is not looked after', () => {
  console.log(`conditions, milliseconds: ${JSON.stringify(conditions.longest())}`);
  for (const [what, ms] of Object.entries(conditions.longest()))
    expect({ what, isShort: ms < AILING_MS }).toEqual({ what, isShort: true });
});

/** Each was under way while both releases worked. */
const EXPECTED: readonly (Operation | 'takeBackup' | 'etcdRestore')[] = [
  'createCluster',
  'deleteCluster',
  'repairCluster',
  'replaceMember',
  'restoreCluster',
  'rolloutCluster',
  'scaleCluster',
  'upgradeCluster',
  'takeBackup',
  'etcdRestore',
];

test('in Temporal no task failed, every operation ended, and both releases worked for all kinds', async () => {
  const connection = await Connection.connect({ address: world().stack.temporalAddress });
  try {
    const client = new Client({ connection, namespace: 'etcd-operator' });
    const runs = (await runsOf(client, NAMESPACE, began)).map(timed);
    const work = runs.map(run => workOf(run, identity => roll().releaseOf(identity)));
    const sum = (title: string, what: 'tasks' | 'activities') =>
      work.reduce((all, one) => all + (one[title]?.[what] ?? 0), 0);
    const titles = [releases().previous.title, releases().current.title];
    const shared = runs.filter((_, index) => titles.every(title => (work[index]?.[title]?.tasks ?? 0) > 0));
    console.log(
      `${runs.length} runs; ${titles.map(title => `${title}: ${sum(title, 'tasks')} workflow tasks, ${sum(title, 'activities')} activities`).join('; ')}; ` +
        `both worked for ${JSON.stringify(Object.fromEntries([...Map.groupBy(shared, ({ type }) => type)].map(([type, all]) => [type, all.length])))}; ` +
        `${timedOutTasks(runs)} workflow tasks timed out, twice or more: ${tasksTimedOutTwice(runs).length}\n` +
        mixes.map(mix => `under way while both worked: ${JSON.stringify(typesDuring(runs, mix))}`).join('\n'),
    );
    expect(failedTasks(runs)).toEqual([]);
    expect(endedBadly(runs)).toEqual([]);
    // An operation ends after its resource has said that all is done.
    await poll(async () => (await stillUnderWay(client, NAMESPACE)).length === 0, {
      otherwise: async () => `still under way: ${(await stillUnderWay(client, NAMESPACE)).join(', ')}`,
    });
    const during = new Set(mixes.flatMap(mix => Object.keys(typesDuring(runs, mix))));
    expect(EXPECTED.filter(type => !during.has(type))).toEqual([]);
    expect(shared.length).toBeGreaterThan(0);
    expect(work.flatMap(one => Object.keys(one)).filter(title => !titles.includes(title))).toEqual([]);
  } finally {
    await connection.close();
  }
});
