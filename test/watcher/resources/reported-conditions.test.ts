/** The conditions of resources that metrics report: those of passes, and the watcher's own. */
import { expect, test } from 'vitest';
import { Harness } from '../harness.ts';
import { refTo } from '../objects.ts';

const condition = (type: string, status: string, reason: string) => ({
  type,
  status,
  reason,
  message: 'Reported.',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

test('are those of every kind that are in a status now', async () => {
  const world = new Harness(1);
  await world.watcher.start();
  const cluster = refTo('EtcdCluster', 'example');
  const restore = refTo('EtcdRestore', 'again');
  const paused = condition('Paused', 'True', 'PausedBySpec');
  const stuck = condition('WorkflowStuck', 'True', 'WorkflowTaskFailing');
  const valid = condition('SpecValid', 'True', 'Valid');
  world.put(cluster, { status: { observedGeneration: 1, conditions: [paused, valid, stuck, 'none'] } });
  world.put(restore, {
    status: { observedGeneration: 1, conditions: [condition('Accepted', 'Unknown', 'Waiting')] },
  });
  world.put(refTo('EtcdBackup', 'well'), { status: { observedGeneration: 1 } });
  await world.clock.advance(10);
  const reported = () =>
    world.watcher
      .conditions()
      .map(({ name, conditions }) => [name, ...conditions.map(({ kind, reason }) => `${kind} ${reason}`)]);
  expect(reported()).toEqual([
    ['example', 'EtcdCluster WorkflowTaskFailing', 'EtcdCluster PausedBySpec'],
    ['again', 'EtcdRestore Waiting'],
  ]);
  world.put(cluster, { status: { observedGeneration: 1, conditions: [valid] } });
  await world.clock.advance(10);
  expect(reported()).toEqual([['again', 'EtcdRestore Waiting']]);
  await world.stop();
  expect(reported()).toEqual([]);
});
