/**
 * What an operation does, besides its plans: each folder of operations/ exports a row for each operation of its own, and all that others know
 * of an operation they take from these rows. What is said of it is in src/api/operations.ts.
 */
import type { ConditionFinding, ReasonOf } from '../../api/conditions/catalogue.ts';
import type { EtcdClusterStatus, OperationStatus } from '../../api/schemas/types.ts';
import type { UserRequest } from './workflow-state.ts';
import type { Decision, Work } from './decision.ts';
import type { MemberView } from './member-view.ts';
import type { Situation } from './situation.ts';

/** Fields of the status of a cluster. */
export type StatusFields = {
  readonly [Field in keyof EtcdClusterStatus]?: EtcdClusterStatus[Field] | undefined;
};

/** Exactly what a request is about, and continues with; or what became of it. */
export type Judgement =
  | readonly string[]
  | { readonly outcome: 'refused' | 'done'; readonly message: string };

/** How an operation judges the requests that it carries out. */
export interface RequestRow {
  /** Whether a new one can be taken on. `view`: the member that it names; undefined: it names none. */
  readonly begin: (situation: Situation, view: MemberView | undefined) => Judgement;
  /** How far one has come that was accepted for these ids. */
  readonly progress: (situation: Situation, request: UserRequest, ids: readonly string[]) => Judgement;
}

/** An operation that users can request: its row in src/api/operations.ts has a request. */
export interface RequestedRow extends OperationRow {
  /** How it judges what users request of it. */
  readonly request: RequestRow;
}

export interface OperationRow {
  /** Who asked for it, where its own resource says so and not a request. */
  readonly asker?: (situation: Situation) => string | undefined;
  /** What it changes from and to, where it changes one thing: versions, or numbers of members. */
  readonly change?: (
    situation: Situation,
  ) => { readonly from?: string | undefined; readonly to: string } | undefined;
  /** Why it is performed, where that is another reason than its row in src/api/operations.ts gives. */
  readonly why?: (situation: Situation) => string | undefined;
  /** Further conditions while it is performed. */
  readonly conditions?: (situation: Situation, decision: Work) => ConditionFinding[];
  /** Conditions that it shows whether or not it is performed: what it waits for, or how far it is. */
  readonly standing?: (situation: Situation, decision: Decision) => ConditionFinding[];
  /** When it becomes due by time, in milliseconds since the epoch; undefined: never. A pass is made then. */
  readonly dueAt?: (situation: Situation) => number | undefined;
  /** The fields of the status that it keeps: all of them, undefined where there is nothing to keep. */
  readonly status?: (situation: Situation, decision: Decision) => StatusFields;
  /** Why no client is served while it is performed; undefined when clients are. */
  readonly fences?: (situation: Situation) => ReasonOf<'Available'> | undefined;
  /**
   * Whose absence is as planned while it is performed: of every member, or of those that its step brings back. Absent: of nobody but whom it
   * has stopped.
   */
  readonly takesAway?: 'everyMember' | 'memberOfStep';
  /** spec.paused does not hold it. */
  readonly ignoresPause?: true;
  /** What users may do instead when a step of it has failed. */
  readonly wayBack?: (situation: Situation) => string | undefined;
  /** What it is for, where that can change on the way. `before`: as status records it. */
  readonly goal?: (situation: Situation, before: string | undefined) => string | undefined;
  /** What an abort of the one with this goal holds for, where one can be asked for again; undefined where that is not known. */
  readonly subject?: (situation: Situation, goal: string | undefined) => string | undefined;
  /** Whether it has not ended although none of its steps can be planned now. */
  readonly isUnfinished?: (situation: Situation) => boolean;
  /** Why what was begun has been undone; undefined when it was not. */
  readonly undone?: (situation: Situation, goal: string) => string | undefined;
  /** It ended well and is nothing to remember: it is done again and again, and found nothing. */
  readonly isRoutine?: (situation: Situation) => boolean;
  /**
   * Whether what it is for was just observed: asked of nothing that is remembered but what status records of it.
   * `isDone`: whether what somebody asked for is done; undefined when nobody asked.
   */
  readonly isReached: (situation: Situation, recorded: OperationStatus, isDone?: boolean) => boolean;
}
