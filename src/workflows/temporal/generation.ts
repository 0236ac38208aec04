/** The engine generation of a run, which every run has in a search attribute (api/values/engine-generation.ts). */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import { workflowInfo } from '@temporalio/workflow';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../api/values/engine-generation.ts';

const GENERATION = defineSearchAttributeKey(GENERATION_ATTRIBUTE, 'INT');

/** An operation is of the generation of the run that starts it. */
export function generationOfRun(): SearchAttributePair[] {
  const value = workflowInfo().typedSearchAttributes.get(GENERATION);
  return value === undefined ? [] : [{ key: GENERATION, value }];
}

/**
 * To be called before anything else: during an update, workers of two generations poll the same task queue.
 * @throws Error in a run of another generation: the task is tried again, by a worker of that generation, whose code replays this history
 */
export function refuseOtherGenerations(): void {
  const generation = workflowInfo().typedSearchAttributes.get(GENERATION);
  if (generation !== undefined && generation !== ENGINE_GENERATION)
    throw new Error(
      `this run is of generation ${generation} of the workflows, and this release has generation ${ENGINE_GENERATION}`,
    );
}
