/** The messages that only clusters understand. */
import { defineSignal, defineUpdate } from '@temporalio/workflow';
import type { WorkflowState, Assessment } from '../../activities/index.ts';
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

// Users can send anything: messages/text.ts reads it.
export const approveSignal = defineSignal<[unknown]>('approve');

export const approveUpdate = defineUpdate<string, [unknown]>('approve');

/** What an EtcdRequest asks for and is not done. */
type Held = NonNullable<NonNullable<Assessment['holding']>['requests']>[number];

/** What is: as the last pass saw it. */
export interface StatusAnswer {
  readonly paused?: Request;
  readonly operation?: string;
  readonly cluster?: Assessment['summary'];
  /** Approvals that were given and not used yet. */
  readonly approvals?: WorkflowState['approvals'];
  /** What users asked for and is not done yet. */
  readonly requests?: readonly (NonNullable<WorkflowState['requests']>[number] | Held)[];
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
