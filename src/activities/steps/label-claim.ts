import { finalFailure } from '../runtime/failures.ts';
import { CLAIM } from '../runtime/kinds.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Puts labels and annotations on this very claim (by uid). What it says of its member is looked at once more right before: a note of
 * its uid, or of its cluster, is believed later.
 */
export const labelClaim: Perform<'labelClaim'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const at = { ...CLAIM, namespace: ref.namespace, name: step.claim };
  const { labels, annotations } = step;
  const patch = { metadata: { uid: step.uid, labels, annotations } };
  const { metadata } = await deps.kube.patch(at, patch, { type: 'merge' });
  const kept = [
    ...notKept('label', labels, metadata.labels),
    ...notKept('annotation', annotations, metadata.annotations),
  ];
  if (kept.length === 0) return;
  const message = `PersistentVolumeClaim ${step.claim}: ${kept.join(', ')} after the write: something reverts the change, such as an admission webhook`;
  throw finalFailure('ChangedBack', message);
};

/** What stands there otherwise than it was written; done again it would be changed back again. */
function notKept(
  what: string,
  written: Readonly<Record<string, string | null>>,
  found: Readonly<Record<string, string>> = {},
): readonly string[] {
  return Object.entries(written)
    .filter(([key, text]) => (found[key] ?? null) !== text)
    .map(
      ([key, text]) => `${what} ${key} is ${text === null ? 'still present' : `not ${text.slice(0, 64)}`}`,
    );
}
