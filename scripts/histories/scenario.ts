/** What a scenario is of which histories are recorded, and how it begins. */
import type { WorkflowHandle } from '@temporalio/client';
import type { Step } from '../../src/planner/model/decision.ts';
import type { Script } from '../../test/worlds/scripted-activities.ts';
import { type Entity, until, type WorkflowBench } from '../../test/worlds/workflow-bench.ts';

/** Makes one entity go through something, and answers the histories to keep, by the name of their file. */
export type Scenario = (bench: WorkflowBench) => Promise<Record<string, WorkflowHandle>>;

/** Histories name the worker: not by a process and host of this machine. */
export const RECORDER = { identity: 'recorder' };

/** A resource whose activities follow the script, from now on. */
export async function begin(bench: WorkflowBench, script: Script): Promise<Entity> {
  return bench.follow(script, RECORDER);
}

/** Waits until a step is under way, and answers what lets it end. */
export async function holding(script: Script, kind: Step['kind'], start: () => Promise<unknown>) {
  const release = script.hold(kind);
  await start();
  await until(() => script.started.includes(kind));
  return release;
}
