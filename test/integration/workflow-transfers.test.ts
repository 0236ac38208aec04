/** Activities that move data have a task queue of their own: however slow they are, clusters are looked at and repaired. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BackupTurns } from '../../src/activities/backup/turns.ts';
import type { Activities } from '../../src/activities/index.ts';
import { BackupEntity } from '../worlds/backup-bench.ts';
import { approvedRepair, scriptedActivities } from '../worlds/scripted-activities.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 60_000);
afterAll(() => bench.stop());

const PLACES = 2;
const UPLOADS = 4;

/** Activities of several resources, distinguished by the workflow that asks for them. */
function routed(ofResource: ReadonlyMap<string, Activities>): Activities {
  const [any] = ofResource.values();
  const routes = Object.keys(any ?? {}).map(name => {
    const route = (...args: readonly unknown[]): unknown => {
      const { workflowExecution } = Context.current().info;
      const id = workflowExecution?.workflowId.replace(/\/operation$/, '') ?? '';
      const activities = ofResource.get(id) as Record<string, (...of: readonly unknown[]) => unknown>;
      return activities[name]?.(...args);
    };
    return [name, route] as const;
  });
  return Object.fromEntries(routes) as unknown as Activities;
}

it('stalled uploads, more than a worker has slots, do not delay the repair of a cluster', async () => {
  const cluster = bench.entity();
  const backups = Array.from({ length: UPLOADS }, () => BackupEntity.among(bench, cluster.taskQueue));
  const releases = backups.map(({ world }) => world.holdSnapshots());
  const repair = approvedRepair();
  repair.consent = undefined;
  const activities = routed(
    new Map([
      ...backups.map(backup => [backup.id, backup.activities()] as const),
      [cluster.id, scriptedActivities(repair)],
    ]),
  );
  await bench.serve(cluster, activities, { maxConcurrentActivityTaskExecutions: PLACES });
  await Promise.all(backups.map(backup => backup.changed()));
  await until(() => backups.filter(({ world }) => world.snapshots > 0).length >= PLACES);

  await cluster.changed();
  await until(() => repair.remaining.length === 0);

  for (const release of releases) release();
  await Promise.all(backups.map(backup => backup.came('Succeeded')));
  expect(backups.map(({ world }) => world.objects.length)).toEqual(backups.map(() => 1));
});

it('backups to a store that hangs wait for their turn at it, and those to other stores go on', async () => {
  const turns = new BackupTurns({ slots: 20, perStore: 2, perNode: 20 });
  const cluster = bench.entity();
  const stalled = Array.from({ length: UPLOADS }, () => BackupEntity.among(bench, cluster.taskQueue));
  const other = BackupEntity.among(bench, cluster.taskQueue, { s3: { path: 'elsewhere/etcd/example' } });
  const releases = stalled.map(({ world }) => world.holdSnapshots());
  const activities = [...stalled, other].map(backup => [backup.id, backup.activities({ turns })] as const);
  await bench.serve(cluster, routed(new Map(activities)));
  await Promise.all(stalled.map(backup => backup.changed()));
  const waiting = () => stalled.filter(({ world }) => world.status.progress?.waiting === true);
  await until(() => waiting().length === 2);

  await other.changed();
  await other.came('Succeeded');
  const message = expect.stringMatching(
    /^waits for its turn at s3:\/\/backups at .*: 2 other backups use it/,
  );
  expect(waiting().map(({ world }) => world.status.progress?.message)).toEqual([message, message]);

  for (const release of releases) release();
  await Promise.all(stalled.map(backup => backup.came('Succeeded')));
  expect(stalled.map(({ world }) => world.objects.length)).toEqual(stalled.map(() => 1));
});
