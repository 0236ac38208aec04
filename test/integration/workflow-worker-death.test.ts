/** One of two operator processes dies in the middle of a step. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import {
  approvedRepair,
  CONSENT,
  CREATION,
  Script,
  scriptedActivities,
} from '../worlds/scripted-activities.ts';
import { poll } from '../stack/poll.ts';
import { until, WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
});
afterAll(() => bench.stop());

const WORKER = fileURLToPath(new URL('../worlds/hanging-worker.ts', import.meta.url));

/** Starts the worker process; `hangs` resolves when it has begun the step that it never ends. */
function spawnWorker(args: readonly string[]): { child: ChildProcess; hangs: Promise<void> } {
  const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const hangs = new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => chunk.toString().includes('hangs at') && resolve());
    child.once('exit', code => reject(new Error(`the worker ended with ${code} before it hung`)));
  });
  return { child, hangs };
}

it('when the worker is killed with -9 in the middle of a step, another process completes it', async () => {
  const entity = bench.entity();
  const { child, hangs } = spawnWorker([bench.server.address, entity.taskQueue, 'creation', '2']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await entity.changed();
  await hangs;
  // A second process that has been there all along: what the first had done is seen in the world.
  const script = new Script();
  script.plan('createCluster', CREATION.slice(2));
  await bench.serve(entity, scriptedActivities(script));
  const { runId } = await entity.operation.describe();
  child.kill('SIGKILL');
  await until(() => script.remaining.length === 0);
  expect(script.performed).toEqual(CREATION.slice(2).map(step => step.kind));
  // It is the same operation that went on, at the very step.
  expect((await entity.operation.describe()).runId).toBe(runId);
  expect((await entity.operation.result()) as object).toMatchObject({ outcome: 'ended' });
});

it('when the worker is killed with -9 between an approval and its step, another process performs the step once and waits for approval again', async () => {
  const entity = bench.entity();
  const { child, hangs } = spawnWorker([bench.server.address, entity.taskQueue, 'approvedRepair', '0']);
  onTestFinished(() => void child.kill('SIGKILL'));
  await entity.changed();
  // The process is to start first, which takes its time on a busy machine.
  await poll(async () => (await entity.plan()).approve !== undefined, { timeoutMs: 60_000 });
  await entity.update('approve', { ...CONSENT, by: 'ana' });
  await hangs;
  const script = approvedRepair();
  await bench.serve(entity, scriptedActivities(script));
  child.kill('SIGKILL');
  await until(() => script.performed.length === 1);
  // The next step asks for the very same; the approval that there was does not count for it.
  await until(async () => (await entity.status()).approvals === undefined);
  await until(async () => (await entity.plan()).approve !== undefined);
  await entity.quiet();
  expect(script.performed).toEqual(['restartMember']);
});
