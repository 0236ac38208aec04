/** The messages that only clusters understand, and what a cluster's entity and its operation tell each other. */
import type { Request } from './resource.ts';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Actor, Assessment, Operation } from '../../activities/index.ts';

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

// What people send is whatever they send: messages/words.ts reads it.
export const approveSignal = defineSignal<[unknown]>('approve');
export const replaceMemberSignal = defineSignal<[unknown]>('replaceMember');
export const moveLeaderSignal = defineSignal<[unknown]>('moveLeader');
export const restartSignal = defineSignal<[unknown]>('restart');

export const approveUpdate = defineUpdate<string, [unknown]>('approve');
export const replaceMemberUpdate = defineUpdate<string, [unknown]>('replaceMember');
export const moveLeaderUpdate = defineUpdate<string, [unknown]>('moveLeader');
export const restartUpdate = defineUpdate<string, [unknown]>('restart');

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
