import { ANNOTATION_TOTAL_LOSS } from '../../api/names.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { createRestore } from './shared/create-restore.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Makes the EtcdRestore, with all proofs looked at once more, and says what is lost: everything after the backup. */
export const requestRestore: Perform<'requestRestore'> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const token = cluster.status?.incarnation?.token ?? '';
  const { namespace, name } = ref;
  const isMade = await createRestore(deps.kube, {
    namespace,
    name: step.name,
    annotations: { [ANNOTATION_TOTAL_LOSS]: token },
    spec: {
      etcdCluster: { name },
      backupRef: backupRefOf(step),
      ...(step.sha256 !== undefined && { sha256: step.sha256 }),
    },
    isOurs: ({ metadata }) => metadata.annotations?.[ANNOTATION_TOTAL_LOSS] === token,
    otherwise: 'or restore a backup yourself',
  });
  if (!isMade) return;
  const after = step.revision === undefined ? '' : ` and above revision ${step.revision}`;
  const message = `all volumes are lost: EtcdRestore ${step.name} restores the backup of ${step.time}; data written after that${after} is lost`;
  recordClusterEvent(deps, ref, { reason: 'RestoringAfterTotalLoss', message });
};

/** A step that an earlier release has planned names no location. */
function backupRefOf({ backup, time, location }: StepOf<'requestRestore'>) {
  return location === undefined ? { name: backup, at: time } : { name: backup, location };
}
