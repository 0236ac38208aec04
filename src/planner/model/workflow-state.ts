/** What users want of a cluster. */
import type { RequestKind } from '../../api/actions.ts';

/** A person lets one step go on that is not taken without: it names what, is used once, and expires. */
export interface Approval {
  /** Distinguishes it from other approvals of the same: the uid of its EtcdRequest, or a number that the workflow gave that received it. */
  readonly id: number | string;
  readonly operation: string;
  /** What is consented to: member ids, versions, whatever the planner asks for. */
  readonly ids: readonly string[];
  readonly by: string;
  readonly reason?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Something that a person asked to have done. */
export interface UserRequest {
  /** Distinguishes it from other requests: the uid of its EtcdRequest, or a number that the workflow gave that received it. */
  readonly id: number | string;
  /** When it was accepted, or received, in milliseconds since the epoch: the earlier one goes first. Absent: before all others. */
  readonly at?: number;
  readonly kind: RequestKind;
  /** Name or id of a member; empty: all of them. */
  readonly target: string;
  readonly by: string;
  readonly reason?: string;
  /** Exactly what it is about, from when it was accepted on: ids of members, for `restart` uids of pods. */
  readonly ids?: readonly string[];
}

/** What the world does not say: what users asked of the workflow, and what it performed. */
export interface WorkflowState {
  readonly paused?: {
    readonly by?: string;
    readonly reason?: string;
    /** When the workflow received it, in milliseconds since the epoch. */
    readonly at?: number;
  };
  /** An operation that was aborted stays aborted until the specification changes or someone sends resync. */
  readonly aborted?: {
    readonly operation: string;
    readonly generation: number;
    /** What it was about, where that can be asked for again (an EtcdRestore, by uid): another one is not aborted. */
    readonly subject?: string;
    readonly by?: string;
    readonly reason?: string;
    /** As of a pause. */
    readonly at?: number;
  };
  /**
   * An operation whose step failed is shown as failed until it is tried again, at `retryAt` (ms since the epoch). `step`: the kind of
   * that step, where it is known.
   */
  readonly failed?: {
    readonly operation: string;
    readonly step?: string;
    readonly message: string;
    readonly retryAt: number;
  };
  /** Approvals that were not used yet. */
  readonly approvals?: readonly Approval[];
  /** Requests that are not done yet, in the order in which they came. */
  readonly requests?: readonly UserRequest[];
  /** Uids of EtcdRequests of which nothing holds any more: a message to the workflow has ended it, or the approval was used. */
  readonly spent?: readonly string[];
  /** The run begins anew and holds nothing: it takes over what the status mirrors, but what a message has ended since it began. */
  readonly takesOver?: { readonly pause?: boolean; readonly abort?: boolean; readonly requests?: boolean };
  /** Of the pass of an operation: the approvals that it has used up. What users ask for meanwhile, it does not know. */
  readonly used?: readonly Approval['id'][];
  /**
   * Nothing is under way, so the pass may repair by itself: what is missing, or also what was edited, unless that has to wait because it
   * was put back again and again.
   */
  readonly mayRepair?: 'missing' | 'all';
  /** The run of the workflow of the operation that is under way, or that ended last, where it is known. */
  readonly ran?: { readonly operation: string; readonly runId: string };
}

/** Who asked, and why, as messages for users have it. */
export function attribution(request: {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}): string {
  const who = request.by ?? 'somebody';
  return request.reason === undefined ? who : `${who} (${request.reason})`;
}
