/**
 * In which order the server hands out what waits for a worker (https://docs.temporal.io/develop/task-queue-priority-fairness).
 * Whatever is not said of an activity or an operation is that of the workflow that asks for it.
 */
import type { Kind } from '../names.ts';
import { factsOf } from '../operations.ts';

/** As Temporal takes it. */
interface Priority {
  readonly priorityKey: number;
  readonly fairnessKey: string;
}

/** 1 goes first, 5 last, and 3 is what nobody says anything of. */
const URGENT = 1;
const ORDINARY = 3;
const ROUTINE = 4;

const KEYS: Readonly<Record<Kind, number>> = {
  EtcdCluster: ORDINARY,
  // Somebody waits for the data.
  EtcdRestore: URGENT,
  // At two in the morning there may be thousands of them, and clusters that need repair.
  EtcdBackup: ROUTINE,
};

/** Of the workflow of a resource. */
export function priorityOf(kind: Kind, namespace: string): Priority {
  return { priorityKey: KEYS[kind], ...shareOf(namespace) };
}

/**
 * Of the operation of a cluster, by what is left of its plan: what is under way goes on before anything that may wait is looked at, unless its row
 * says that such a plan takes turns with passes.
 */
export function priorityOfOperation({
  operation,
  plan,
}: {
  readonly operation: string;
  readonly plan: readonly { readonly kind: string }[];
}): Pick<Priority, 'priorityKey'> {
  const { takesTurns = [] } = factsOf(operation) ?? {};
  const isRoutine = plan.length > 0 && plan.every(({ kind }) => takesTurns.includes(kind));
  return { priorityKey: isRoutine ? ORDINARY : URGENT };
}

/** Of one priority, namespaces take turns. Servers of which fairness is not asked take them in the order of their arrival. */
export function shareOf(namespace: string): Pick<Priority, 'fairnessKey'> {
  // Longer ones are refused: no namespace has one, but a workflow that was started by hand may.
  return { fairnessKey: String(namespace).slice(0, 64) };
}
