/**
 * In which order the server hands out what waits for a worker (https://docs.temporal.io/develop/task-queue-priority-fairness).
 * Whatever is not said of an activity or an operation is that of the workflow that asks for it.
 */
import type { Kind } from '../names.ts';

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

/** The steps that make Services and the PodDisruptionBudget what they are to be. No member is touched by them. */
const OF_SHARED_OBJECTS: readonly string[] = ['applyObjects', 'ensureObjects'];

/**
 * Of the operation of a cluster, by what is left of its plan: what is under way goes on before anything that may wait is looked at. A repair of
 * nothing but shared objects takes turns with passes, since somebody may undo it again and again, on as many clusters as there are.
 */
export function priorityOfOperation({
  operation,
  plan,
}: {
  readonly operation: string;
  readonly plan: readonly { readonly kind: string }[];
}): Pick<Priority, 'priorityKey'> {
  const isShared = plan.length > 0 && plan.every(({ kind }) => OF_SHARED_OBJECTS.includes(kind));
  return { priorityKey: operation === 'repairCluster' && isShared ? ORDINARY : URGENT };
}

/** Of one priority, namespaces take turns. Servers of which fairness is not asked take them in the order of their arrival. */
export function shareOf(namespace: string): Pick<Priority, 'fairnessKey'> {
  // Longer ones are refused: no namespace has one, but a workflow that was started by hand may.
  return { fairnessKey: String(namespace).slice(0, 64) };
}
