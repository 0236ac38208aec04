/** What an operation is, besides its plans. Each folder of operations/ exports one for each operation of its own. */
import type { ConditionFinding, ReasonOf } from '../../api/conditions/catalogue.ts';
import type { OperationStatus } from '../../api/schemas/types.ts';
import type { Decision } from './decision.ts';
import type { Situation } from './situation.ts';

export interface OperationRow {
  /** The reason of the condition Progressing while it is performed. */
  readonly progress: ReasonOf<'Progressing'>;
  /** Why it is performed when no person asked for it, as the history in status has it. */
  readonly why: string;
  /** Who asked for it, where its own resource says so and not a request. */
  readonly asker?: (situation: Situation) => string | undefined;
  /** What it changes from and to, where it changes one thing: versions, or numbers of members. */
  readonly change?: (situation: Situation) => { readonly from?: string | undefined; readonly to: string };
  /** Further conditions while it is performed. */
  readonly conditions?: (
    situation: Situation,
    decision: Extract<Decision, { kind: 'operate' }>,
  ) => ConditionFinding[];
  /** What it is for, where that can change on the way. `before`: as status records it. */
  readonly goal?: (situation: Situation, before: string | undefined) => string | undefined;
  /** What an abort of the one with this goal holds for, where one can be asked for again; undefined where that is not known. */
  readonly subject?: (situation: Situation, goal: string | undefined) => string | undefined;
  /** Whether it has not ended although none of its steps can be planned now. */
  readonly isUnfinished?: (situation: Situation) => boolean;
  /** Why what was begun has been undone; undefined when it was not. */
  readonly undone?: (situation: Situation, goal: string) => string | undefined;
  /**
   * Whether what it is for was just observed: asked of nothing that is remembered but what status records of it.
   * `isDone`: whether what somebody asked for is done; undefined when nobody asked.
   */
  readonly isReached: (situation: Situation, recorded: OperationStatus, isDone?: boolean) => boolean;
}
