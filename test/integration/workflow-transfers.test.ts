/** Activities that move data have a task queue of their own: however slow they are, clusters are looked at and repaired. */
import { Context } from '@temporalio/activity';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

/** Activities of several resources, told apart by the workflow that asks for them. */
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

it('uploads that do not go on, more than a worker has places, keep no cluster from its repair', async () => {
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
