/**
 * The messages that workflows understand: names, arguments and answers. The watcher, the operator's workflows and
 * people (temporal, the UI) all speak these. Signals reach a workflow also while no operator runs; the updates
 * of the same name answer, and need one.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Actor, Assessment, Operation } from '../activities/index.ts';

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

/** Lets one step go on that waits for a person. What it waits for stands in the plan (query `plan`) and in status. */
export interface ApproveRequest {
  readonly operation: string;
  /** Exactly what is approved of, as the plan names it. */
  readonly ids: readonly string[];
  readonly by: string;
  readonly reason?: string;
  /** For how long it holds, an hour when nothing is said, a day at most. It is used once. */
  readonly expiresInSeconds?: number;
}

/** Asks for a member to be replaced by a new one, also a healthy one. */
export interface ReplaceMemberRequest extends Request {
  /** Its name or its id. */
  readonly member: string;
}

/** Asks for leadership to be handed over. */
export interface MoveLeaderRequest extends Request {
  /** Name or id of the member that is to lead. */
  readonly to: string;
}

/** Asks for a restart of one member, or of all of them one at a time. */
export interface RestartRequest extends Request {
  /** Its name or its id; absent: all. */
  readonly member?: string;
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
export const approveSignal = defineSignal<[ApproveRequest]>('approve');
export const replaceMemberSignal = defineSignal<[ReplaceMemberRequest]>('replaceMember');
export const moveLeaderSignal = defineSignal<[MoveLeaderRequest]>('moveLeader');
export const restartSignal = defineSignal<[RestartRequest]>('restart');

export const pauseUpdate = defineUpdate<string, [Request?]>('pause');
export const resumeUpdate = defineUpdate<string, [Request?]>('resume');
export const abortUpdate = defineUpdate<string, [Request?]>('abort');
export const approveUpdate = defineUpdate<string, [ApproveRequest]>('approve');
export const replaceMemberUpdate = defineUpdate<string, [ReplaceMemberRequest]>('replaceMember');
export const moveLeaderUpdate = defineUpdate<string, [MoveLeaderRequest]>('moveLeader');
export const restartUpdate = defineUpdate<string, [RestartRequest]>('restart');

export const statusQuery = defineQuery<StatusAnswer>('status');
export const planQuery = defineQuery<PlanAnswer>('plan');

/** What is: as the last pass saw it. */
export interface StatusAnswer {
  readonly paused?: Request;
  readonly operation?: string;
  readonly cluster?: Assessment['summary'];
  /** Approvals that were given and not used yet. */
  readonly approvals?: Actor['approvals'];
  /** What people asked for and is not done yet. */
  readonly requests?: Actor['requests'];
  /** The last message that was refused, and why: a signal has no other answer. */
  readonly refused?: string;
}

/** What comes next, and why, or why nothing does. */
export interface PlanAnswer {
  /** In one sentence. */
  readonly next: string;
  readonly operation?: string;
  readonly steps: readonly string[];
  readonly blocked?: { readonly reason: string; readonly message: string };
  /** What to send with `approve`, and who you are, to let it go on. */
  readonly approve?: Pick<ApproveRequest, 'operation' | 'ids'>;
}

/** What people asked for, passed from the entity to the operation that it runs. What nobody asked for is absent. */
export interface Control {
  readonly paused: Request | undefined;
  readonly abort: Request | undefined;
  readonly approvals?: Actor['approvals'];
  readonly requests?: Actor['requests'];
  readonly aborted?: Actor['aborted'];
  readonly failed?: Actor['failed'];
}

/** Entity → operation. */
export const controlSignal = defineSignal<[Control?]>('control');
/**
 * How an operation ended. `ended`: the last pass planned no more of it (done, blocked, or something else comes first:
 * its decision says which). `handedBack`: the history grew long, the entity starts it again.
 */
export interface Ending {
  readonly operation: Operation;
  readonly outcome: 'ended' | 'aborted' | 'failed' | 'handedBack';
  /** Why it failed. */
  readonly message?: string;
  /** The kind of the step that failed. */
  readonly step?: string;
  /** Who aborted it. */
  readonly by?: Request;
}

/** Operation → entity: another pass was made, or the operation ends. */
export interface Progress {
  readonly assessment?: Assessment;
  readonly ending?: Ending;
  /** Approvals that it has used up. */
  readonly used?: readonly number[];
}

export const progressSignal = defineSignal<[Progress?]>('progress');
