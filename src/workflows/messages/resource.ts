/**
 * The messages that the workflow of every resource understands. The watcher, the operator's workflows and users (temporal,
 * the UI) all speak these. Signals reach a workflow also while no operator runs; the updates of the same name answer,
 * and need one.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ReasonOf } from '../../api/conditions/catalogue.ts';
import type { Request } from '../../api/values/requests.ts';

/** The task queue of activities that move data, of an operator with this task queue. Only workers of activities poll it. */
export function transfersQueue(taskQueue: string): string {
  return `${taskQueue}-transfers`;
}

/** What the search attribute `EtcdAttention` says while passes of a resource fail. */
export const ATTENTION_FAILING = 'PassFails' satisfies ReasonOf<'PassFailing'>;

/** From the watcher: something about this resource changed. It never says what to do. */
export interface Changed {
  readonly generation?: number;
  readonly resourceVersion?: string;
}

export const changedSignal = defineSignal<[Changed?]>('changed');
export const pauseSignal = defineSignal<[Request?]>('pause');
export const resumeSignal = defineSignal<[Request?]>('resume');
export const resyncSignal = defineSignal<[Request?]>('resync');
export const abortSignal = defineSignal<[Request?]>('abort');

export const pauseUpdate = defineUpdate<string, [Request?]>('pause');
export const resumeUpdate = defineUpdate<string, [Request?]>('resume');
export const resyncUpdate = defineUpdate<string, [Request?]>('resync');
export const abortUpdate = defineUpdate<string, [Request?]>('abort');

export const statusQuery = defineQuery<unknown>('status');
export const planQuery = defineQuery<unknown>('plan');
