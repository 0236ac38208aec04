import { API_VERSION } from '../../api/names.ts';
import type { EtcdRestore } from '../../api/schemas/types.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { Perform } from './shared/perform.ts';

/** Makes the EtcdRestore that was approved, with all facts looked at once more, and says what may be lost. */
export const requestRecovery: Perform<'requestRecovery'> = async (deps, ref, step) => {
  await stillPlanned(deps, ref, step);
  const { namespace, name } = ref;
  const survivor = {
    member: step.survivor.name,
    memberID: step.survivor.id,
    claimUID: step.survivor.claimUid,
    revision: step.revision,
    givenUp: step.givenUp.map(({ id }) => id),
  };
  try {
    await deps.kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      metadata: { namespace, name: step.name },
      // Who approved stands in the history of the cluster: spec.by is who creates it (deploy/users/restore-policy.yaml).
      spec: { etcdCluster: { name }, survivor, confirmClusterID: step.clusterId },
    });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const there = await deps.kube.get({
      apiVersion: API_VERSION,
      kind: 'EtcdRestore',
      namespace,
      name: step.name,
    });
    const { spec } = (there ?? {}) as Partial<EtcdRestore>;
    if (there === undefined || spec?.survivor?.claimUID === survivor.claimUID) return;
    throw preconditionChanged(
      `EtcdRestore ${namespace}/${step.name} exists and has a different specification: delete it, and approve the recovery again`,
    );
  }
  const message = `EtcdRestore ${step.name} recovers the quorum: ${step.window}; approved by ${step.by}`;
  recordClusterEvent(deps, ref, { reason: 'RecoveringQuorum', message });
};
