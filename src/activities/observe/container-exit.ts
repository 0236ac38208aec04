/** Why a container ended, in words: what its kubelet and the kernel say of it, else its own last words. Pure. */
import { containerNamed, type StateReason } from '../../objects/containers.ts';
import { terminationReason } from './termination-message.ts';

/** Of runc, when the kernel ended a container that was being created. */
const CREATED_TOO_SMALL = /OOM-killed \(memory limit too low/;

/** The memory that a container may use. */
export interface Memory {
  /** As it was written, by whomever: a LimitRange sets one where nobody did. */
  readonly limit?: string | undefined;
  /** Where users set it. */
  readonly field?: string | undefined;
}

/** What the pod's container of this name may use. */
export function memoryOf(pod: Parameters<typeof containerNamed>[0], container: string): Memory {
  return { limit: containerNamed(pod, container)?.resources?.limits?.['memory'] };
}

/**
 * Why it ended; undefined when nobody says. A container that was ended for its memory says nothing of that itself, and what it logged
 * last has no part in it.
 */
export function exitWords(
  { reason, message }: StateReason,
  { limit, field }: Memory = {},
): string | undefined {
  const raise = field === undefined ? '' : `; raise ${field}`;
  if (CREATED_TOO_SMALL.test(message ?? ''))
    return `its memory limit${limit === undefined ? '' : ` of ${limit}`} is too low to start it${raise}`;
  if (reason !== 'OOMKilled') return terminationReason(message);
  return limit === undefined
    ? 'the kernel ended it because its node ran out of memory (OOMKilled)'
    : `the kernel ended it because it used more memory than its limit of ${limit} (OOMKilled)${raise}`;
}
