/** What performs each kind of step of an EtcdCluster. A kind of the catalogue that nothing performs does not compile. */
import type { Step, StepKind, StepOf } from '../../planner/model/step-catalogue.ts';
import { backupFailure } from '../backup/failure.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import {
  abandonRestore,
  concludeRestore,
  fenceMembers,
  revertRestore,
  switchIncarnation,
} from './switch-incarnation.ts';
import { copySurvivor, inspectSurvivor } from './copy-survivor.ts';
import { requestRecovery } from './request-recovery.ts';
import { requestRestore } from './request-restore.ts';
import { disarmAlarms, fillVolume, startSeed, unpackBackup } from './seed-member.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { stepFailure } from '../runtime/failures.ts';
import { withHeartbeat, withProgressHeartbeat } from '../runtime/heartbeat.ts';
import { addLearner } from './add-learner.ts';
import { admitMembers } from './admit-members.ts';
import { applyObjects } from './apply-objects.ts';
import { awaitAgreement, awaitMembers, awaitQuorum, awaitVersion } from './await-members.ts';
import { awaitQuiet } from './await-quiet.ts';
import { bootstrapMembers } from './bootstrap-members.ts';
import { compactHistory } from './compact-history.ts';
import { compareKeys } from './compare-keys.ts';
import { createMember } from './create-member.ts';
import { defragmentMember } from './defragment-member.ts';
import { cancelDowngrade, enableDowngrade } from './downgrade.ts';
import { deletePods, releaseClaims, removeFinalizer } from './delete.ts';
import { disarmCorrupt } from './disarm-corrupt.ts';
import { disarmNoSpace } from './disarm-no-space.ts';
import { ensureObjects } from './ensure-objects.ts';
import { expandClaim } from './expand-claim.ts';
import { forceDeletePods } from './force-delete-pods.ts';
import { issueCertificates } from './issue-certificates.ts';
import { labelClaim } from './label-claim.ts';
import { modifyVolume } from './modify-volume.ts';
import { labelPods } from './label-pods.ts';
import { leaveObjects } from './leave-objects.ts';
import { moveLeader } from './move-leader.ts';
import type { Perform } from './shared/perform.ts';
import { promoteLearner } from './promote-learner.ts';
import { recordClusterId } from './record-cluster-id.ts';
import { recordIncarnation } from './record-incarnation.ts';
import { remakeMembers } from './remake-members.ts';
import { removeMember, retireMember } from './remove-member.ts';
import { replaceImage } from './replace-image.ts';
import { awaitBackup, requestBackup } from './request-backup.ts';
import { requestCertificates } from './request-certificates.ts';
import { restartMember } from './restart-member.ts';
import { sealMembers } from './seal-members.ts';
import { stampResource } from './stamp-resource.ts';
import { stopMember } from './stop-member.ts';
import { takeUpMembers } from './take-up-members.ts';
import { withdrawMembers } from './withdraw-members.ts';

/** These report how far they are, or fail in ways of their own. */
type OtherKind = 'compareKeys' | 'fillVolume';

const PERFORMED = {
  abandonRestore,
  addLearner,
  admitMembers,
  applyObjects,
  awaitAgreement,
  awaitBackup,
  awaitMembers,
  awaitQuiet,
  awaitQuorum,
  awaitVersion,
  bootstrapMembers,
  cancelDowngrade,
  enableDowngrade,
  remakeMembers,
  concludeRestore,
  compactHistory,
  copySurvivor,
  createMember,
  defragmentMember,
  deletePods,
  disarmAlarms,
  disarmCorrupt,
  disarmNoSpace,
  ensureObjects,
  expandClaim,
  fenceMembers,
  forceDeletePods,
  inspectSurvivor,
  issueCertificates,
  labelClaim,
  modifyVolume,
  labelPods,
  leaveObjects,
  moveLeader,
  promoteLearner,
  recordClusterId,
  recordIncarnation,
  releaseClaims,
  removeFinalizer,
  removeMember,
  replaceImage,
  requestBackup,
  requestCertificates,
  requestRecovery,
  requestRestore,
  restartMember,
  retireMember,
  revertRestore,
  sealMembers,
  stampResource,
  startSeed,
  stopMember,
  takeUpMembers,
  switchIncarnation,
  unpackBackup,
  withdrawMembers,
} satisfies { readonly [Kind in Exclude<StepKind, OtherKind>]: Perform<Kind, unknown> };

type Performed = typeof PERFORMED;
type StepActivities = {
  readonly [Kind in keyof Performed]: (ref: ClusterRef, step: StepOf<Kind>) => ReturnType<Performed[Kind]>;
};

/** One activity a step kind. Each observes, acts once and observes again, and can run twice. */
export function stepActivities(deps: Dependencies) {
  const performed = Object.entries(PERFORMED as Record<string, Perform<StepKind, unknown>>).map(
    ([kind, perform]) =>
      [kind, withHeartbeat((ref: ClusterRef, step: Step) => perform(deps, ref, step), stepFailure)] as const,
  );
  return {
    ...(Object.fromEntries(performed) as unknown as StepActivities),
    compareKeys: withProgressHeartbeat(
      (heartbeatDetails, ref: ClusterRef, step: StepOf<'compareKeys'>) =>
        compareKeys(deps, heartbeatDetails, { ref, step }),
      stepFailure,
    ),
    fillVolume: withHeartbeat(
      (ref: ClusterRef, step: StepOf<'fillVolume'>) => fillVolume(deps, ref, step),
      backupFailure,
    ),
  } satisfies Record<StepKind, unknown>;
}
