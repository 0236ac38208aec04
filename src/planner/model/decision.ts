/**
 * What the planner answers. A decision is a value: it can be printed, stored in a workflow's history and compared.
 */
import type { ObstacleReason } from '../../api/obstacles/catalogue.ts';
import type { PlannedStep, Step } from './step-catalogue.ts';
import type { StepTiming } from './steps/row.ts';

export type { PlannedStep, Step, StepKind } from './step-catalogue.ts';
export type { SharedObject } from './steps/objects.ts';

/** What a step is not taken without: a person's approval of exactly this. */
export interface Consent {
  readonly operation: Operation;
  /** Ids of members, or whatever else tells this from every other consent. */
  readonly ids: readonly string[];
}

/** The name of an operation, which is the type of its workflow. */
export type Operation =
  | 'createCluster'
  | 'restoreCluster'
  | 'repairCluster'
  | 'scaleCluster'
  | 'replaceMember'
  | 'rolloutCluster'
  | 'moveLeader'
  | 'upgradeCluster'
  | 'hibernateCluster'
  | 'wakeCluster'
  | 'deleteCluster';

export type Decision =
  /** The resource is gone: its workflow ends. */
  | { readonly kind: 'gone' }
  /** Nothing to do. */
  | { readonly kind: 'idle'; readonly nextLookSeconds: number }
  /** There is work, and it must not or cannot be done now. `plan` is what would come. */
  | {
      readonly kind: 'blocked';
      readonly reason: ObstacleReason;
      readonly message: string;
      readonly nextLookSeconds: number;
      readonly plan: readonly PlannedStep[];
      /** It goes on when a person approves of this. */
      readonly consent?: Consent;
    }
  /** `step` is performed, then the world is looked at again; `plan` is the whole remaining plan, `step` first. */
  | {
      readonly kind: 'operate';
      readonly operation: Operation;
      readonly step: Step;
      /** Of `step`: recorded with it, so that workflows need to know of no step. */
      readonly timing: StepTiming;
      readonly plan: readonly PlannedStep[];
      /** The approval that `step` uses up. */
      readonly approval?: number;
      /** What was asked for, where that can be asked for again: an abort holds for this one. */
      readonly subject?: string;
      /** It ends what was begun and aborted: the abort does not stop it. */
      readonly undo?: true;
    };
