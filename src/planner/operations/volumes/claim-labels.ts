/** Labels and annotations of spec.storage.volumeClaimTemplate that were changed: brought to the claims that are there. */
import { ANNOTATION_STORAGE_SIZE, isReservedKey, memberLabels } from '../../../api/names.ts';
import { askedSize, isSmaller } from '../../checks/volume-sizes.ts';
import { type Decision, operate, type Step } from '../../model/decision.ts';
import { memberNames } from '../../model/member-names.ts';
import type { ClaimFacts, Observation } from '../../model/observation.ts';

type Texts = Readonly<Record<string, string>>;

/**
 * Undefined when every member's claim has what the template says. What was taken out of the template stays on the claims:
 * nobody knows whether somebody else has come to rely on it.
 */
export function planClaimLabels(observation: Observation): Decision | undefined {
  const { config, status, name } = observation.cluster;
  const { volumeClaimTemplate: template } = config.storage;
  if (template === undefined || status.storage?.kind !== 'PersistentVolumeClaim') return undefined;
  const { metadata: wanted } = template;
  const names = memberNames(observation);
  const steps = observation.claims.flatMap((claim): Step[] => {
    if (!claim.owned || claim.deleting || !names.includes(claim.name)) return [];
    const own = Object.keys(memberLabels(name, claim.name));
    const labels = lacking(wanted?.labels, claim.labels, own);
    const annotations = {
      ...lacking(wanted?.annotations, claim.annotations, []),
      ...sizeNote(claim, askedSize(observation)),
    };
    if (Object.keys(labels).length + Object.keys(annotations).length === 0) return [];
    return [{ kind: 'labelClaim', claim: claim.name, uid: claim.uid, labels, annotations }];
  });
  return steps.length === 0 ? undefined : operate('rolloutCluster', steps);
}

/** A claim that others enlarged, and that the specification asks to be larger by now: a smaller size that is asked for later is to be seen. */
function sizeNote({ requested, requestedSize }: ClaimFacts, asked: string | undefined): Texts {
  const isTold = asked !== undefined && isSmaller(requestedSize, asked) && !isSmaller(requested, asked);
  return isTold ? { [ANNOTATION_STORAGE_SIZE]: asked } : {};
}

/** The operator's own keys are not the template's to set (objects/claim.ts). */
function lacking(wanted: Texts | undefined, found: Texts | undefined, own: readonly string[]): Texts {
  return Object.fromEntries(
    Object.entries(wanted ?? {}).filter(
      ([key, text]) => !own.includes(key) && !isReservedKey(key) && found?.[key] !== text,
    ),
  );
}
