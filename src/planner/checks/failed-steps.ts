/**
 * Steps that failed and that nothing else depends on: where the labels of a pod may not be changed, or a budget may not be made (an
 * admission webhook or a quota refuses it), members can be started and lost ones replaced all the same. What comes after such a step
 * is not held up until it is tried again.
 */
import type { Decision, StepKind } from '../model/decision.ts';
import type { Actor } from '../model/actor.ts';

type Work = Pick<Extract<Decision, { kind: 'operate' }>, 'operation' | 'step'>;

const NOTHING_DEPENDS_ON: readonly StepKind[] = [
  'labelPods',
  'labelClaim',
  'retireMember',
  'expandClaim',
  'stampResource',
];
/** Of a cluster that lives. What is created or restored waits for its Services. */
const NOTHING_IN_REPAIR_DEPENDS_ON: readonly StepKind[] = [
  ...NOTHING_DEPENDS_ON,
  'applyObjects',
  'ensureObjects',
  // Members keep the certificates that they have, for as long as these are good.
  'issueCertificates',
  'requestCertificates',
];

/** Whether this very step failed lately, and others continue without it. */
export function isSkipped(actor: Actor | undefined, { operation, step }: Work): boolean {
  const { failed } = actor ?? {};
  return failed?.operation === operation && failed.step === step.kind && isNonBlockingFailure({ failed });
}

/** Whether what failed lately is something that nothing depends on. */
export function isNonBlockingFailure({ failed }: Pick<Actor, 'failed'>): boolean {
  const kinds = failed?.operation === 'repairCluster' ? NOTHING_IN_REPAIR_DEPENDS_ON : NOTHING_DEPENDS_ON;
  return kinds.some(kind => kind === failed?.step);
}

/** Whether this step waits for its back-off: it failed itself, or a step of its operation that others depend on did. */
export function hasFailed(actor: Actor | undefined, { operation, step }: Work): boolean {
  const { failed } = actor ?? {};
  if (failed?.operation !== operation) return false;
  return failed.step === step.kind || !isNonBlockingFailure({ failed });
}
