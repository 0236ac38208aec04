/** All activities, over the ports that they reach the world through. The names are what histories record. */
import { assess } from './cluster/assess.ts';
import { backupActivities } from './backup/index.ts';
import { type DuringStepContext, recordRequests } from './cluster/record-requests.ts';
import { type PassFailureReport, reportPassFailure } from './resource/pass-failure.ts';
import { reportingRetries } from './resource/retried.ts';
import { withHeartbeat } from './runtime/heartbeat.ts';
import type { Dependencies } from './runtime/dependencies.ts';
import { passFailure } from './runtime/failures.ts';
import type { ClusterRef } from './runtime/cluster-reference.ts';
import { restoreActivities } from './restore/index.ts';
import { stepActivities } from './steps/index.ts';

export type { Assessment, ClusterSummary } from './cluster/assess.ts';
export type { RecordedRequests } from './cluster/record-requests.ts';
export type { BackupAssessment } from './backup/assess.ts';
export type { RestoreAssessment } from './restore/assess.ts';
export type { RestoreWorkflowState, RestoreDecision } from '../planner/restore/plan.ts';
export type { Dependencies } from './runtime/dependencies.ts';
export type { Decision, Operation, Step } from '../planner/model/decision.ts';
export type { WorkflowState } from '../planner/model/workflow-state.ts';
export type { BackupWorkflowState, BackupDecision, BackupOperation } from '../planner/backup/observation.ts';
export type { BackupStep } from '../planner/backup/steps.ts';
export type { OpenSignals } from '../planner/requests/signals.ts';
export type { StepTiming } from '../planner/model/steps/row.ts';

export type Activities = ReturnType<typeof createActivities>;

/** One activity a step kind, one pass a resource, and what workflows write beside passes. Each observes, acts once and observes again, and can run twice. */
export function createActivities(deps: Dependencies) {
  return {
    ...reportingRetries(deps, 'EtcdCluster', {
      assess: withHeartbeat(
        (ref: ClusterRef, context: Parameters<typeof assess>[2]) => assess(deps, ref, context),
        passFailure,
      ),
      ...stepActivities(deps),
    }),
    ...reportingRetries(deps, 'EtcdBackup', backupActivities(deps)),
    ...reportingRetries(deps, 'EtcdRestore', restoreActivities(deps)),
    recordRequests: withHeartbeat(
      (ref: ClusterRef, context: DuringStepContext) => recordRequests(deps, ref, context),
      passFailure,
    ),
    reportPassFailure: withHeartbeat(
      (ref: ClusterRef, report: PassFailureReport) => reportPassFailure(deps, ref, report),
      passFailure,
    ),
  };
}
