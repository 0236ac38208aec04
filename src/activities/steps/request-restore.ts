import { ANNOTATION_TOTAL_LOSS, API_VERSION } from '../../api/names.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Makes the EtcdRestore, with all proofs looked at once more, and says what is lost: everything after the backup. */
export const requestRestore: Perform<'requestRestore'> = async (deps, ref, step) => {
  const { cluster } = await stillPlanned(deps, ref, step);
  const token = cluster.status?.incarnation?.token ?? '';
  const { namespace, name } = ref;
  try {
    await deps.kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { namespace, name: step.name, annotations: { [ANNOTATION_TOTAL_LOSS]: token } },
      spec: {
        etcdCluster: { name },
        backupRef: backupRefOf(step),
        ...(step.sha256 !== undefined && { sha256: step.sha256 }),
      },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const there = await deps.kube.get({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      namespace,
      name: step.name,
    });
    if (there === undefined || there.metadata.annotations?.[ANNOTATION_TOTAL_LOSS] === token) return;
    throw preconditionChanged(
      `EtcdRestore ${namespace}/${step.name} exists and has a different specification: delete it, or restore a backup yourself`,
    );
  }
  const after = step.revision === undefined ? '' : ` and above revision ${step.revision}`;
  const message = `all volumes are lost: EtcdRestore ${step.name} restores the backup of ${step.time}; data written after that${after} is lost`;
  recordClusterEvent(deps, ref, { reason: 'RestoringAfterTotalLoss', message });
};

/** A step that an earlier release has planned names no location. */
function backupRefOf({ backup, time, location }: StepOf<'requestRestore'>) {
  return location === undefined ? { name: backup, at: time } : { name: backup, location };
}
