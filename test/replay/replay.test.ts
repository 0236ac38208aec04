/**
 * The workflows as they are now against every recorded history of this engine generation: what was under way when the operator is upgraded
 * continues. A history of a release that does not replay is fixed by `patched()` in the workflow, or by a new generation.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '../../src/main/temporal/workflow-bundle.ts';
import { OPERATIONS } from '../../src/planner/operations/index.ts';
import * as workflows from '../../src/workflows/index.ts';
import { beQuiet, bundleOfWorkflows, QUIET } from '../worlds/workflow-bench.ts';

interface Recorded {
  readonly name: string;
  readonly type: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly history: unknown;
}

interface HistoryJson {
  readonly events: readonly {
    readonly workflowExecutionStartedEventAttributes?: {
      readonly workflowType: { readonly name: string };
      readonly workflowId: string;
      readonly originalExecutionRunId: string;
      readonly continuedExecutionRunId?: string;
    };
    readonly workflowExecutionContinuedAsNewEventAttributes?: object;
  }[];
}

const folder = fileURLToPath(new URL('../histories', import.meta.url));

const recorded: readonly Recorded[] = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.json(\.gz)?$/.test(path))
  .map(path => {
    const bytes = readFileSync(join(folder, path));
    const history = JSON.parse((path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()) as HistoryJson;
    const started = history.events[0]?.workflowExecutionStartedEventAttributes;
    if (started === undefined) throw new Error(`${path} does not begin with the start of a workflow`);
    const { workflowType, workflowId, originalExecutionRunId: runId } = started;
    return { name: path, type: workflowType.name, workflowId, runId, history };
  })
  .sort((a, b) => (a.name < b.name ? -1 : 1));

/** What the workflows of each type ask of Temporal, as histories name it. */
const PASSES = ['activityTaskScheduledEventAttributes', 'timerStartedEventAttributes'] as const;
const SIGNALS = 'signalExternalWorkflowExecutionInitiatedEventAttributes';
const STARTS = 'startChildWorkflowExecutionInitiatedEventAttributes';
const SEARCHED = 'upsertWorkflowSearchAttributesEventAttributes';
const ASKED: Readonly<Record<string, readonly string[]>> = {
  etcdCluster: [...PASSES, 'timerCanceledEventAttributes', SIGNALS, STARTS, SEARCHED],
  etcdBackup: [...PASSES, 'timerCanceledEventAttributes', SIGNALS, STARTS, SEARCHED],
  etcdRestore: [...PASSES, SIGNALS],
  operations: [...PASSES, SIGNALS],
  takeBackup: ['activityTaskScheduledEventAttributes', 'activityTaskCancelRequestedEventAttributes'],
};

/** The types of which a history has such an event, sorted. */
function continuedAsNew(is: (event: HistoryJson['events'][number]) => unknown): string[] {
  const found = recorded.filter(({ history }) => (history as HistoryJson).events.some(is));
  return [...new Set(found.map(({ type }) => type))].sort();
}

beforeAll(beQuiet);

/** The error of each history that does not replay with this code, by the name of its file. */
async function replay(code: string, histories: readonly Recorded[]): Promise<Record<string, unknown>> {
  const errors: Record<string, unknown> = {};
  for await (const result of Worker.runReplayHistories({ workflowBundle: { code } }, histories)) {
    const name = histories.find(({ runId }) => runId === result.runId)?.name ?? result.workflowId;
    if (result.error !== undefined) errors[name] = result.error;
  }
  return errors;
}

describe('recorded histories', () => {
  it('are there for every workflow type', () => {
    const types = new Set(recorded.map(({ type }) => type));
    const { default: _, ...registered } = workflows;
    const all = Object.keys({ ...registered, ...OPERATIONS });
    const without = all.filter(type => !types.has(type));
    expect(without, 'run scripts/record-histories.ts, which adds what is missing').toEqual([]);
  });

  it('have a run of every entity that continued as new, and the run after it', () => {
    const entities = Object.keys(workflows).filter(type => type.startsWith('etcd'));
    expect(continuedAsNew(({ workflowExecutionContinuedAsNewEventAttributes: ended }) => ended)).toEqual(
      entities,
    );
    const following = continuedAsNew(
      ({ workflowExecutionStartedEventAttributes: began }) => began?.continuedExecutionRunId,
    );
    expect(following).toEqual(expect.arrayContaining(['etcdBackup', 'etcdCluster']));
  });

  it('have everything that workflows ask of Temporal, so that its order cannot change unseen', () => {
    const asked = new Map(Object.entries(ASKED).map(([type, names]) => [type, new Set<string>(names)]));
    for (const { type, history } of recorded)
      for (const event of (history as HistoryJson).events)
        for (const name of Object.keys(event)) {
          asked.get(type)?.delete(name);
          if (type in OPERATIONS) asked.get('operations')?.delete(name);
        }
    expect([...asked].filter(([, left]) => left.size > 0)).toEqual([]);
  });

  it('replay with the workflows as they are now', async () => {
    expect(await replay(await bundleOfWorkflows(), recorded)).toEqual({});
  });

  it('do not replay with changed workflows', async () => {
    const changed = fileURLToPath(new URL('changed-workflows.ts', import.meta.url));
    const errors = await replay(await bundleWorkflows(changed, QUIET), recorded);
    const broken = recorded.filter(({ type }) => type === 'createCluster' || type === 'etcdCluster');
    expect(Object.keys(errors).sort()).toEqual(broken.map(({ name }) => name).sort());
    for (const error of Object.values(errors)) expect(error).toBeInstanceOf(DeterminismViolationError);
  });

  it('fail their task as a type that is neither registered nor the operation of the input', async () => {
    const created = recorded.find(({ type }) => type === 'createCluster') as Recorded;
    const history = structuredClone(created.history) as HistoryJson;
    for (const { workflowExecutionStartedEventAttributes: started } of history.events)
      if (started !== undefined) Object.assign(started.workflowType, { name: 'ofLaterRelease' });
    const errors = await replay(await bundleOfWorkflows(), [{ ...created, history }]);
    expect(String(errors[created.name])).toContain('ofLaterRelease is neither a workflow of this release');
  });
});
