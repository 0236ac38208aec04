/** What the catalogue says of one kind of step (../step-catalogue.ts). */
import type { Operation } from '../../../api/operations.ts';
import { HEARTBEAT_SECONDS } from '../../../api/values/heartbeat.ts';

/** How long an attempt at a step may take, all attempts together, and how long its worker may be silent. */
export interface StepTiming {
  readonly startToCloseSeconds: number;
  readonly scheduleToCloseSeconds: number;
  /** Activities heartbeat every three seconds; after this long without one their worker is taken for dead. */
  readonly heartbeatSeconds: number;
  /** What differs from the retry policy that Temporal has by default. */
  readonly retry?: {
    readonly initialSeconds?: number;
    readonly maximumSeconds: number;
    readonly attempts?: number;
  };
  /** It is done in the task queue of transfers, beside passes and steps and in none of their places. */
  readonly isTransfer?: true;
}

/** It acts, which takes seconds on a busy machine. When it keeps failing it is reported to users within a minute. */
export const ACTION_TIMING: StepTiming = {
  startToCloseSeconds: 25,
  scheduleToCloseSeconds: 50,
  heartbeatSeconds: HEARTBEAT_SECONDS,
};

/** It waits: it looks for ten seconds (runtime/poll.ts of the activities), and then the planner looks. */
export const WAIT_TIMING: StepTiming = {
  startToCloseSeconds: 20,
  scheduleToCloseSeconds: 60,
  heartbeatSeconds: HEARTBEAT_SECONDS,
};

/** It waits for its turn at a member, and then for the whole database of it. */
export const LONG_TIMING: StepTiming = {
  startToCloseSeconds: 3 * 3600,
  scheduleToCloseSeconds: 6 * 3600,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  retry: { maximumSeconds: 60, attempts: 3 },
  isTransfer: true,
};

/** It moves the data of a whole cluster, or reads all of it, for as long as that takes. */
export const TRANSFER_TIMING: StepTiming = {
  startToCloseSeconds: 6 * 3600,
  scheduleToCloseSeconds: 12 * 3600,
  heartbeatSeconds: HEARTBEAT_SECONDS,
  retry: { maximumSeconds: 60, attempts: 5 },
  isTransfer: true,
};

/** One kind of step. `Fields` name exactly what it acts on. */
export interface StepRow<Fields, PlannedAgain extends boolean = boolean> {
  readonly timing: StepTiming;
  /**
   * Whether the whole planner is asked once more right before it is done (docs/decisions/0015-a-pass-reads-live-and-a-step-checks-again.md): true of what touches a member that
   * runs, its volume, or who is a member.
   */
  readonly plannedAgain: PlannedAgain;
  /**
   * Nothing depends on it: when it fails, others go on until it is tried again. The name of an operation: only as a step of this one; what comes
   * after it in another one waits for it.
   */
  readonly isolated?: 'always' | Operation;
  /** By it a member comes, or comes back. */
  readonly bringsMembers?: true;
  /** It stops a member, or starts its container again. */
  readonly stopsMember?: true;
  /** One line for users: what it does, to what. Shown in the Temporal UI, in status and in events. */
  readonly summary: (fields: Fields) => string;
}

/** One kind of step of an EtcdBackup or an EtcdRestore: it touches no member, and may take as long as its fields say. */
export interface ResourceStepRow<Fields> {
  readonly timing: (fields: Fields) => StepTiming;
  readonly summary: (fields: Fields) => string;
}

/** A row whose fields are `Fields`. */
export function resourceRow<Fields>(entry: ResourceStepRow<Fields>): ResourceStepRow<Fields> {
  return entry;
}

/** A step of one of these rows. */
export type ResourceStep<Rows> = {
  readonly [Kind in keyof Rows]: { readonly kind: Kind } & FieldsOf<Rows[Kind]>;
}[keyof Rows];

/** What a decision records of its step besides the step itself. */
export function recordedOf<Step extends { readonly kind: string }>(
  rows: { readonly [Kind in Step['kind']]: ResourceStepRow<never> },
  step: Step,
): { readonly timing: StepTiming; readonly summary: string } {
  // The type system does not see that the row of a step's kind takes that step's fields.
  const { timing, summary } = rows[
    step.kind as Step['kind']
  ] as ResourceStepRow<never> as ResourceStepRow<Step>;
  return { timing: timing(step), summary: summary(step) };
}

/** The fields that a row names. */
export type FieldsOf<Row> = Row extends { readonly summary: (fields: infer Fields) => string }
  ? Fields
  : never;

/** A row whose fields are `Fields`; whether it is planned again is known to the compiler. */
export function row<Fields>(entry: StepRow<Fields, true>): StepRow<Fields, true>;
export function row<Fields>(entry: StepRow<Fields, false>): StepRow<Fields, false>;
export function row<Fields>(entry: StepRow<Fields>): StepRow<Fields> {
  return entry;
}

/** An object of Kubernetes: exactly this one. */
export interface NamedObject {
  readonly name: string;
  readonly uid: string;
}

/** Exactly these objects, and nothing else that is known of them. */
export function identify(objects: readonly NamedObject[]): NamedObject[] {
  return objects.map(({ name, uid }) => ({ name, uid }));
}

/** Names, for users. */
export function list(names: readonly string[]): string {
  return names.join(', ');
}

/** Names of objects, for users. */
export function namesOf(objects: readonly { readonly name: string }[]): string {
  return list(objects.map(({ name }) => name));
}
