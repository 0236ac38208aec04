/**
 * The messages that workflows understand: names, arguments and answers. The watcher, the operator's activities
 * and people (temporal, tctl, the UI) all speak these.
 */
import { defineQuery, defineSignal } from '@temporalio/workflow';

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
export const statusQuery = defineQuery<unknown>('status');
export const planQuery = defineQuery<unknown>('plan');
