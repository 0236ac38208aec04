/** Every kind of step of an EtcdRestore, one row each. Each is an activity of the same name. */
import { ACTS, type FieldsOf, MOVES_DATA, type StepTiming } from '../model/steps/row.ts';

interface RestoreStepRow<Fields> {
  readonly timing: StepTiming;
  /** One line for people. */
  readonly summary: (fields: Fields) => string;
}

const RESTORE_STEPS = {
  /** Reads the backup from end to end, and records what it is. */
  examineBackup: row<{ readonly generation: number; readonly location: string }>({
    timing: MOVES_DATA,
    summary: ({ location }) => `read ${location} from end to end`,
  }),
  /** Makes the cluster that the template describes, to be restored into. */
  createRestored: row<{ readonly cluster: string }>({
    timing: ACTS,
    summary: ({ cluster }) => `create EtcdCluster ${cluster} from spec.clusterTemplate`,
  }),
};

type Rows = typeof RESTORE_STEPS;
export type RestoreStepOf<Kind extends keyof Rows> = {
  readonly [Each in Kind]: { readonly kind: Each } & FieldsOf<Rows[Each]>;
}[Kind];

/** One thing to do. */
export type RestoreStep = RestoreStepOf<keyof Rows>;

/** What a decision records of its step besides the step itself. */
export function recordedOf(step: RestoreStep): { readonly timing: StepTiming; readonly summary: string } {
  // The type system does not see that the row of a step's kind takes that step's fields.
  const { timing, summary } = RESTORE_STEPS[
    step.kind
  ] as RestoreStepRow<never> as RestoreStepRow<RestoreStep>;
  return { timing, summary: summary(step) };
}

function row<Fields>(entry: RestoreStepRow<Fields>): RestoreStepRow<Fields> {
  return entry;
}
