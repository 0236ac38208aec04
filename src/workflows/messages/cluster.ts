/** The messages that only clusters understand, and the messages between a cluster's entity and its operation. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Actor, Assessment, Operation } from '../../activities/index.ts';
import type { Outcome } from '../engine/operation.ts';
import type { Request } from '../../api/values/requests.ts';

/** Lets one step go on that waits for a person. What it waits for stands in the plan (query `plan`) and in status. */
export interface ApproveRequest {
  readonly operation: string;
  /** Exactly what is approved of, as the plan names it. */
  readonly ids: readonly string[];
  readonly by: string;
  readonly reason?: string;
  /** For how long it holds, an hour by default, a day at most. It is used once. */
  readonly expiresInSeconds?: number;
}

// People can send anything: messages/text.ts reads it.
export const approveSignal = defineSignal<[unknown]>('approve');
export const replaceMemberSignal = defineSignal<[unknown]>('replaceMember');
export const moveLeaderSignal = defineSignal<[unknown]>('moveLeader');
export const restartSignal = defineSignal<[unknown]>('restart');

export const approveUpdate = defineUpdate<string, [unknown]>('approve');
export const replaceMemberUpdate = defineUpdate<string, [unknown]>('replaceMember');
export const moveLeaderUpdate = defineUpdate<string, [unknown]>('moveLeader');
export const restartUpdate = defineUpdate<string, [unknown]>('restart');

/** What an EtcdRequest asks for and is not done. */
type Held = NonNullable<NonNullable<Assessment['holding']>['requests']>[number];

/** What is: as the last pass saw it. */
export interface StatusAnswer {
  readonly paused?: Request;
  readonly operation?: string;
  readonly cluster?: Assessment['summary'];
  /** Approvals that were given and not used yet. */
  readonly approvals?: Actor['approvals'];
  /** What people asked for and is not done yet. */
  readonly requests?: readonly (NonNullable<Actor['requests']>[number] | Held)[];
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
  readonly spent?: Actor['spent'];
}

/** Entity → operation. */
export const controlSignal = defineSignal<[Control?]>('control');

/** How an operation ended. */
export interface Ending extends Outcome {
  readonly operation: Operation;
  /** Of its workflow. Absent: of an earlier release. */
  readonly runId?: string;
}

/** Operation → entity: another pass was made, or the operation ends. */
export interface Progress {
  readonly assessment?: Assessment;
  readonly ending?: Ending;
  /** Approvals that it has used up. */
  readonly used?: readonly (number | string)[];
}

export const progressSignal = defineSignal<[Progress?]>('progress');
