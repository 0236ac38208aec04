/**
 * The workflows as they are now against every recorded history, of every release from 0.2.0 on: what was under way when the operator is
 * upgraded goes on. A history that does not replay is mended by `patched()` in the workflow, never by recording again.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { Worker } from '@temporalio/worker';
import { DeterminismViolationError } from '@temporalio/workflow';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows } from '../../src/main/temporal/workflow-bundle.ts';
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
    };
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
    const without = Object.keys(workflows).filter(type => !types.has(type));
    expect(without, 'run scripts/record-histories.ts, which adds what is missing').toEqual([]);
  });

  it('replay with the workflows as they are now', async () => {
    expect(await replay(await bundleOfWorkflows(), recorded)).toEqual({});
  });

  it('do not replay with workflows that were changed, so that this test can fail', async () => {
    const bundle = (file: URL) => bundleWorkflows(fileURLToPath(file), QUIET);
    const [operation, entity] = await Promise.all([
      bundle(new URL('changed-operation.ts', import.meta.url)),
      bundle(new URL('changed-entity.ts', import.meta.url)),
    ]);
    for (const [code, changed] of [
      [operation, 'createCluster'],
      [entity, 'etcdCluster'],
    ] as const) {
      const errors = await replay(code, recorded);
      const broken = recorded.filter(({ type }) => type === changed).map(({ name }) => name);
      expect(Object.keys(errors).sort()).toEqual(broken.sort());
      for (const error of Object.values(errors)) expect(error).toBeInstanceOf(DeterminismViolationError);
    }
  });
});
