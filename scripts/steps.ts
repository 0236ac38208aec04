/** Runs named steps a few at a time and says how each one went. */
import type { Outcome } from './run.ts';

export interface Step {
  readonly name: string;
  readonly run: () => Promise<Outcome>;
}

export interface StepResult extends Outcome {
  readonly name: string;
}

/**
 * Runs all steps, also after one has failed: one run shows everything there is to repair.
 * @param steps started in this order, so put the longest first
 * @param width how many run at a time
 * @param onDone called as each one ends
 * @returns the results in the order of `steps`
 */
export async function runSteps(
  steps: readonly Step[],
  width: number,
  onDone: (result: StepResult) => void,
): Promise<StepResult[]> {
  const results = new Map<Step, StepResult>();
  const waiting = [...steps];
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const result = { name: step.name, ...(await step.run()) };
      results.set(step, result);
      onDone(result);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return steps.flatMap(step => results.get(step) ?? []);
}
