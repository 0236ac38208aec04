/** All activities, over the ports that they reach the world through. The names are what histories record. */
import type { Step } from '../planner/model/decision.ts';
import { assess } from './cluster/assess.ts';
import { backupActivities } from './backup/index.ts';
import { beating, beatingWithPulse } from './runtime/heartbeat.ts';
import type { Dependencies } from './runtime/dependencies.ts';
import { passFailure, stepFailure } from './runtime/failures.ts';
import type { ClusterRef } from './runtime/cluster-reference.ts';
import { addLearner } from './steps/add-learner.ts';
import { admitMembers } from './steps/admit-members.ts';
import { applyObjects } from './steps/apply-objects.ts';
import { awaitQuiet } from './steps/await-quiet.ts';
import { awaitAgreement, awaitMembers, awaitQuorum, awaitVersion } from './steps/await-members.ts';
import { bootstrapMembers } from './steps/bootstrap-members.ts';
import { compareKeys } from './steps/compare-keys.ts';
import { createMember } from './steps/create-member.ts';
import { forceDeletePods } from './steps/force-delete-pods.ts';
import { deletePods, releaseClaims, removeFinalizer } from './steps/delete.ts';
import { ensureObjects } from './steps/ensure-objects.ts';
import { restoreActivities } from './restore/index.ts';
import { issueCertificates } from './steps/issue-certificates.ts';
import { expandClaim } from './steps/expand-claim.ts';
import { labelClaim } from './steps/label-claim.ts';
import { labelPods } from './steps/label-pods.ts';
import { moveLeader } from './steps/move-leader.ts';
import { promoteLearner } from './steps/promote-learner.ts';
import { recordClusterId } from './steps/record-cluster-id.ts';
import { recordIncarnation } from './steps/record-incarnation.ts';
import { removeMember, retireMember } from './steps/remove-member.ts';
import { requestCertificates } from './steps/request-certificates.ts';
import { awaitBackup, requestBackup } from './steps/request-backup.ts';
import { replaceImage } from './steps/replace-image.ts';
import { restartMember } from './steps/restart-member.ts';
import { sealMembers } from './steps/seal-members.ts';
import { stampResource } from './steps/stamp-resource.ts';
import { stopMember } from './steps/stop-member.ts';

export type { Assessment, ClusterSummary } from './cluster/assess.ts';
export type { BackupAssessment, BackupSummary } from './backup/assess.ts';
export type { RestoreAssessment } from './restore/assess.ts';
export type { RestoreActor, RestoreDecision, RestoreStep } from '../planner/restore/resource.ts';
export type { Dependencies } from './runtime/dependencies.ts';
export type { Decision, Operation, PlannedStep, Step } from '../planner/model/decision.ts';
export type { Actor } from '../planner/model/actor.ts';
export type {
  BackupActor,
  BackupDecision,
  BackupOperation,
  BackupStep,
} from '../planner/backup/observation.ts';

export type Activities = ReturnType<typeof createActivities>;

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** One activity a step kind, plus `assess`. Each looks, acts once and looks again, and can run twice. */
export function createActivities(deps: Dependencies) {
  const step = <Kind extends Step['kind'], Result>(
    perform: (deps: Dependencies, ref: ClusterRef, step: StepOf<Kind>) => Promise<Result>,
  ) => beating((ref: ClusterRef, of: StepOf<Kind>) => perform(deps, ref, of), stepFailure);
  return {
    assess: beating(
      (ref: ClusterRef, context: Parameters<typeof assess>[2]) => assess(deps, ref, context),
      passFailure,
    ),
    ...backupActivities(deps),
    ...restoreActivities(deps),
    recordIncarnation: step<'recordIncarnation', void>(recordIncarnation),
    bootstrapMembers: step<'bootstrapMembers', void>(bootstrapMembers),
    awaitQuorum: step<'awaitQuorum', string>(awaitQuorum),
    recordClusterId: step<'recordClusterId', void>(recordClusterId),
    sealMembers: step<'sealMembers', string>(sealMembers),
    issueCertificates: step<'issueCertificates', void>(issueCertificates),
    requestCertificates: step<'requestCertificates', void>(requestCertificates),
    ensureObjects: step<'ensureObjects', void>(ensureObjects),
    awaitMembers: step<'awaitMembers', string>(awaitMembers),
    awaitQuiet: step<'awaitQuiet', string>(awaitQuiet),
    replaceImage: step<'replaceImage', void>(replaceImage),
    awaitVersion: step<'awaitVersion', string>(awaitVersion),
    requestBackup: step<'requestBackup', void>(requestBackup),
    awaitBackup: step<'awaitBackup', string>(awaitBackup),
    awaitAgreement: step<'awaitAgreement', string>(awaitAgreement),
    restartMember: step<'restartMember', void>(restartMember),
    addLearner: step<'addLearner', void>(addLearner),
    createMember: step<'createMember', void>(createMember),
    promoteLearner: step<'promoteLearner', string>(promoteLearner),
    removeMember: step<'removeMember', void>(removeMember),
    retireMember: step<'retireMember', void>(retireMember),
    applyObjects: step<'applyObjects', void>(applyObjects),
    moveLeader: step<'moveLeader', void>(moveLeader),
    compareKeys: beatingWithPulse(
      (pulse, ref: ClusterRef, of: StepOf<'compareKeys'>) => compareKeys(deps, pulse, { ref, step: of }),
      stepFailure,
    ),
    stopMember: step<'stopMember', string>(stopMember),
    expandClaim: step<'expandClaim', void>(expandClaim),
    labelClaim: step<'labelClaim', void>(labelClaim),
    stampResource: step<'stampResource', void>(stampResource),
    labelPods: step<'labelPods', void>(labelPods),
    admitMembers: step<'admitMembers', void>(admitMembers),
    deletePods: step<'deletePods', string>(deletePods),
    forceDeletePods: step<'forceDeletePods', void>(forceDeletePods),
    releaseClaims: step<'releaseClaims', void>(releaseClaims),
    removeFinalizer: step<'removeFinalizer', void>(removeFinalizer),
  };
}
