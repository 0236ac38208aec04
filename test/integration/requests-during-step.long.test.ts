/** EtcdRequests while one step of an operation takes long, on a real Temporal server. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { REPLACED_OPERATIONS } from '../worlds/replaced-operations.ts';
import { begun } from '../worlds/replaced-operator.ts';
import { WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 300_000);
afterAll(() => bench.stop());

it('a pause is accepted while a step is under way and holds after it; what else is asked for waits, and says so', async () => {
  // The others have limits of seconds or minutes.
  const row = { ...REPLACED_OPERATIONS.rolloutCluster[0], step: 'compareKeys', nth: 2 };
  const { world, had, held, operator, status, seen } = await begun(bench, 'rolloutCluster', row);
  operator.request('pause', { action: 'Pause', reason: 'to look' });
  operator.request('restart', { action: 'Restart', member: `${world.ref.name}-1`, reason: 'a new key' });
  await operator.until('the pause is not accepted', () => operator.phase('pause') === 'Completed', seen);
  await operator.until('the restart is not judged', () => operator.phase('restart') === 'Pending', seen);
  expect(await operator.running()).toEqual(['etcdCluster', 'rolloutCluster']);
  expect(status()?.userRequests?.pause).toMatchObject({ by: 'bob', reason: 'to look' });
  held.end('goesOn');
  await operator.until('the pause does not hold', () => status()?.controlPaused === true, seen);
  await operator.until('the restart is not accepted', () => operator.phase('restart') === 'Accepted', seen);
  expect(row.isDone(world, had)).toBe(false);
  operator.request('resume', { action: 'Resume' });
  await operator.until('the restart does not end', () => operator.phase('restart') === 'Completed', seen);
  expect(operator.phase('resume')).toBe('Completed');
  await operator.until('the rollout does not end', () => row.isDone(world, had), seen);
});
