/**
 * Workers of two releases on one task queue, as during an update: of this checkout, and of the one before it (previous-sources.ts).
 * Neither keeps a workflow in its cache, so each workflow task goes to either of them, which replays everything that both did. They go
 * through all that histories are recorded of: every operation, messages of users, cancellations, runs that continue as new.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RecordedRuns } from '../../../scripts/histories/recorded-runs.ts';
import type { Scenario } from '../../../scripts/histories/scenario.ts';
import { SCENARIOS } from '../../../scripts/histories/scenarios.ts';
import { faultOfTask } from '../../worlds/histories.ts';
import { putPreviousSources } from '../../worlds/previous-sources.ts';
import { BESIDE, QUIET, WorkflowBench } from '../../worlds/workflow-bench.ts';

interface Bundler {
  readonly bundleWorkflows: (workflowsPath: string, logger: typeof QUIET) => Promise<string>;
}

const checkout = fileURLToPath(new URL('../../../', import.meta.url));
/**
 * Scenarios that a release cannot continue with whose workflows do not contain this text; CHANGELOG.md says so. It fails their tasks, and
 * another worker does them.
 */
const NEEDS: Readonly<Record<string, string>> = {};

let bench: WorkflowBench;
/** The workflows of the previous release. */
let previous: string;
const tasks = new Map<string, number>();

beforeAll(async () => {
  // In the checkout, where its imports find their packages; git and the linters leave such a folder alone.
  const folder = await mkdtemp(join(checkout, 'dist-previous-'));
  try {
    console.log(`previous release: ${await putPreviousSources(folder)}`);
    const { bundleWorkflows } = (await import(
      join(folder, 'src/main/temporal/workflow-bundle.ts')
    )) as Bundler;
    previous = await bundleWorkflows(join(folder, 'src/workflows/index.ts'), QUIET);
    bench = await WorkflowBench.start({}, previous);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

type Failed = temporal.api.history.v1.IWorkflowTaskFailedEventAttributes;

const isBeyondPrevious = (scenario: string): boolean =>
  NEEDS[scenario] !== undefined && !previous.includes(NEEDS[scenario]);

/** Why a task must not have failed as it did; empty where it may. */
function faultOf(failed: Failed, scenario: string): string {
  const { identity } = failed;
  const message = faultOfTask(failed) ?? '';
  const isRefused = identity === BESIDE && /Nondeterminism error|no such function is exported/.test(message);
  return isBeyondPrevious(scenario) && isRefused ? '' : message;
}

/** An update that the release before does not know is refused when it comes to it, and has not happened: the scenario begins again. */
async function completed(scenario: Scenario): ReturnType<Scenario> {
  for (let left = 20; ; left -= 1)
    try {
      return await scenario(bench);
    } catch (error) {
      const reason = error instanceof WorkflowUpdateFailedError ? (error.cause?.message ?? '') : '';
      const isUnknown = reason.startsWith('No registered handler for update');
      if (left === 0 || !isUnknown || !isBeyondPrevious(scenario.name)) throw error;
    }
}

afterAll(() => bench?.stop());

test.each(SCENARIOS.map(scenario => [scenario.name, scenario] as const))('%s', async (_, scenario) => {
  const handles = await completed(scenario);
  const runs = new RecordedRuns(bench.client);
  for (const [name, handle] of Object.entries(handles))
    for (const { events } of await runs.of(handle))
      for (const {
        workflowTaskFailedEventAttributes: failed,
        workflowTaskCompletedEventAttributes: done,
      } of events ?? []) {
        if (failed) console.log(`${name}: ${failed.identity} failed a task: ${failed.failure?.message}`);
        expect({ name, fault: failed ? faultOf(failed, scenario.name) : '' }).toEqual({ name, fault: '' });
        const identity = done?.identity;
        if (identity) tasks.set(identity, (tasks.get(identity) ?? 0) + 1);
      }
});

test('either release completed many of the workflow tasks', () => {
  console.log(`workflow tasks: ${JSON.stringify(Object.fromEntries(tasks))}`);
  const all = [...tasks.values()].reduce((sum, count) => sum + count, 0);
  expect(tasks.get(BESIDE)).toBeGreaterThan(all / 10);
  expect(all - (tasks.get(BESIDE) ?? 0)).toBeGreaterThan(all / 10);
});
