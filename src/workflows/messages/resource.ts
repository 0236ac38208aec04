/**
 * The messages that the workflow of every resource understands. The watcher, the operator's workflows and people (temporal,
 * the UI) all speak these. Signals reach a workflow also while no operator runs; the updates of the same name answer,
 * and need one.
 */
import { defineSignal, defineUpdate } from '@temporalio/workflow';

/** The task queue of activities that move data, of an operator with this task queue. Only workers of activities poll it. */
export function transfersQueue(taskQueue: string): string {
  return `${taskQueue}-transfers`;
}

/** Which custom resource a workflow belongs to. The uid tells a resource from a later one of the same name. */
export interface ResourceRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Who asks and why: kept in the history, which is the audit log. */
export interface Request {
  readonly by?: string;
  readonly reason?: string;
}

/** From the watcher: something about this resource changed. Says "look", never what to do. */
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
export const abortUpdate = defineUpdate<string, [Request?]>('abort');
