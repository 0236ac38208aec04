/** What users requested of the workflow, as far as the status shows it. Pure. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { WorkflowState } from '../../planner/model/workflow-state.ts';
import { conditionOf } from '../../api/conditions/advice.ts';

/** As src/planner/plan.ts words it; a test ties the two together. */
const ABORTED = /^(?<operation>\w+) was aborted by (?<by>[^]*?); it starts again/;
/** As src/planner/report/conditions.ts words it. */
const PAUSED = /^paused by (?<by>[^]*)$/;

/** A pause and an abort that hold for the cluster as it is stored. Approvals and requests that are not done yet stand in no status. */
export function recordedRequests({ metadata, status = {} }: EtcdCluster): WorkflowState {
  const said = (type: string): string => conditionOf(status, type)?.message ?? '';
  const { operation, by = '' } = ABORTED.exec(said('Progressing'))?.groups ?? {};
  const pause = conditionOf(status, 'Paused');
  const isPaused = pause?.status === 'True' && pause.reason === 'PausedByPerson';
  return {
    ...(isPaused && { paused: { by: PAUSED.exec(pause.message)?.groups?.['by'] ?? 'somebody' } }),
    ...(operation !== undefined && { aborted: { operation, by, generation: metadata.generation ?? 0 } }),
  };
}
